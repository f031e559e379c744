package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/files"
	"benchtop/metrics"
)

// fickleDisk takes nothing while it is full.
type fickleDisk struct {
	bytes.Buffer
	full atomic.Bool
}

func (d *fickleDisk) Write(b []byte) (int, error) {
	if d.full.Load() {
		return 0, errors.New("no space left on device")
	}
	return d.Buffer.Write(b)
}

// A disk that is full, and one that has room again, are told within two seconds, at the end of the run at once.
func TestWatchJournal(t *testing.T) {
	const refused, again = "the journal cannot be written, the run goes on in memory: no space left on device",
		"the journal is written again, and nothing is missing in it"
	for _, c := range []struct {
		name string
		room time.Duration // when there is room again
		want []string
	}{
		{"room again", 10_200 * time.Millisecond, []string{"3s " + refused, "11s " + again}},
		{"room again at the end", 19_900 * time.Millisecond, []string{"3s " + refused, "20s " + again}},
		{"full to the end", time.Hour, []string{"3s " + refused}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := &fickleDisk{}
				var stderr strings.Builder
				s := &session{plan: plan(), files: &files.Saving{Path: "r.json"}, env: &environment{stderr: &stderr}}
				if err := s.openStream(time.Now(), disk); err != nil {
					t.Fatal(err)
				}
				s.stream.Tell(metrics.Saving{Path: "r.json"})
				time.AfterFunc(2200*time.Millisecond, func() { disk.full.Store(true); s.log(metrics.Info, "x") })
				time.AfterFunc(c.room, func() { disk.full.Store(false) })
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				s.watchJournal(ctx)
				var said []string
				for _, e := range gathered(t, s).Events {
					if e.Text == "x" {
						continue
					}
					said = append(said, e.At.Round(time.Second).String()+" "+e.Text)
				}
				if !slices.Equal(said, c.want) {
					t.Errorf("said %q, want %q", said, c.want)
				}
				if n := strings.Count(stderr.String(), "benchtop: the journal"); n != len(c.want) {
					t.Errorf("standard error has %q", stderr.String())
				}
				if shown := s.view.Snapshot().SaveError; (shown == "") != (len(c.want) == 2) {
					t.Errorf("the screen says %q", shown)
				}
				disk.full.Store(false)
				if err := s.journal.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// readDisk is a disk that can be read back.
type readDisk struct{ fickleDisk }

func (d *readDisk) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(d.Bytes()).ReadAt(b, at)
}

// The result of a run whose journal was cut by another program says what the run set out to do, and the run has failed.
func TestJournalThatIsGone(t *testing.T) {
	disk := &readDisk{}
	s := &session{plan: plan(), env: &environment{stdout: io.Discard, stderr: io.Discard}}
	s.plan.Started = time.Now()
	if err := s.openStream(s.plan.Started, disk); err != nil {
		t.Fatal(err)
	}
	disk.Reset()
	if o := s.keep(); o.err == nil || o.report.Plan.ModelID != s.plan.ModelID {
		t.Errorf("error %v, plan of model %q", o.err, o.report.Plan.ModelID)
	}
}

func plan() metrics.Plan { return metrics.Plan{Backend: "openai", ModelID: "m"} }
