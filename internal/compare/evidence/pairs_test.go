package evidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge/queuetest"
)

// drift is the size of a jitter that lasts.
const drift = .01

// jitter is a factor of services that lasts for about five seconds, and one that each has alone.
func jitter(r *rand.Rand) func(float64) float64 {
	level, at := 0.0, 0.0
	return func(t float64) float64 {
		keep := math.Exp(-math.Max(0, t-at) / 5)
		level, at = level*keep+drift*math.Sqrt(1-keep*keep)*r.NormFloat64(), t
		return math.Exp(level + .05*r.NormFloat64())
	}
}

// drawPairs has two servers answer the same draw of n requests, the second slower by a factor. With blocks, the draw is
// in so many parts, each to an empty server.
func (s *server) drawPairs(rate float64, n, blocks int, slower float64, r *rand.Rand) (all []*Pairs) {
	for range blocks {
		plan := &metrics.Plan{Rate: metrics.Rate(rate), Metrics: compared,
			Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: s.ttft}}}
		p, seed := NewPairs(plan), r.Uint64()
		arrivals, at := make([]float64, n/blocks), 0.0
		for i := range arrivals {
			at += r.ExpFloat64() / rate
			arrivals[i] = at
		}
		for side := range 2 {
			of := s.Server
			of.Jitter = jitter(r)
			if side == 1 {
				of.Service *= slower
			}
			sink := p.Side(side)
			for i, q := range of.Requests(arrivals, of.Serve(arrivals, rand.New(rand.NewPCG(seed, 1))), 0, r) {
				q.Conversation = i
				sink.Take(&event.Event{Kind: event.Due, Request: &q})
				sink.Take(&event.Event{Kind: event.Done, Request: &q})
			}
		}
		all = append(all, p)
	}
	return all
}

// TestPairsLeftOut: a warm-up, turns that one side never came to, and a figure that is the same in all pairs leave the
// others as they are.
func TestPairsLeftOut(t *testing.T) {
	s, r := &servers[0], rand.New(rand.NewPCG(1, 2))
	plan := &metrics.Plan{Metrics: compared, Warmup: 5 * time.Second}
	p := NewPairs(plan)
	arrivals := queuetest.Constant(10, 60, r)
	for side := range 2 {
		all := s.Requests(arrivals, s.Serve(arrivals, rand.New(rand.NewPCG(3, 4))), 0, r)
		for i := range all {
			q := &all[i]
			q.Conversation, q.Turn = i/2, i%2
			if i == 101 && side == 1 {
				continue // the turn after one that failed
			}
			p.Side(side).Take(&event.Event{Kind: event.Due, Request: q})
			p.Side(side).Take(&event.Event{Kind: event.Done, Request: q})
		}
	}
	p.Close()
	got := ComparePairs([]*Pairs{p}, Looks)
	warm := 0
	for _, at := range arrivals {
		if at < 5 {
			warm++
		}
	}
	if want := fmt.Sprintf("%d pairs", len(arrivals)-warm-1); !strings.HasPrefix(got.Units, want) {
		t.Errorf("%s, want %s", got.Units, want)
	}
	for _, row := range got.Rows {
		if row.Key == "error_rate" && row.Verdict != None {
			t.Errorf("%s: %s", row.Name, row.Verdict)
		}
	}
}

// pairCounts are of comparisons of pairs.
type pairCounts struct{ all, alarms, gated, failed, intervals, covered, found int }

func (c *pairCounts) join(o *pairCounts) {
	c.all, c.alarms, c.gated, c.failed = c.all+o.all, c.alarms+o.alarms, c.gated+o.gated, c.failed+o.failed
	c.intervals, c.covered, c.found = c.intervals+o.intervals, c.covered+o.covered, c.found+o.found
}

func (c *pairCounts) add(got *Result) {
	c.all++
	alarm := 0
	for _, row := range got.Rows {
		if row.Key == "mean_tpot_ms" && row.Verdict == Worse {
			c.found++
		}
		if math.IsNaN(row.Low) {
			continue
		}
		if row.Verdict != None && row.Verdict != Short {
			alarm = 1
		}
		if c.intervals++; row.Low <= 0 && 0 <= row.High {
			c.covered++
		}
		if row.Key == "mean_ttft_ms" {
			if c.gated++; row.Low > 0 {
				c.failed++
			}
		}
	}
	c.alarms += alarm
}

// TestPairs compares servers with themselves and with slower ones, by pairs of one draw. With -calibrate it prints the
// table of docs/accuracy.md.
func TestPairs(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	for blocks, mode := range map[int]string{1: "duet", 16: "blocks"} {
		var equal pairCounts
		var table strings.Builder
		for i := range servers {
			s := &servers[i]
			for j, load := range []float64{.5, .8, .95} {
				for k, n := range []int{1000, 5000}[:min(2, 1+*calibrate)] {
					r := rand.New(rand.NewPCG(uint64(blocks*1000+i*100+j*10+k), 7))
					rate, slower := load*s.Capacity(), []float64{1.05, 1.02}[k]
					var same, worse pairCounts
					for range max(1, *calibrate) {
						got := ComparePairs(s.drawPairs(rate, n, blocks, 1, r), Looks)
						same.add(&got)
						got = ComparePairs(s.drawPairs(rate, n, blocks, slower, r), Looks)
						worse.add(&got)
					}
					equal.join(&same)
					fmt.Fprintf(&table, "| %s | %s | %.2f | %d | %.1f %% | %.1f %% | %.1f %% | %.0f %%: %.0f %% |\n",
						mode, s.name, load, n, 100*metrics.Share(same.alarms, same.all),
						100*metrics.Share(same.failed, same.gated), 100*metrics.Share(same.covered, same.intervals),
						100*(slower-1), 100*metrics.Share(worse.found, worse.all))
				}
			}
		}
		if *calibrate > 0 {
			t.Logf("%s %+v\n%s", mode, equal, table.String())
		}
		if c := &equal; float64(c.alarms) > max(2, .015*float64(c.all)) || metrics.Share(c.covered, c.intervals) < .97 {
			t.Errorf("%s: %+v", mode, equal)
		}
	}
}

// Figures without a verdict are too short where they have too few units for one beside the others.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		units string // a letter each: a for 1
		look  int
		want  string // too short
	}{
		{"xixixixi", Looks, "[1 3 5 7]"},
		{"llllllll", Looks - 1, "[0 1 2 3 4 5 6 7]"},
		{"lllll", Looks - 1, "[]"},
		{"i", Looks, "[]"},
		{"h", Looks, "[0]"},
	} {
		out := Result{Rows: make([]Row, len(c.units))}
		var tests []test
		for i, n := range c.units {
			tests = append(tests, test{row: i, units: int(n-'a') + 1})
			out.Rows[i].Verdict = None
		}
		out.shorten(tests, levelAt(c.look))
		var short []int
		for i, row := range out.Rows {
			if row.Verdict == Short && row.Longer > 1 {
				short = append(short, i)
			}
		}
		assert.Equal(t, fmt.Sprint(short), c.want, "%s at look %d", c.units, c.look)
	}
}

// TestPairsAtOnce: answers that came at once have no TPOT, so that they do not make a change of thousands of percent.
func TestPairsAtOnce(t *testing.T) {
	p := NewPairs(&metrics.Plan{Metrics: compared})
	for side := range 2 {
		for i := range 600 {
			first := time.Duration(i) * time.Second
			gap := time.Duration(4+side*4)*time.Millisecond + time.Duration(i*7919%100)*time.Microsecond
			if i%3 > 0 && side == 0 {
				gap = 2 * time.Microsecond
			}
			q := metrics.Request{Conversation: i, Sent: first, FirstChunk: first + 1, FirstToken: first + 1,
				LastChunk: first + 1 + gap, Done: first + 1 + gap, OutputTokens: 2,
				Chunks: []metrics.Chunk{{At: first + 1, Tokens: 1}, {At: first + 1 + gap, Tokens: 1}}}
			sink := p.Side(side)
			sink.Take(&event.Event{Kind: event.Due, Request: &q})
			sink.Take(&event.Event{Kind: event.Done, Request: &q})
		}
	}
	p.Close()
	rows := ComparePairs([]*Pairs{p}, Looks).Rows
	at := slices.IndexFunc(rows, func(r Row) bool { return r.Key == "mean_tpot_ms" })
	if at < 0 || math.Abs(rows[at].Change-1) > .05 {
		t.Errorf("%d of %+v", at, rows)
	}
}
