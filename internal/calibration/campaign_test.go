package calibration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// machineModel answers loads by a formula instead of sending them.
type machineModel struct {
	loads []Load
	// The limits of the client: chunks/s timed exactly, chunks/s at all, sockets; 0 for none.
	exact, most float64
	sockets     int
	// The limits of requests/s that are sent on time, and of those that come; 0 for none.
	punctual, arriving float64
	// Some requests fail above this rate; 0 for none.
	faultless float64
	// bad are the numbers of measurements disturbed by other programs.
	bad map[int]bool
	err error
}

func (m *machineModel) measure(_ context.Context, l Load) (Result, error) {
	m.loads = append(m.loads, l)
	if m.err != nil {
		return Result{}, m.err
	}
	r := Result{Requests: l.Requests, MostStreams: l.Streams, Chunks: l.Requests * l.Chunks, CPUSeconds: 1,
		Seconds: l.Duration.Seconds()}
	r.StampError = Quantiles{N: 1000, P50: 2 * time.Microsecond, P99: 9 * time.Microsecond, P999: 20 * time.Microsecond,
		Max: time.Millisecond}
	if l.Closed {
		r.Requests, r.RequestsPerSecond = 3000, 8000
		return r, nil
	}
	if l.Requests > 0 && l.ITL == 0 {
		r.Seconds = float64(l.Requests)/l.Rate + 0.005
		r.Lateness = Quantiles{N: l.Requests, P50: 50 * time.Microsecond, P99: 200 * time.Microsecond}
		if m.punctual > 0 && l.Rate > m.punctual || m.bad[len(m.loads)] {
			r.Lateness.P99 = 20 * time.Millisecond
		}
		if m.arriving > 0 && l.Rate > m.arriving {
			r.Seconds *= l.Rate / m.arriving
		}
		if m.faultless > 0 && l.Rate > m.faultless {
			r.Failed = 2
		}
		return r, nil
	}
	if l.Requests > 0 {
		r.Seconds = l.lasts()
		rate := float64(l.Streams) / l.ITL.Seconds()
		if m.most > 0 && rate > m.most {
			r.Seconds *= rate / m.most
		}
		if m.exact > 0 && rate > m.exact {
			r.StampError.P99 = 3 * time.Millisecond
		}
	}
	if m.bad[len(m.loads)] {
		r.SharedShare = 0.5
	}
	if l.Watch != nil {
		l.Watch(context.Background(), nil)
		r.CPUSeconds = 1.1
	}
	return r, nil
}

func (m *machineModel) tools() tools {
	return tools{
		measure: m.measure,
		lateness: func(context.Context, float64, time.Duration) (Quantiles, error) {
			return Quantiles{N: 100, P99: 40 * time.Microsecond}, m.err
		},
		limits: func(n int) error {
			if m.sockets > 0 && n > m.sockets {
				return errors.New("too few files")
			}
			return nil
		},
	}
}

func campaignOf(streams []int, rates ...float64) Campaign {
	c := Usual()
	c.Streams, c.ChunkRates = streams, rates
	c.Draw = func(context.Context, <-chan metrics.Snapshot) int64 { return 1 << 20 }
	return c
}

// The figure is that of the highest exact step; a failed step is repeated once, and ends the climb.
func TestClimb(t *testing.T) {
	for _, c := range []struct {
		name           string
		m              machineModel
		streams, want  string // the steps that were tried
		most           float64
		chunks         string
		mostChunks     float64
		more, moreRate bool
		verdict        string
	}{
		{
			name: "no end", streams: "1000 2500", most: 2500, chunks: "10000 20000 40000", mostChunks: 40000,
			more: true, moreRate: true,
			verdict: "This machine can measure up to 6,800 requests/s, 2,500 open streams (more were not tried) and " +
				"40,000 chunks/s (more were not tried); chunks are timed to 9.0 us (p99).",
		},
		{
			name: "an end", m: machineModel{exact: 30000}, streams: "1000 2500", most: 2500,
			chunks: "10000 20000 40000 40000", mostChunks: 20000, more: true,
			verdict: "This machine can measure up to 6,800 requests/s, 2,500 open streams (more were not tried) and " +
				"20,000 chunks/s; chunks are timed to 9.0 us (p99).",
		},
		{
			name: "noise is forgiven once", m: machineModel{bad: map[int]bool{9: true}}, streams: "1000 2500 2500",
			most: 2500, chunks: "10000 20000 40000", mostChunks: 40000, more: true, moreRate: true,
		},
		{
			name: "more does not come", m: machineModel{most: 15000}, streams: "1000 2500", most: 2500,
			chunks: "10000 20000", mostChunks: 15000, more: true,
		},
		{
			name: "too much from the start", m: machineModel{exact: 3000}, streams: "1000 1000 500", most: 1000,
			chunks: "10000 10000 5000 5000 2500", mostChunks: 2500,
		},
		{
			name: "far too weak", m: machineModel{exact: 10}, streams: "1000 1000 500 500 250 250 125 125 62 62",
			most:   0,
			chunks: "10000 10000 5000 5000 2500 2500 1250 1250 625 625", mostChunks: 0,
			verdict: "This machine can measure up to 6,800 requests/s; not even 62 open streams and not even 625 " +
				"chunks/s; chunks are timed to 3,000 us (p99).",
		},
		{
			name: "too few files", m: machineModel{sockets: 2000}, streams: "1000", most: 1000,
			chunks: "10000 20000 40000", mostChunks: 40000, more: true, moreRate: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := campaignOf([]int{1000, 2500}, 10e3, 20e3, 40e3)
			out := plan.run(t.Context(), c.m.tools())
			var streams, chunks []string
			for _, s := range out.Figures.Streams {
				streams = append(streams, fmt.Sprint(s.Streams))
			}
			for _, s := range out.Figures.Chunks {
				chunks = append(chunks, fmt.Sprint(s.ChunksPerSecond))
			}
			f := out.Figures
			if got := strings.Join(streams, " "); got != c.streams || f.OpenStreams != c.most ||
				f.MoreStreams != c.more {
				t.Errorf("streams %s, most %v, more %v; want %s, %v, %v", got, f.OpenStreams, f.MoreStreams, c.streams,
					c.most, c.more)
			}
			if got := strings.Join(chunks, " "); got != c.chunks || f.ChunksPerSecond != c.mostChunks ||
				f.MoreChunks != c.moreRate {
				t.Errorf("chunks/s %s, most %v, more %v; want %s, %v, %v", got, f.ChunksPerSecond, f.MoreChunks,
					c.chunks, c.mostChunks, c.moreRate)
			}
			if c.verdict != "" && f.Verdict() != c.verdict {
				t.Errorf("verdict\n%s\nwant\n%s", f.Verdict(), c.verdict)
			}
			if c.m.sockets > 0 && (len(f.Problems) != 1 || f.Problems[0].Part != "open streams, 2,500") {
				t.Errorf("problems %+v", f.Problems)
			}
			if !out.Complete || f.Empty() {
				t.Errorf("complete %v, empty %v", out.Complete, f.Empty())
			}
		})
	}
}

// The highest rate is the highest with punctual requests; the rate of users without pause is another figure.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		name    string
		m       machineModel
		want    string // the rates that were tried
		most    float64
		missed  string // of the last one
		verdict string
	}{
		{name: "no end", want: "2000 4000 5600 6800", most: 6800,
			verdict: "This machine can measure up to 6,800 requests/s."},
		{name: "late", m: machineModel{punctual: 5000}, want: "2000 4000 5600 5600", most: 4000,
			missed: "p99 send delay 20 ms"},
		{name: "do not come", m: machineModel{arriving: 5000}, want: "2000 4000 5600 5600", most: 4000,
			missed: "not reached"},
		{name: "fail", m: machineModel{faultless: 3000}, want: "2000 4000 4000", most: 2000,
			missed: "2 of 6000 requests failed"},
		{name: "almost all come", m: machineModel{arriving: 5500}, want: "2000 4000 5600 6800 6800", most: 5518,
			missed: "not reached"},
		{name: "noise is forgiven once", m: machineModel{bad: map[int]bool{5: true}}, want: "2000 4000 4000 5600 6800",
			most: 6800},
		{name: "late from the start", m: machineModel{punctual: 600}, want: "2000 2000 1000 1000 500", most: 500},
		{
			name: "always late", m: machineModel{punctual: 1}, want: "2000 2000 1000 1000 500 500 250 250 125 125",
			missed:  "p99 send delay 20 ms",
			verdict: "This machine measured nothing exactly; not even 125 requests/s.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := Usual()
			r := &campaign{Campaign: plan, tools: c.m.tools(), out: &Figures{}}
			r.requests(t.Context())
			rates := metrics.Each(r.out.Rates, func(s RateStep) string { return fmt.Sprint(s.Asked) })
			if got := strings.Join(rates, " "); got != c.want || r.out.RequestsPerSecond != c.most ||
				r.out.WithoutPause != 8000 || r.out.Problems != nil {
				t.Errorf("rates %s, want %s and %v; %+v", got, c.want, c.most, r.out)
			}
			if s := r.out.Rates[len(r.out.Rates)-1]; s.Missed != c.missed {
				t.Errorf("the last one %q, want %q", s.Missed, c.missed)
			}
			if c.verdict != "" && r.out.Verdict() != c.verdict {
				t.Errorf("verdict %q, want %q", r.out.Verdict(), c.verdict)
			}
			for _, l := range c.m.loads[plan.Rounds:] {
				if err := l.Validate(); err != nil || l.Closed || l.Streams != 0 ||
					math.Abs(float64(l.Requests)-l.Rate*plan.RoundTime.Seconds()) > 1 {
					t.Errorf("%+v: %v", l, err)
				}
			}
		})
	}
}

func TestTwoDigits(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 0.4: 0, 7.6: 8, 10: 10, 99.6: 100, 1049: 1000, 6904.2: 6900,
		123456: 120000} {
		assert.Equal(t, twoDigits(v), want, "%v", v)
	}
}

// Streams of a step begin no faster than the client can send, and are all open together for the given time.
func TestSteadyLoad(t *testing.T) {
	for _, c := range []struct{ exact, starts float64 }{{-1, 2000}, {6000, 3000}, {400, 500}, {0, 500}, {1e6, 10_000}} {
		r := &campaign{out: &Figures{}}
		if c.exact >= 0 {
			r.out.RequestsPerSecond, r.out.Rates = c.exact, make([]RateStep, 1)
		}
		l := r.steady(5000, 5, time.Second)
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
		if l.Rate != c.starts || l.ITL != 200*time.Millisecond {
			t.Errorf("with %v requests/s exact: rate %v, ITL %s; want rate %v", c.exact, l.Rate, l.ITL, c.starts)
		}
		alone := float64(l.Requests) / l.Rate
		if answer := l.TTFT.Seconds() + float64(l.Chunks-1)*l.ITL.Seconds(); answer < alone+1 || answer > alone+1.2 {
			t.Errorf("answers take %v s, streams begin for %v s: they are together for %v s, want 1", answer, alone,
				answer-alone)
		}
	}
}

// All rounds are compared in pairs, and the figures are their medians.
func TestStampRounds(t *testing.T) {
	m := &machineModel{}
	plan := campaignOf([]int{100}, 1000)
	out := plan.run(t.Context(), m.tools())
	f := out.Figures
	if f.Dashboard == nil || f.Dashboard.Pairs != plan.StampRounds || f.Dashboard.CPURatio != 1.1 ||
		f.Dashboard.DrawnBytes < 1000 {
		t.Errorf("dashboard %+v", f.Dashboard)
	}
	kinds := 1
	if conn.KernelStamps() {
		kinds = 2
	}
	if len(f.Stamps) != kinds || f.Stamps[0].Timestamps != f.Timestamps || f.Stamps[0].Rounds != plan.StampRounds {
		t.Errorf("stamps %+v", f.Stamps)
	}
	if f.StampError.P99 != 9*time.Microsecond || f.StampError.N != 1000*plan.StampRounds {
		t.Errorf("stamp error %+v", f.StampError)
	}
	assert.Equal(t, len(f.Lateness), len(plan.Paced)+len(plan.Sent), "lateness %+v", f.Lateness)
}

// A failed part is a problem of the result and does not end the campaign.
func TestCampaignFails(t *testing.T) {
	m := &machineModel{err: errors.New("the server is gone")}
	plan := campaignOf([]int{100}, 1000)
	out := plan.run(t.Context(), m.tools())
	if !out.Figures.Empty() || !out.Complete || len(out.Figures.Problems) < 5 {
		t.Errorf("empty %v, complete %v, problems %+v", out.Figures.Empty(), out.Complete, out.Figures.Problems)
	}
	var text strings.Builder
	if err := out.Text(&text); err != nil || !strings.Contains(text.String(), "the server is gone") ||
		!strings.Contains(text.String(), "Nothing could be measured") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// A campaign that is ended at any point keeps its measurements, and the end is no problem in the result.
func TestCampaignEnded(t *testing.T) {
	plan := campaignOf([]int{100, 200}, 1000, 2000)
	all := &machineModel{}
	_ = plan.run(t.Context(), all.tools())
	for at := range len(all.loads) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &machineModel{}
		tools := m.tools()
		tools.measure = func(_ context.Context, l Load) (Result, error) {
			if len(m.loads) == at {
				cancel()
				return Result{}, ctx.Err()
			}
			return m.measure(ctx, l)
		}
		out := plan.run(ctx, tools)
		if out.Complete || len(out.Figures.Problems) > 0 || len(m.loads) != at || out.Figures.Empty() != (at == 0) {
			t.Errorf("ended at measurement %d: complete %v, empty %v, %d loads, problems %v", at, out.Complete,
				out.Figures.Empty(), len(m.loads), out.Figures.Problems)
		}
		cancel()
	}
}

func TestProgressCounts(t *testing.T) {
	plan := Quick()
	last := 0
	plan.Progress = func(part, of int, text string) {
		if part < last || part > of || text == "" {
			t.Errorf("part %d of %d after %d: %q", part, of, last, text)
		}
		last = part
	}
	_ = plan.run(t.Context(), (&machineModel{}).tools())
	assert.Equal(t, last, 5, "the last part")
}
