package report

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// unsaid is a figure that the server does not give.
var unsaid = metrics.Unsaid()

var unsaidSecond = metrics.ServerSecond{
	Running: unsaid, Waiting: unsaid, KVUsage: unsaid, Preemptions: unsaid, PrefixQueries: unsaid, PrefixHits: unsaid,
	HitRate: unsaid, PromptTokens: unsaid, OutputTokens: unsaid, DraftTokens: unsaid, AcceptedTokens: unsaid,
}

func reported(run metrics.Run, ended time.Duration) *metrics.ServerReport {
	return serverReport(&run, samplesOf(run.Server), ended)
}

func TestServerReport(t *testing.T) {
	look := func(at, took time.Duration, say func(*metrics.ServerSecond)) metrics.ServerSecond {
		s := unsaidSecond
		s.At, s.Took = at, took
		say(&s)
		return s
	}
	run := metrics.Run{Telemetry: metrics.Telemetry{ServerKind: "vLLM", Server: []metrics.ServerSecond{
		look(13*second, 2*second, func(s *metrics.ServerSecond) {
			s.Running, s.KVUsage, s.PrefixQueries, s.PrefixHits, s.HitRate = 20, 0.5, 300, 90, 0.1
			s.TTFT = metrics.ServerLatency{N: 3, Mean: 100 * ms}
			s.SpecDecode = &metrics.SpecDecode{Drafts: 10, AcceptedPerPosition: []int{6, 3}}
		}),
		look(9*second, second, func(s *metrics.ServerSecond) {
			s.Running, s.Preemptions = 1000, 7 // of the warm-up
			s.SpecDecode = &metrics.SpecDecode{Drafts: 1}
		}),
		look(11*second, 2*second, func(s *metrics.ServerSecond) { // half of it is
			s.Running, s.Waiting, s.Preemptions, s.PrefixQueries, s.PrefixHits = 8, math.Inf(1), 2, 100, 30
			s.TTFT = metrics.ServerLatency{N: 1, Mean: 200 * ms}
		}),
		look(14*second, second, func(s *metrics.ServerSecond) {
			s.Running, s.Preemptions, s.DraftTokens, s.AcceptedTokens = 1e300, 1, 0, 0
			s.SpecDecode = &metrics.SpecDecode{Drafts: 10, AcceptedPerPosition: []int{1, 0, 2}}
			s.TTFT, s.Queue = metrics.ServerLatency{N: math.NaN(), Mean: second},
				metrics.ServerLatency{N: 1e300, Mean: second}
		}),
	}}, Plan: metrics.Plan{Warmup: 10 * second}}
	got := reported(run, minute)
	want := &metrics.ServerReport{
		Kind: "vLLM", RunningMean: 16, RunningMost: 20, WaitingMean: unsaid, WaitingMost: unsaid, KVMean: 0.5,
		KVMost:      0.5,
		Preemptions: 3, PromptTokens: unsaid, OutputTokens: unsaid, HitRate: 0.3, Acceptance: unsaid,
		SpecDecode: metrics.SpecDecode{Drafts: 20, AcceptedPerPosition: []int{7, 3, 2}},
		TTFT:       metrics.ServerLatency{N: 4, Mean: 125 * ms},
	}
	assert.Same(t, "server", got, want, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(metrics.ServerReport{}, "Seconds"))
	if len(got.Seconds) != 4 || got.Seconds[0].At != 9*second || run.Server[0].At != 13*second {
		t.Errorf("seconds %v", got.Seconds)
	}
	rate := metrics.Run{Telemetry: metrics.Telemetry{
		Server: []metrics.ServerSecond{look(second, second, func(s *metrics.ServerSecond) { s.HitRate = 0.25 })}}}
	if got := reported(rate, minute); got.HitRate != 0.25 {
		t.Errorf("hit rate %v, want what the server gives", got.HitRate)
	}
	if reported(metrics.Run{}, 0) != nil ||
		reported(metrics.Run{Telemetry: metrics.Telemetry{ServerAbsent: "no such page"}}, 0) == nil {
		t.Error("a report of a server that nobody looked at, or none of one that did not answer")
	}
}

// The last sample comes without the load. Its counters belong to the run, its gauges do not.
func TestLevelsOfAShortRun(t *testing.T) {
	idle := metrics.ServerSecond{At: 820 * ms, Took: 300 * ms, OutputTokens: 40}
	first := metrics.ServerSecond{At: ms, OutputTokens: unsaid}
	for _, c := range []struct {
		name    string
		server  []metrics.ServerSecond
		running float64
		short   bool
	}{
		{"no look but the first and the last", []metrics.ServerSecond{first, idle}, unsaid, true},
		{"one in between", []metrics.ServerSecond{first, {At: 520 * ms, Took: 519 * ms, Running: 4}, idle}, 4, false},
		{"a server without levels",
			[]metrics.ServerSecond{{At: 820 * ms, Took: 300 * ms, Running: unsaid, Waiting: unsaid, KVUsage: unsaid}},
			unsaid, false},
	} {
		r := summarize(t, []metrics.Request{eventtest.Simple(0, 0, 400*ms, 10*ms, 3)},
			metrics.Run{End: metrics.End{Ended: 800 * ms}, Telemetry: metrics.Telemetry{Server: c.server}})
		s := r.Server
		if got := s.RunningMean; got != c.running && metrics.Said(c.running) ||
			metrics.Said(got) != metrics.Said(c.running) || metrics.Said(s.WaitingMost) != metrics.Said(c.running) {
			t.Errorf("%s: running %g, waiting at most %g, want %g running", c.name, got, s.WaitingMost, c.running)
		}
		assert.Equal(t, s.TooShort(), c.short, "%s: too short: %t", c.name, !c.short)
		if last := s.Seconds[len(s.Seconds)-1]; metrics.Said(c.running) &&
			(s.OutputTokens != 40 || !metrics.Said(last.Running)) {
			t.Errorf("%s: %g tokens, the last look %+v", c.name, s.OutputTokens, last)
		}
	}
}

// The client's mean TTFT for comparison with the server's is of the requests of the same samples, with failures after
// their first chunk and without those of the warm-up.
func TestServerTTFTHere(t *testing.T) {
	all := []metrics.Request{
		eventtest.Simple(0, 0, 900*ms, 10*ms, 3),      // before the looks that count
		eventtest.Simple(1, 800*ms, 700*ms, 10*ms, 3), // of the warm-up; its first chunk came after it
		eventtest.Simple(2, 2*second, 100*ms, ms, 3),  // fails
		eventtest.Simple(3, 3*second, 100*ms, ms, 3),
		eventtest.Simple(4, 5*second, time.Hour, ms, 3), // after the last look
	}
	all[2].Failure = metrics.FailedReset
	run := runOf(metrics.Plan{Warmup: second, Rate: 1}, 4*second)
	for at := second; at <= 4*second; at += second {
		run.Server = append(run.Server,
			metrics.ServerSecond{At: at, Took: second, TTFT: metrics.ServerLatency{N: 1, Mean: 290 * ms}})
	}
	r := summarize(t, all, run)
	if got := r.Server.First; got.N != 3 || got.MeanTTFT() != 300*ms || !r.ComparesTTFT() {
		t.Errorf("%+v, a mean of %s, compares: %t; want 3 of 300 ms", got, got.MeanTTFT(), r.ComparesTTFT())
	}
}

// A span has the figures of its samples alone.
func TestServerOver(t *testing.T) {
	var seconds []metrics.ServerSecond
	for i := range 10 {
		s := unsaidSecond
		s.At, s.Took = time.Duration(i+1)*second, second
		s.HitRate, s.Running, s.Preemptions = float64(i)/10, float64(i), 1
		seconds = append(seconds, s)
	}
	got := metrics.ServerOver(seconds, 4*second, 8*second)
	if !near(got.HitRate, 0.55) || got.Preemptions != 4 || got.RunningMean != 5.5 || got.RunningMost != 7 {
		t.Errorf("%+v, want the mean of the rate", got)
	}
}

func TestGPUsOver(t *testing.T) {
	var seconds []metrics.GPUSecond
	for i := range 10 {
		seconds = append(seconds,
			metrics.GPUSecond{At: time.Duration(i+1) * second, Took: second, GPUs: []metrics.GPU{{Power: float64(i)}}})
	}
	seconds = append(seconds, metrics.GPUSecond{At: 11 * second, Took: second, GPUs: []metrics.GPU{{Index: 7}}})
	got := metrics.GPUsOver(seconds, 2500*ms, 5*second, metrics.GPUWork{OutputTokens: 4, Length: time.Hour, Price: 2})
	if got.Energy != 1+3+4 || got.CostPerMillion.Output != 500_000 || got.Seen != 1 {
		t.Errorf("%+v", got)
	}
	if gpuReport(&metrics.Run{}, metrics.GPUWork{}) != nil ||
		gpuReport(&metrics.Run{Telemetry: metrics.Telemetry{GPUsAbsent: "no nvidia-smi"}}, metrics.GPUWork{}) == nil {
		t.Error("a report of GPUs without samples, or none of absent ones")
	}
}

// Samples of accelerators are reported in order of time, in whatever order they come.
func TestGPUSecondsAreInOrder(t *testing.T) {
	run := metrics.Run{Telemetry: metrics.Telemetry{GPUs: []metrics.GPUSecond{{At: 2 * second}, {At: second}}}}
	if r := gpuReport(&run, metrics.GPUWork{Length: minute}); r.Seconds[0].At != second || run.GPUs[0].At != 2*second {
		t.Errorf("reported %v of %v", r.Seconds, run.GPUs)
	}
}
