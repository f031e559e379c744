package export

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

func text(t *testing.T, r metrics.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// testdata/sample.txt is vLLM's own output and never generated.
func TestTextIsVLLMs(t *testing.T) {
	want, err := os.ReadFile("testdata/sample.txt")
	if err != nil {
		t.Fatal(err)
	}
	run, qs := sampleRun()
	for _, detailed := range []bool{true, false} {
		run.Plan.Detailed = detailed
		if diff := cmp.Diff(string(want), text(t, summarize(t, run, qs))); diff != "" {
			t.Errorf("detailed=%v (-want +got):\n%s", detailed, diff)
		}
	}
}

func TestTextLinesThatDependOnThePlan(t *testing.T) {
	absent := map[string]func(*metrics.Plan){
		"Maximum request concurrency:":     func(p *metrics.Plan) { p.MaxConcurrency = 0 },
		"Client-side Queueing":             func(p *metrics.Plan) { p.MaxConcurrency = 0 },
		"Request rate configured (RPS):":   func(p *metrics.Plan) { p.Rate = metrics.Rate(inf) },
		"Queue-inclusive End-to-end":       func(p *metrics.Plan) { p.Rate = metrics.Rate(inf) },
		"Request goodput (req/s):":         func(p *metrics.Plan) { p.Goodput = nil },
		"Time to First Token":              func(p *metrics.Plan) { p.Metrics = []string{"e2el"} },
		"P99.9 E2EL (ms):":                 func(p *metrics.Plan) { p.Percentiles = nil },
		"Error 0: Bad Request\nError 1: x": func(p *metrics.Plan) {},
	}
	for line, change := range absent {
		run, qs := sampleRun()
		change(&run.Plan)
		if got := text(t, summarize(t, run, qs)); strings.Contains(got, line) {
			t.Errorf("%q is there:\n%s", line, got)
		}
	}
}

func TestTextWithoutAnyTokenCount(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Tokenizer = ""
	if got := text(t, summarize(t, run, qs)); !strings.Contains(got, "Mean TTFT") {
		t.Errorf("no tokenizer, but the server counted: TTFT is missing:\n%s", got)
	}
	for i := range qs {
		qs[i].OutputSource = metrics.TokensUnknown
	}
	got := text(t, summarize(t, run, qs))
	for _, line := range []string{"TTFT", "TPOT", "ITL", "tok/s", "generated tokens"} {
		if strings.Contains(got, line) {
			t.Errorf("nobody counted tokens, but %q is there:\n%s", line, got)
		}
	}
	if !strings.Contains(got, "Mean E2EL (ms):                          546.67    \n") {
		t.Errorf("E2EL is missing:\n%s", got)
	}
}

func TestTextListsTenErrors(t *testing.T) {
	run, qs := sampleRun()
	for i := range 14 {
		words := "Bad Request"
		if i%2 == 0 {
			words = "two\nlines \x1b[31mred"
		}
		qs = append(qs, refused(4+i, 1, 0, 0, words))
	}
	got := text(t, summarize(t, run, qs))
	if n := strings.Count(got, "\nError "); n != 10 {
		t.Errorf("%d errors listed, want 10:\n%s", n, got)
	}
	if !strings.Contains(got, "Error 0: Bad Request\nError 1: two lines red\nError 2: Bad Request\n") {
		t.Errorf("order or cleaning:\n%s", got)
	}
	run.Plan.Detailed = false
	got = text(t, summarize(t, run, qs))
	if n := strings.Count(got, "\nError "); n != 2 {
		t.Errorf("without details: %d errors listed, want each of the 2 different ones once:\n%s", n, got)
	}
	for i := range qs[3:] {
		qs[3+i].Error = ""
	}
	got = text(t, summarize(t, run, qs))
	if n := strings.Count(got, ": http_status\n"); n != 10 {
		t.Errorf("without words: %d errors listed by kind, want 10:\n%s", n, got)
	}
}

func TestTextOfAnEmptyRun(t *testing.T) {
	got := text(t, summarize(t, metrics.Run{Plan: metrics.Plan{Metrics: []string{"ttft", "e2el"}, Tokenizer: "t"}}, nil))
	if !strings.Contains(got, "Mean TTFT (ms):                          0.00      \n") || strings.Contains(got, "NaN") {
		t.Errorf("got:\n%s", got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left on device")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsAreTold(t *testing.T) {
	run, qs := sampleRun()
	run.Reason = "SIGTERM"
	r := summarize(t, run, qs)
	for name, err := range map[string]error{
		"Text": Text(brokenWriter{}, r), "JSON": JSON(brokenWriter{}, r), "Remarks": Remarks(brokenWriter{}, r),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}
