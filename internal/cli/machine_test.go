package cli

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/simtest"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// machine runs the whole of it in virtual time: data set, schedule, HTTP, simulated server, live view, journal, report.
// It must be called inside a bubble.
func machine(t *testing.T, p simulator.Profile, to protocol.Protocol, source func() datasets.Flow,
	offsets []time.Duration,
	extra ...protocol.Field) (metrics.Report, metrics.Snapshot, string) {
	t.Helper()
	dial, stop := simtest.Serve(t, p)
	tgt := assert.Must(target.New(target.Options{BaseURL: "http://simulated", Dial: dial}))(t)
	o := loadgen.Defaults()
	o.Target, o.Model, o.Protocol, o.Pacer, o.Start = tgt, p.Model, to, "timer", time.Now()
	o.InputSource, o.Schedule = metrics.TokensFromIDs, shape.At(offsets)
	o.Extra = append(extra, protocol.Field{Name: "ignore_eos", JSON: "true"})

	plan := metrics.Plan{Percentiles: []float64{50, 99}, Metrics: []metrics.Latency{metrics.TTFT, metrics.ITL},
		Rate: metrics.Rate(math.Inf(1)), Burstiness: 1}
	view := live.NewView(o.Start, &plan)
	written := assert.Must(journal.NewWriter(nil, plan))(t)
	stream := event.NewStream(o.Start, view, written)
	engine := assert.Must(loadgen.New(o, stream))(t)
	assert.Fine(t, engine.Run(t.Context(), source()))
	stream.Tell(metrics.End{Ended: time.Since(o.Start)})
	assert.Fine(t, written.Close())
	r := assert.Must(report.Of(written.Events()))(t)
	view.Finish(&r)
	snapshot := view.Snapshot()

	stop()
	// Requests that end at one instant may be logged in either order.
	var lines []string
	for q, err := range event.Requests(written.Events()) {
		assert.Fine(t, err)
		lines = append(lines,
			strings.Join([]string{q.ID, q.Sent.String(), q.FirstChunk.String(), q.LastChunk.String(), q.Text,
				string(q.Failure)}, " "))
	}
	slices.Sort(lines)
	return r, snapshot, strings.Join(lines, "\n")
}

// random is the demo's kind of prompts.
func random(t *testing.T, n, input, output int) func() datasets.Flow {
	return func() datasets.Flow {
		t.Helper()
		o := datasets.RandomDefaults()
		o.Prompts, o.InputLen, o.OutputLen, o.IDPrefix, o.Vocabulary = n, input, output, "r",
			datasets.AssumedVocabulary()
		s := assert.Must(datasets.NewRandom(o, nil))(t)
		return s
	}
}

// Requests that have the server to themselves take exactly what its profile says.
func TestExactLatencies(t *testing.T) {
	p := simulator.Defaults()
	p.ContextToken = 2 * time.Microsecond // whole microseconds, as the clock of a run has them
	const input, output, n = 100, 6, 3
	synctest.Test(t, func(t *testing.T) {
		gaps := shape.Rate{PerSecond: 0.5, Burstiness: math.Inf(1)}.Offsets(n, nil)
		r, s, _ := machine(t, p, protocol.Default(), random(t, n, input, output), gaps)
		if r.Completed != n || r.Failed != 0 || r.InputTokens != n*input || r.OutputTokens != n*output {
			t.Fatalf("completed %d, failed %d, tokens %d in and %d out; %+v", r.Completed, r.Failed, r.InputTokens,
				r.OutputTokens, r.Failures)
		}
		ttft := p.StepBase + input*p.PrefillToken
		var decode time.Duration
		for k := range output - 1 {
			decode += p.StepBase + p.DecodeSequence + time.Duration(input+k)*p.ContextToken
		}
		ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"mean TTFT", r.Statistics[metrics.TTFT].Mean, ms(ttft)},
			{"largest TTFT", r.Statistics[metrics.TTFT].Max, ms(ttft)},
			{"std of TTFT", r.Statistics[metrics.TTFT].Std, 0},
			{"mean ITL", r.Statistics[metrics.ITL].Mean, ms(decode) / (output - 1)},
			{"smallest ITL", r.Statistics[metrics.ITL].Min,
				ms(p.StepBase + p.DecodeSequence + input*p.ContextToken)},
			{"largest ITL", r.Statistics[metrics.ITL].Max,
				ms(p.StepBase + p.DecodeSequence + (input+output-2)*p.ContextToken)},
			{"mean E2EL", r.Statistics[metrics.E2EL].Mean, ms(ttft + decode)},
			{"lateness", r.Statistics[metrics.Lateness].Max, 0},
			{"duration", r.Duration, (n*2*time.Second + ttft + decode).Seconds()},
		} {
			// The server's clock ticks a nanosecond a step beside its profile.
			if math.Abs(c.got-c.want) > 0.002 {
				t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
			}
		}
		if s.Totals.Completed != n || s.Totals.OutputTokens != n*output || s.Histograms[metrics.TTFT].Count() != n {
			t.Errorf("snapshot: %+v, %d TTFTs", s.Totals, s.Histograms[metrics.TTFT].Count())
		}
	})
}

// Under the demo's load its server saturates: time to first token takes off where requests come faster than it can
// serve them.
func TestDemoSaturates(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const length = 20 * time.Second
		p := simulator.Defaults()
		from, to := demoRamp(p)
		offsets := shape.NewTimedRamp(shape.Bounds{},
			metrics.Ramp{Strategy: "linear", From: from, To: to, Over: length}, 1).Times(numpy.NewStreams(0).Legacy)
		r, _, _ := machine(t, p, protocol.Default(), random(t, len(offsets), demoInput, demoOutput), offsets)
		median := func(from, to int) time.Duration {
			all := metrics.Each(r.Timeline[from:to], func(w *metrics.Window) time.Duration {
				return w.Histograms[metrics.TTFT].Quantile(0.5)
			})
			slices.Sort(all)
			return all[len(all)/2]
		}
		if early, late := median(1, 8), median(18, 20); late < 3*early || early == 0 {
			t.Errorf("median TTFT %s early, %s late: it did not take off", early, late)
		}
	})
}
