package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// clientRun is half a minute with a request of four chunks every second, and a healthy client.
func clientRun() (metrics.Run, []metrics.Request) {
	run := metrics.Run{
		Plan: metrics.Plan{
			Rate: 1, Requests: 30, Timestamps: metrics.KernelStamps,
			Metrics: []metrics.Latency{metrics.TTFT}, Percentiles: []float64{90},
			SteadyState: metrics.SteadyStateRule{Off: true},
		},
		End: metrics.End{Ended: 30 * time.Second,
			Stamps: &metrics.Stamps{Chunks: 120, DelayP50: 20 * us, DelayP99: 300 * us, DelayP999: 310 * us,
				DelayMax: 320 * us}},
	}
	var qs []metrics.Request
	for i := range 30 {
		at := time.Duration(i) * time.Second
		qs = append(qs, sampleRequest(i, 10, 4, at, at, 100*ms, 50*ms, 50*ms, 50*ms))
		run.Client = append(run.Client, metrics.ClientSecond{
			At: at + time.Second, Took: time.Second, CPU: 0.5, Cores: 2, Sched: 50 * us, Stall: 2 * ms,
			Memory: 20 << 20, Sockets: 1,
			Sent: 1, Chunks: 4, DelayP50: 20 * us, DelayP99: 300 * us, DelayMax: 320 * us,
		})
	}
	return run, qs
}

// together gives the last chunk of the first n requests the stamp of the one before.
func together(run *metrics.Run, qs []metrics.Request, n int) {
	for i := range n {
		c := qs[i].Chunks
		c[3].At, qs[i].LastChunk, qs[i].Done = c[2].At, c[2].At, c[2].At
		run.Client[i].Shared = 1
	}
	run.Stamps.Shared = n
}

// late delays every request by the client's fault.
func late(qs []metrics.Request, by time.Duration) {
	for i := range qs {
		q := &qs[i]
		q.Due, q.Admitted, q.Sent = q.Scheduled+by, q.Scheduled+by, q.Scheduled+by
	}
}

func TestClientRemarks(t *testing.T) {
	const advice = "The figures may reflect the client instead of the server: give the client dedicated cores, run " +
		"it on another machine, or lower the load; `benchtop calibrate` shows what this machine can measure."
	const stalled = " around second %d; it or the whole machine was stopped. Requests due in that time may have been " +
		"sent late, and chunks that arrived may share one time stamp."
	older := func(run *metrics.Run) { run.Client, run.Stamps, run.Plan.Timestamps = nil, nil, "" }
	for name, c := range map[string]struct {
		change         func(*metrics.Run, []metrics.Request)
		remarks, words string
	}{
		"good": {func(*metrics.Run, []metrics.Request) {}, "", "client ok"},
		"late": {func(_ *metrics.Run, qs []metrics.Request) { late(qs, 24*ms) },
			"Client OVERLOADED: p99 send delay 24ms. " + advice, "client OVERLOADED (p99 send delay 24ms)"},
		"late and busy": {func(run *metrics.Run, qs []metrics.Request) {
			late(qs, 24*ms)
			for i := range 6 {
				run.Client[i].CPU = 1.9
			}
		}, "Client OVERLOADED: p99 send delay 24ms; CPU full for 6 of 30 s. " + advice,
			"client OVERLOADED (p99 send delay 24ms, CPU full for 6 of 30 s)"},
		"stood still": {func(run *metrics.Run, _ []metrics.Request) {
			run.Client[3].Stall, run.Client[9].Stall = 100*ms, 2100*ms
		},
			"Client OVERLOADED: stalled for 2.2s. " + advice + " Stalls: the client did not run for 2.2s, the " +
				"longest time 2.1s" +
				fmt.Sprintf(stalled, 10), "client OVERLOADED (stalled for 2.2s)"},
		"a moment": {func(run *metrics.Run, _ []metrics.Request) { run.Client[29].Stall = 120 * ms },
			"Stalls: the client did not run for 120ms, the longest time 120ms" + fmt.Sprintf(stalled, 30), "client ok"},
		"one of 120 together": {func(run *metrics.Run, qs []metrics.Request) { together(run, qs, 1) }, "", "client ok"},
		"together": {func(run *metrics.Run, qs []metrics.Request) { together(run, qs, 24) },
			"Time stamps: 20.0 % of the chunks were coalesced with the one before, although the client read in time: " +
				"the server or a proxy" +
				" sends several at once, or the network delayed them. The gaps between them are 0.", "client ok"},
		"read late": {func(run *metrics.Run, qs []metrics.Request) {
			together(run, qs, 24)
			run.Stamps.DelayP99 = 30 * ms
		}, "Client OVERLOADED: 20.0% of chunks coalesced before read. " + advice,
			"client OVERLOADED (20.0% of chunks coalesced before read)"},
		"a few, read late": {func(run *metrics.Run, qs []metrics.Request) {
			together(run, qs, 12)
			run.Stamps.DelayP99 = 30 * ms
		}, "Time stamps: 10.0 % of the chunks were coalesced with the one before. The client sometimes read late, so " +
			"the cause may be the client or the server. The gaps between them are 0. Steady state: from 12.0 s to " +
			"29.0 s, 59 % of the load, without a change: 1.00 requests/s, 4.00 output tokens/s, mean TTFT 100.00 ms " +
			"(median 100.00 ms), TPOT 50.00 ms.", "client ok"},
		"one of 120 not stamped": {func(run *metrics.Run, _ []metrics.Request) { run.Stamps.Unstamped = 1 }, "",
			"client ok"},
		"not stamped": {func(run *metrics.Run, _ []metrics.Request) { run.Stamps.Unstamped = 120 },
			"Time stamps: 100.0 % of the chunks have no kernel time stamp but the time of their read, which is later." +
				" Unix sockets have none.", "client ok"},
		"not asked to stamp": {func(run *metrics.Run, _ []metrics.Request) {
			run.Plan.Timestamps, run.Client[7].ClockStep = metrics.UserStamps, true
			*run.Stamps = metrics.Stamps{Chunks: 120, Unstamped: 120, DelayP50: metrics.Never, DelayP99: metrics.Never}
		}, "", "client ok"},
		"clock": {func(run *metrics.Run, _ []metrics.Request) {
			run.Client[7].ClockStep, run.Client[8].ClockStep = true, true
		},
			"Clock: the system clock was set in 2 seconds of the run; chunks around those moments have the time of " +
				"their read.",
			"client ok"},
		"nothing known": {func(run *metrics.Run, qs []metrics.Request) {
			together(run, qs, 24)
			older(run)
		}, "", "client p99 send delay 0.0 ms"},
		"late in an older journal": {func(run *metrics.Run, qs []metrics.Request) {
			late(qs, 24*ms)
			older(run)
		}, "Client OVERLOADED: p99 send delay 24ms. " + advice, "client OVERLOADED (p99 send delay 24ms)"},
	} {
		run, qs := clientRun()
		c.change(&run, qs)
		r := summarize(t, run, qs)
		got := Remarks(r)
		assert.Same(t, fmt.Sprintf("%s: remarks", name), strings.Join(strings.Fields(got), " "), c.remarks)
		for line := range strings.Lines(got) {
			if text.Width(strings.TrimSuffix(line, "\n")) > textWidth {
				t.Errorf("%s: too wide: %q", name, line)
			}
		}
		if got := Answer(r); !strings.HasSuffix(got, "; "+c.words) {
			t.Errorf("%s: %s, want %s", name, got, c.words)
		}
	}
}

func TestListed(t *testing.T) {
	items := []string{"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"}
	for width, want := range map[int]string{
		34: "aaaaaaaaaa, bbbbbbbbbb, cccccccccc",
		33: "aaaaaaaaaa and 2 more", // the width includes the number of the rest
		0:  "aaaaaaaaaa and 2 more",
	} {
		assert.Equal(t, joinFitting(items, width), want, "%d columns", width)
	}
	assert.Equal(t, joinFitting(items[:1], 10), "aaaaaaaaaa", "joinFitting")
	assert.Equal(t, joinFitting(slices.Repeat(items, 2), 40), "aaaaaaaaaa, bbbbbbbbbb and 4 more", "joinFitting")
}
