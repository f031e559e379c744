package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
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
	const refused, again = "the journal cannot be written; the run continues in memory: no space left on device",
		"the journal is written again; nothing is missing"
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
				r := journalOn(t, disk)
				time.AfterFunc(2200*time.Millisecond, func() { disk.full.Store(true); r.Log(metrics.Info, "x") })
				time.AfterFunc(c.room, func() { disk.full.Store(false) })
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				r.watchJournal(ctx)
				var said []string
				for _, e := range gathered(t, r).Events {
					if e.Text == "x" {
						continue
					}
					said = append(said, e.At.Round(time.Second).String()+" "+e.Text)
				}
				assert.EqualAll(t, said, c.want, "said")
				if said := r.config.Terminal.(*noTerminal).said; len(said) != len(c.want) ||
					!strings.HasPrefix(said[0], "the journal") {
					t.Errorf("standard error has %q", said)
				}
				if shown := r.view.Snapshot().SaveError; (shown == "") != (len(c.want) == 2) {
					t.Errorf("the screen says %q", shown)
				}
				disk.full.Store(false)
				assert.Fine(t, r.journal.Close())
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
	r := journalOn(t, disk)
	r.config.Files = nil
	disk.Reset()
	if o := r.keep(); o.Err == nil || o.Report.Plan.ModelID != r.config.Plan.ModelID {
		t.Errorf("error %v, plan of model %q", o.Err, o.Report.Plan.ModelID)
	}
}

// journalOn is a run whose journal goes to a disk.
func journalOn(t *testing.T, disk io.Writer) *Run {
	t.Helper()
	c := bare()
	c.Plan = metrics.Plan{ModelID: "m", Started: time.Now()}
	r := &Run{config: *c, start: c.Plan.Started, fold: report.NewFold(&c.Plan)}
	var err error
	if r.journal, err = journal.NewWriter(disk, c.Plan); err != nil {
		t.Fatal(err)
	}
	r.view = live.NewView(r.start, &r.config.Plan)
	r.stream = event.NewStream(r.start, r.view, r.journal)
	r.config.Files = &files.Saving{Path: "r.json"}
	r.stream.Tell(metrics.Saving{Path: "r.json"})
	return r
}
