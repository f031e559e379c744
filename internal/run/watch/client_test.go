package watch

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/live"
)

// A verdict that goes to and fro is told when it turns bad, and when it has been fine for a while.
func TestVerdictInTheLog(t *testing.T) {
	for _, c := range []struct{ seconds, told string }{
		{"..........", ""},
		{"..#.", "#"},
		{"#.#.#.#.", "#"},
		{"#..........", "#."},
		{"#.........#.........", "#"},
		{"#..........#", "#.#"},
	} {
		var v hysteresis
		told := ""
		for _, second := range c.seconds {
			if v.turns(second == '#') {
				told += map[bool]string{true: "#", false: "."}[v.on]
			}
		}
		if told != c.told {
			t.Errorf("%s: told %q, want %q", c.seconds, told, c.told)
		}
	}
}

// pool is one of connections to nowhere.
func pool(t *testing.T) conn.Pools {
	t.Helper()
	tgt, err := target.New(
		target.Options{BaseURL: "http://nowhere", Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			t.Cleanup(func() { _ = far.Close() })
			return near, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	p := conn.NewPools([]*target.Target{tgt}, metrics.UserStamps)
	t.Cleanup(p.Close)
	return p
}

func dial(t *testing.T, p conn.Pools) {
	t.Helper()
	if _, err := p[0].Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The client is sampled once a second and when the run ends. Connections from before the run are open in it, and not
// dialled in it.
func TestClientSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, connections := newWatched(), pool(t)
		dial(t, connections)
		client := NewClient(w.start, 0, connections, w.view)
		for _, at := range []time.Duration{500, 600, 2200} {
			time.AfterFunc(at*time.Millisecond, func() { dial(t, connections) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		client.Watch(ctx, w.stream.Tell)
		var got []string
		for _, s := range w.run(t).Client {
			got = append(got,
				fmt.Sprintf("%s of %s: %d dialled, %d open, step %t", s.At, s.Took, s.Dialled, s.Sockets, s.ClockStep))
		}
		want := []string{"1s of 1s: 2 dialled, 3 open, step false", "2s of 1s: 0 dialled, 3 open, step false",
			"2.5s of 500ms: 1 dialled, 4 open, step false"}
		if !slices.Equal(got, want) {
			t.Errorf("samples %q, want %q", got, want)
		}
		if words := told(w.run(t)); len(words) > 0 {
			t.Errorf("told %q", words)
		}
	})
}

// A client that stands still says so, and that it limits what is measured until that has been little for a while.
func TestClientStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched()
		client := NewClient(w.start, 0, pool(t), w.view)
		still, well := telemetry.WatchProcess(), telemetry.WatchProcess()
		still.Close() // without its beats the process seems to stand still
		defer well.Close()
		time.Sleep(99 * time.Millisecond) // the beat is due after 20 ms
		client.sample(still, w.stream.Tell)
		time.Sleep(100 * time.Millisecond)
		client.sample(still, w.stream.Tell)
		well.Sample(0) // forgets the time until here
		for range 30 {
			time.Sleep(time.Second)
			client.sample(well, w.stream.Tell)
		}
		var got []string
		for _, e := range w.run(t).Events {
			got = append(got, fmt.Sprintf("%s %s %s [%s]", e.At, e.Level, e.Text, e.Mark))
		}
		want := []string{
			"199ms warn client stalled 100ms; timings in this window may be late [stall]",
			"199ms warn client overloaded: ",
			"19.199s info client recovered []",
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A clock that was set is told in the second in which that was seen.
func TestClientClockStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched()
		client := NewClient(w.start, 0, pool(t), w.view)
		process := telemetry.WatchProcess()
		defer process.Close()
		client.before.ClockSteps-- // one more has been seen since
		for range 2 {
			client.sample(process, w.stream.Tell)
		}
		run := w.run(t)
		if words := told(run); len(words) != 1 || !strings.HasPrefix(words[0], "system clock set; ") {
			t.Errorf("told %q", words)
		}
		if !run.Client[0].ClockStep || run.Client[1].ClockStep {
			t.Errorf("samples %+v", run.Client)
		}
	})
}

// A verdict that goes to and fro all the time is told twenty times.
func TestClientToldOftenEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, limited := newWatched(), newWatched()
		client := NewClient(w.start, 0, pool(t), w.view)
		limited.stream.Tell(metrics.ClientSecond{Took: time.Second, Stall: time.Second})
		for i := range 2 * mostTold {
			client.view = []*live.View{limited.view, w.view}[i%2]
			client.limited.fine = offAfter // the seconds in between are left out
			client.judge(w.stream.Tell)
		}
		words := told(w.run(t))
		if len(words) != 20 || words[0] != "client overloaded: "+limited.view.Verdict().Why[0] ||
			words[1] != "client recovered" {
			t.Errorf("told %q", words)
		}
	})
}
