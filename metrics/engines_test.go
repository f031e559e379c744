package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// engineSecond is the i-th sample of n engines.
func engineSecond(i, n int) ServerSecond {
	s := ServerSecond{At: time.Duration(i+1) * time.Second, Took: time.Second}
	for k := range n {
		s.Engines = append(s.Engines, Engine{Name: fmt.Sprint(k), Running: float64(k + i%2), Waiting: Unsaid(),
			KVUsage: 0.25, OutputTokens: float64(10 * k),
			TTFT: ServerLatency{N: float64(k), Mean: time.Duration(k+1) * time.Second}})
	}
	return s
}

// The engines of hours are few in memory, those of each of the last samples are there, and sums stay as they were.
func TestEnginesOfHours(t *testing.T) {
	const length, engines = 4 * 3600, 3
	var live Telemetry
	var early []ServerSecond
	for i := range length {
		live.Take(engineSecond(i, engines))
		if i == enginesKept {
			early = live.Server
		}
	}
	kept := 0
	for i, s := range live.Server {
		kept += len(s.Engines)
		if s.Engines == nil && i >= length-enginesKept {
			t.Fatalf("sample %d has no engines", i)
		}
	}
	if most := engines * (2*enginesKept + length/perMinute); kept > most {
		t.Errorf("%d samples of engines are kept, want at most %d", kept, most)
	}
	if early[0].Engines == nil {
		t.Error("the samples of a snapshot changed")
	}
	want := Engine{Name: "2", Took: length * time.Second, Running: 2.5, KVUsage: 0.25, OutputTokens: 20 * length,
		TTFT: ServerLatency{N: 2 * length, Mean: 3 * time.Second}}
	got := EnginesOver(live.Server, 0)[2]
	if Said(got.Waiting) {
		t.Errorf("%v waiting, want unknown", got.Waiting)
	}
	got.Waiting = 0
	assert.Same(t, "the third engine", got, want)

	// a viewer that gets its samples in pieces keeps as few
	var viewer Telemetry
	for i := range 3 * enginesKept {
		viewer.Server = append(viewer.Server, engineSecond(i, 1))
		viewer.JoinEngines(i)
	}
	for i, s := range viewer.Server {
		if there := i >= 2*enginesKept || i%perMinute == perMinute-1; there != (s.Engines != nil) {
			t.Fatalf("sample %d has engines: %v", i, s.Engines != nil)
		}
	}
}

// Engines that are too many count together, and samples up to a moment do not count.
func TestEnginesOver(t *testing.T) {
	all := []ServerSecond{engineSecond(0, 1), engineSecond(1, MostEngines+9)}
	got := EnginesOver(all, time.Second)
	if last := got[len(got)-1]; len(got) != MostEngines || last.Server != OtherServers || last.Name != OtherEngines ||
		got[0].Took != time.Second {
		t.Errorf("%d engines, the first %+v, the last %+v", len(got), got[0], last)
	}
}

// An engine has the name of its page or server, and its own where there are several at that, or one server.
func TestEngineName(t *testing.T) {
	pages := Plan{Servers: []string{"http://a", "http://b"},
		Pages: []Page{{Name: "prefill 1", Role: "prefill"}, {Name: "decode", Role: "decode"}}}
	two, one := Plan{Servers: []string{"http://a", "http://b"}}, Plan{}
	all := []Engine{{Name: "0"}, {Server: 1, Name: "0"}, {Server: 1, Name: "1"},
		{Server: OtherServers, Name: OtherEngines}}
	for want, p := range map[string]*Plan{
		"prefill 1, decode 0, decode 1, others": &pages, "http://a, http://b 0, http://b 1, others": &two,
		"0, 0, 1, others": &one,
	} {
		names := Each(all, func(e Engine) string { return p.EngineName(&e, all) })
		assert.Same(t, "names", strings.Join(names, ", "), want)
		if several := p == &pages; p.SeveralRoles() != several || (p.PageOf(&all[1]).Role == "decode") != several {
			t.Errorf("%s: several roles %t, that of the second %q", want, p.SeveralRoles(), p.PageOf(&all[1]).Role)
		}
	}
}
