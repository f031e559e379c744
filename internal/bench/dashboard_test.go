package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestRedrawFigures(t *testing.T) {
	const text = `goos: linux
BenchmarkFullRedraw/80x24/Load-2         	     100	   1500000 ns/op	   90000 B/op	     700 allocs/op
BenchmarkFullRedraw/120x40/Load          	     100	   3500000 ns/op	  120000 B/op	     900 allocs/op
BenchmarkFullRedraw/120x40/Latency-2     	     100	   9000000 ns/op	  120000 B/op	     900 allocs/op
PASS
`
	got, err := redrawFigures([]byte(text), "Load")
	want := map[string]float64{"80x24 ms": 1.5, "80x24 MB": 0.09, "120x40 ms": 3.5, "120x40 MB": 0.12}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v: got %v, want %v", err, got, want)
	}
	for k, v := range want {
		if math.Abs(got[k]-v) > 1e-9 {
			t.Errorf("%s: got %v, want %v", k, got[k], v)
		}
	}
	if _, err := redrawFigures([]byte("PASS\n"), "Load"); err == nil || !strings.Contains(err.Error(), "Load") {
		t.Errorf("without a benchmark: %v", err)
	}
	if _, err := redrawFigures([]byte("BenchmarkFullRedraw/80x24/Load 1 x ns/op\n"), "Load"); err == nil {
		t.Error("a figure that is none was taken")
	}
}

// The journal of a run of four requests and two changes of the load, one of them by a search; its last line is not whole yet.
const shortJournal = `{"benchtop_journal":1,"plan":{"started":"2026-11-21T22:00:00.5Z"}}
{"event":{"at_us":250000,"level":"info","text":"load set by hand","set":{"rate":11,"by":"hand"}}}
{"event":{"at_us":300000,"level":"info","text":"a stage"}}
{"event":{"at_us":350000,"level":"info","text":"tried","set":{"rate":12,"by":"search"}}}
{"index":0,"scheduled_us":1000,"due_us":1100,"admitted_us":1200,"sent_us":2000,"connect_us":600,"done_us":9000}
{"index":1,"scheduled_us":5000,"due_us":5100,"admitted_us":7100,"sent_us":7200,"done_us":12000,"failure":"status"}
{"index":2,"scheduled_us":6000}
{"client":{"at_ns":1}}
{"index":3,"sched`

func TestReadJournal(t *testing.T) {
	j, err := readJournal(strings.NewReader(shortJournal))
	if err != nil {
		t.Fatal(err)
	}
	if len(j.requests) != 2 || j.failed != 1 {
		t.Errorf("%d requests were sent, %d failed; want 2 and 1", len(j.requests), j.failed)
	}
	// The first was 1 ms late, 0.6 of it for its connection and 0.1 held; the second 2.2 ms, 2 of it held.
	late := j.late(0)
	if len(late) != 2 || late[0] != 300*time.Microsecond || late[1] != 200*time.Microsecond {
		t.Errorf("late %v", late)
	}
	if late := j.late(2 * time.Millisecond); len(late) != 1 {
		t.Errorf("late from 2 ms on: %v", late)
	}
	for at, want := range map[time.Duration]int{0: 0, 3 * time.Millisecond: 1, 8 * time.Millisecond: 2, 9 * time.Millisecond: 1, 12 * time.Millisecond: 0} {
		if got := j.open(at); got != want {
			t.Errorf("%d open at %s, want %d", got, at, want)
		}
	}
	want := time.Date(2026, 11, 21, 22, 0, 0, 750e6, time.UTC)
	if len(j.byHand) != 1 || !j.byHand[0].Equal(want) {
		t.Errorf("changes by hand at %v, want %v", j.byHand, want)
	}
	for _, broken := range []string{"", "{}\n", "not JSON\n"} {
		if _, err := readJournal(strings.NewReader(broken)); err == nil {
			t.Errorf("%q was taken for a journal", broken)
		}
	}
}

// The load keeps the streams open that it promises: as many as arrive while one is answered.
func TestBusyLoad(t *testing.T) {
	b := busyLoad(false)
	if b.lasts() != 2*time.Second || b.rate() != 500 {
		t.Errorf("%s at %v a second", b.lasts(), b.rate())
	}
	args := strings.Join(b.serve("http://h", 5*time.Second, "--exit"), " ")
	for _, want := range []string{"serve --base-url http://h ", " --request-rate 500 ", " --num-prompts 2500 ", " --random-output-len 100 ", " --exit"} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is missing in %q", want, args)
		}
	}
}

func TestOnlyTakesTablesOfAWord(t *testing.T) {
	for only, want := range map[string]string{"stamps": "stamps", "dashboard-redraw": "dashboard-redraw"} {
		if got := strings.Join(names(named(tables(true), only)), " "); got != want {
			t.Errorf("%s: got %q, want %q", only, got, want)
		}
	}
	if got := named(tables(true), dashboardTables); len(got) != len(dashboards(true)) {
		t.Errorf("%s: %q", dashboardTables, names(got))
	}
	if got := named(tables(true), "dash"); len(got) != 0 {
		t.Errorf("half a word: %q", names(got))
	}
}
