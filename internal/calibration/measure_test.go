package calibration

import (
	"context"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/metronome"
	"benchtop/metrics"
)

// ticking is the base URL of a metronome in this process.
func ticking(t *testing.T) string {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := metronome.New()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}

func TestMeasure(t *testing.T) {
	server := ticking(t)
	loads := map[string]Load{
		"at once": {Requests: 20, Chunks: 5, TTFT: 20 * time.Millisecond, ITL: 10 * time.Millisecond},
		"on open ones": {Requests: 20, Chunks: 5, TTFT: 20 * time.Millisecond, ITL: 10 * time.Millisecond,
			Preconnect: true},
		"at a rate":     {Requests: 20, Rate: 100, Chunks: 5, Timestamps: metrics.UserStamps},
		"users":         {Requests: 20, Closed: true, Streams: 4, Chunks: 5, ITL: time.Millisecond, Preconnect: true},
		"limited":       {Requests: 20, Streams: 3, Chunks: 5},
		"without pause": {Requests: 20, Chunks: 5},
	}
	for name, l := range loads {
		t.Run(name, func(t *testing.T) {
			r := assert.Must(Measure(t.Context(), server, l))(t)
			if r.Requests != 20 || r.Failed != 0 || r.Chunks != 100 || r.StampError.N != 100 || r.Unmatched != 0 ||
				r.Lateness.N != 20 {
				t.Errorf("got %+v", r)
			}
			if r.Verdict == "" || (r.Verdict == Limited) != (len(r.Why) > 0) {
				t.Errorf("verdict %q for %q", r.Verdict, r.Why)
			}
			if r.Early > 0 {
				t.Errorf("%d chunks came before they were written", r.Early)
			}
			if most := max(l.Streams, 0); most > 0 && r.MostStreams > most || r.MostStreams < 1 {
				t.Errorf("%d streams at most", r.MostStreams)
			}
			if fresh := r.Connect.N > 0; fresh == l.Preconnect {
				t.Errorf("%d connections were dialled by requests", r.Connect.N)
			}
			if r.Seconds <= 0 || r.ChunksPerSecond <= 0 || r.RequestsPerSecond <= 0 || r.CPUSeconds < 0 ||
				r.AllocsPerChunk < 0 {
				t.Errorf("got %+v", r)
			}
			// The kernel begins to stamp with a delay, so its share is unknown here.
			if l.Timestamps == metrics.UserStamps && r.UnstampedShare != 1 {
				t.Errorf("%.0f %% of chunks without stamp of the kernel, of which none was wanted",
					100*r.UnstampedShare)
			}
		})
	}
}

// A duration ends a load without a number of requests, and Watch receives all of it.
func TestMeasureForATime(t *testing.T) {
	server := ticking(t)
	for name, l := range map[string]Load{
		"users": {Closed: true, Streams: 3, Chunks: 4, ITL: time.Millisecond},
		"rate":  {Rate: 200, Chunks: 4, ITL: time.Millisecond},
	} {
		var snapshots, last atomic.Int64
		l.Duration = 300 * time.Millisecond
		l.Watch = func(ctx context.Context, in <-chan metrics.Snapshot) {
			for s := range in {
				snapshots.Add(1)
				last.Store(int64(s.Totals.Completed))
			}
			if ctx.Err() == nil {
				t.Error("the snapshots ended before the run")
			}
		}
		r, err := Measure(t.Context(), server, l)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Requests < 3 || r.Chunks != 4*r.Requests || r.Seconds < 0.25 {
			t.Errorf("%s: %d requests, %d chunks in %.2f s", name, r.Requests, r.Chunks, r.Seconds)
		}
		if snapshots.Load() < 1 || int(last.Load()) != r.Requests {
			t.Errorf("%s: %d snapshots, the last with %d requests of %d", name, snapshots.Load(), last.Load(),
				r.Requests)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	server := ticking(t)
	other := httptest.NewServer(nil)
	defer other.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	fine := Load{Requests: 2, Chunks: 2}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		server string
		load   Load
		client Client
		want   string
	}{
		{"ends during the load", short, server, Load{Requests: 5, Chunks: 100, ITL: 10 * time.Second}, nil,
			"deadline exceeded"},
		{"no server", t.Context(), "http://127.0.0.1:1", fine, nil, "refused"},
		{"no metronome", t.Context(), other.URL, fine, nil, "metronome"},
		{"bad load", t.Context(), server, Load{}, nil, "no end"},
		{"bad timestamps", t.Context(), server, Load{Requests: 1, Chunks: 1, Timestamps: "sundial"}, nil, "sundial"},
		{"over already", ended, server, fine, nil, "canceled"},
		{"all failed", t.Context(), server, fine,
			func(_ context.Context, _ string, _ time.Time, tally *Accumulator) error {
				tally.Failed(false, "no way")
				tally.Failed(true, "later")
				return nil
			}, "none of 2 requests succeeded; the first: no way"},
		{"not in the log", t.Context(), server, fine,
			func(_ context.Context, _ string, _ time.Time, tally *Accumulator) error {
				tally.Ended(RequestSummary{ID: "made up", Chunks: []int32{1}})
				return nil
			}, "has none of 1 requests"},
	} {
		var err error
		if c.client != nil {
			_, err = MeasureOther(c.ctx, c.server, c.load, c.client)
		} else {
			_, err = Measure(c.ctx, c.server, c.load)
		}
		assert.Fails(t, c.name, err, c.want)
	}
}

func TestCompare(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(us int) time.Time { return start.Add(time.Duration(us) * time.Microsecond) }
	log := []metronome.Entry{
		{ID: "twice", Arrived: at(0), Writes: []time.Time{at(1)}}, // its connection broke, and it was sent again
		{ID: "twice", Arrived: at(100), Writes: []time.Time{at(1100), at(2100), at(3100)}},
		{ID: "early", Arrived: at(0), Writes: []time.Time{at(1000), at(2000)}},
		{ID: "cut", Arrived: at(0), Writes: []time.Time{at(1000)}},
		{ID: "somebody else's", Arrived: at(0), Writes: []time.Time{at(5)}},
	}
	seen := []RequestSummary{
		{ID: "twice", Sent: 90 * time.Microsecond, Chunks: []int32{1020, 2020, 3220}, Late: time.Millisecond,
			Connect: 70},
		{ID: "early", Sent: 0, Chunks: []int32{994, 1995}},
		{ID: "cut", Sent: 0, Chunks: []int32{1, 2}},
		{ID: "unknown", Sent: 0, Chunks: []int32{1}},
	}
	c := compare(seen, log, start)
	// Errors: 10, 10, 210 and -6, -5.
	assert.Equal(t, c.StampError, Quantiles{5, 10_000, 210_000, 210_000, 210_000}, "stamp error")
	if c.Early != 1 || c.Unmatched != 2 || c.Chunks != 8 {
		t.Errorf("%d early, %d unmatched, %d chunks; want 1, 2, 8", c.Early, c.Unmatched, c.Chunks)
	}
	if c.Lateness.N != 4 || c.Lateness.Max != time.Millisecond || c.Connect.N != 1 || c.Connect.P50 != 70 {
		t.Errorf("late %+v, connect %+v", c.Lateness, c.Connect)
	}
	// TTFT: 1020 against 1000, 994 against 1000.
	if got := c.TTFTError; got != 7*time.Microsecond {
		t.Errorf("TTFT error %s, want 7µs", got)
	}
	assert.Equal(t, c.ServerITLStd, 0, "the server's own gaps vary by")
	// Gaps: 1000, 1200, 1001, all 1000 at the server.
	if got := c.ITLStd.Round(time.Microsecond); got != 94*time.Microsecond || c.ITLErrorStd != c.ITLStd {
		t.Errorf("standard deviation of ITL %s and of its error %s, want 94µs", got, c.ITLErrorStd)
	}
}
