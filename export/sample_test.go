package export

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

var update = flag.Bool("update", false, "write the golden files of benchtop's own formats anew")

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// sampleRun is the worked example of vLLM's report.
var sampleRun, sampleRequest, refused = eventtest.Sample, eventtest.Request, eventtest.Refused

func summarize(t *testing.T, run metrics.Run, qs []metrics.Request) metrics.Report {
	t.Helper()
	r, err := report.Summarize(eventtest.Each(qs), run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written is what a form of the report writes.
func written(t *testing.T, form func(io.Writer, metrics.Report) error, r metrics.Report) string {
	t.Helper()
	var b strings.Builder
	if err := form(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file under testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
