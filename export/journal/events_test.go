package journal

import (
	"io"
	"testing"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// Events of a run that is on are those told before they were asked for, each time they are ranged over: a report ranges over them
// several times.
func TestEventsStandStill(t *testing.T) {
	for name, w := range map[string]io.Writer{"in a file": journalFile(t), "in memory": nil, "in a file that refuses": full{}, "in a file that cannot be read": io.Discard} {
		run, qs := eventtest.Sample()
		j := newJournal(t, w, run.Plan)
		j.Done(&qs[0])
		_ = j.Flush()
		j.Done(&qs[1])
		all := j.Events()
		for i := range 3 {
			n := 0
			for q, err := range event.Requests(all) {
				if err != nil || q.Index != qs[n].Index || q.ID != qs[n].ID {
					t.Fatalf("%s: %v, request %d", name, err, q.Index)
				}
				n++
			}
			if n != 2 {
				t.Errorf("%s, time %d: %d requests, want 2", name, i, n)
			}
			for range 40 { // other bytes where those of the second request were
				j.tell(0, metrics.LogEntry{Level: metrics.Info, Text: "go on"})
			}
			j.Done(&qs[2])
			_ = j.Flush()
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
