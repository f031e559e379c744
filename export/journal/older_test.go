package journal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// A journal of version 1 tells the same facts as one of today, as far as it has them.
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
		if err != nil {
			t.Fatal(err)
		}
		switch e.Value.(type) {
		case metrics.Steering, metrics.Source, metrics.End:
			got = append(got, e)
		}
	}
	fact := func(at int, value any) event.Event {
		return event.Event{At: time.Duration(at) * time.Millisecond, Kind: event.Fact, Value: value}
	}
	users := metrics.LoadSetting{Users: 5, By: metrics.ByHand}
	paused := users
	paused.Paused = true
	want := []event.Event{
		fact(3000, metrics.Steering{LoadSetting: users, InUsers: true, Changes: 1}),
		fact(4000, metrics.Steering{LoadSetting: paused, InUsers: true, Changes: 2}),
		fact(0, metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM"}),
		fact(2000, metrics.Source{Name: metrics.ServerCounters, Kind: "vLLM", Absent: "gone"}),
		fact(2500, metrics.Source{Name: metrics.Accelerators, Absent: "none"}),
		fact(9000, metrics.End{Ended: 9 * time.Second, Reason: "r", Unsent: 3}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
