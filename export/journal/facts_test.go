package journal

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// Events of a running run are those up to the call, each time they are ranged over: a report ranges over them several
// times.
func TestEventsStandStill(t *testing.T) {
	blind := assert.Must(os.OpenFile(filepath.Join(t.TempDir(), "run.jsonl"), os.O_CREATE|os.O_WRONLY, 0o600))(t)
	defer blind.Close()
	for name, w := range map[string]io.Writer{"in a file": journalFile(t), "in memory": nil,
		"in a file that refuses": full{}, "in a pipe": io.Discard, "in a file that cannot be read": blind} {
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
			assert.Equal(t, n, 2, "%s, time %d: requests", name, i)
			for range 40 { // overwrites the second request
				j.tell(0, metrics.LogEntry{Level: metrics.Info, Text: "go on"})
			}
			j.Done(&qs[2])
			_ = j.Flush()
		}
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A journal of version 1 gives the same facts as a current one, as far as it has them.
func TestOlderJournal(t *testing.T) {
	path := tempJournal(t, []byte(`{"benchtop_journal":1,"plan":{"seed":7}}
{"server":{"at_ns":2000000000}}
{"event":{"at_us":3000000,"level":"info","text":"x","mark":"5 users","set":{"users":5,"by":"hand"}}}
{"event":{"at_us":4000000,"text":"paused","set":{"users":5,"paused":true,"by":"hand"}}}
{"gpus":{"at_ns":2500000000,"each":[]}}
{"end":{"ended_us":9000000,"reason":"r","unsent":3,"server_kind":"vLLM","server_absent":"gone","gpus_absent":"none"}}
`))
	var got []event.Event
	for e, err := range Read(path) {
		assert.Fine(t, err)
		switch e.Value.(type) {
		case metrics.Steering, metrics.Source, metrics.End:
			got = append(got, e)
		}
	}
	fact := func(at int, value any) event.Event {
		return event.Event{At: time.Duration(at) * time.Millisecond, Kind: event.Fact, Value: value}
	}
	users := metrics.LoadSetting{Load: metrics.Users.Of(5), By: metrics.ByUser}
	paused := users
	paused.Paused = true
	want := []event.Event{
		fact(3000, metrics.Steering{LoadSetting: users, Changes: 1}),
		fact(4000, metrics.Steering{LoadSetting: paused, Changes: 2}),
		fact(0, metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM"}),
		fact(2000, metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM", Absent: "gone"}),
		fact(2500, metrics.Source{Name: metrics.Accelerators, Absent: "none"}),
		fact(9000, metrics.End{Ended: 9 * time.Second, Reason: "r", Unsent: 3}),
	}
	assert.Same(t, "facts", got, want)
}
