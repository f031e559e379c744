package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var unsaidSecond = ServerSecond{
	Running: Unsaid(), Waiting: Unsaid(), KVUsage: Unsaid(), Preemptions: Unsaid(), PrefixQueries: Unsaid(), PrefixHits: Unsaid(),
	HitRate: Unsaid(), PromptTokens: Unsaid(), OutputTokens: Unsaid(), DraftTokens: Unsaid(), AcceptedTokens: Unsaid(),
}

func reported(run Run, ended time.Duration) *ServerReport {
	return run.serverReport(looksAt(run.Server), ended)
}

func TestServerReport(t *testing.T) {
	look := func(at, took time.Duration, say func(*ServerSecond)) ServerSecond {
		s := unsaidSecond
		s.At, s.Took = at, took
		say(&s)
		return s
	}
	run := Run{ServerKind: "vLLM", Plan: Plan{Warmup: 10 * time.Second}, Server: []ServerSecond{
		look(13*time.Second, 2*time.Second, func(s *ServerSecond) {
			s.Running, s.KVUsage, s.PrefixQueries, s.PrefixHits, s.HitRate = 20, 0.5, 300, 90, 0.1
			s.TTFT = ServerLatency{3, 100 * time.Millisecond}
		}),
		look(9*time.Second, time.Second, func(s *ServerSecond) { s.Running, s.Preemptions = 1000, 7 }), // of the warm-up
		look(11*time.Second, 2*time.Second, func(s *ServerSecond) { // half of it is
			s.Running, s.Waiting, s.Preemptions, s.PrefixQueries, s.PrefixHits = 8, math.Inf(1), 2, 100, 30
			s.TTFT = ServerLatency{1, 200 * time.Millisecond}
		}),
		look(14*time.Second, time.Second, func(s *ServerSecond) {
			s.Running, s.Preemptions, s.DraftTokens, s.AcceptedTokens = 1e300, 1, 0, 0
			s.TTFT, s.Queue = ServerLatency{math.NaN(), time.Second}, ServerLatency{1e300, time.Second}
		}),
	}}
	got := reported(run, time.Minute)
	want := &ServerReport{
		Kind: "vLLM", RunningMean: 16, RunningMost: 20, WaitingMean: Unsaid(), WaitingMost: Unsaid(), KVMean: 0.5, KVMost: 0.5,
		Preemptions: 3, PromptTokens: Unsaid(), OutputTokens: Unsaid(), HitRate: 0.3, Acceptance: Unsaid(),
		TTFT: ServerLatency{4, 125 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(ServerReport{}, "Seconds")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Seconds) != 4 || got.Seconds[0].At != 9*time.Second || run.Server[0].At != 13*time.Second {
		t.Errorf("seconds %v", got.Seconds)
	}
	rate := Run{Server: []ServerSecond{look(time.Second, time.Second, func(s *ServerSecond) { s.HitRate = 0.25 })}}
	if got := reported(rate, time.Minute); got.HitRate != 0.25 {
		t.Errorf("hit rate %v, want what the server gives", got.HitRate)
	}
	if reported(Run{}, 0) != nil || reported(Run{ServerAbsent: "no such page"}, 0) == nil {
		t.Error("a report of a server that nobody looked at, or none of one that did not answer")
	}
}

// The look that ends a run comes when the load is gone. Its counters tell of the run, its levels do not.
func TestLevelsOfAShortRun(t *testing.T) {
	const ms = time.Millisecond
	idle := ServerSecond{At: 820 * ms, Took: 300 * ms, OutputTokens: 40}
	first := ServerSecond{At: ms, OutputTokens: Unsaid()}
	for _, c := range []struct {
		name    string
		server  []ServerSecond
		running float64
		short   bool
	}{
		{"no look but the first and the last", []ServerSecond{first, idle}, Unsaid(), true},
		{"one in between", []ServerSecond{first, {At: 520 * ms, Took: 519 * ms, Running: 4}, idle}, 4, false},
		{"a server without levels", []ServerSecond{{At: 820 * ms, Took: 300 * ms, Running: Unsaid(), Waiting: Unsaid(), KVUsage: Unsaid()}}, Unsaid(), false},
	} {
		r, err := Summarize(yield([]Request{simple(0, 0, 400*ms, 10*ms, 3)}), Run{Ended: 800 * ms, Server: c.server})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Server
		if got := s.RunningMean; got != c.running && Said(c.running) || Said(got) != Said(c.running) || Said(s.WaitingMost) != Said(c.running) {
			t.Errorf("%s: running %g, waiting at most %g, want %g running", c.name, got, s.WaitingMost, c.running)
		}
		if s.TooShort() != c.short {
			t.Errorf("%s: too short: %t", c.name, !c.short)
		}
		if last := s.Seconds[len(s.Seconds)-1]; Said(c.running) && (s.OutputTokens != 40 || !Said(last.Running)) {
			t.Errorf("%s: %g tokens, the last look %+v", c.name, s.OutputTokens, last)
		}
	}
}

// The client's mean TTFT beside the server's is of the requests that the same looks tell of: those that failed after their first
// chunk, and those of the warm-up, which are in no other figure.
func TestServerTTFTHere(t *testing.T) {
	const ms = time.Millisecond
	all := []Request{
		simple(0, 0, 900*ms, 10*ms, 3),          // before the looks that count
		simple(1, 800*ms, 700*ms, 10*ms, 3),     // of the warm-up; its first chunk came after it
		simple(2, 2*time.Second, 100*ms, ms, 3), // fails
		simple(3, 3*time.Second, 100*ms, ms, 3),
		simple(4, 5*time.Second, time.Hour, ms, 3), // after the last look
	}
	all[2].Failure = FailedReset
	run := Run{Plan: Plan{Warmup: time.Second, Rate: 1}, Ended: 4 * time.Second}
	for at := time.Second; at <= 4*time.Second; at += time.Second {
		run.Server = append(run.Server, ServerSecond{At: at, Took: time.Second, TTFT: ServerLatency{N: 1, Mean: 290 * ms}})
	}
	r, err := Summarize(yield(all), run)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Server.First; got.N != 3 || got.MeanTTFT() != 300*ms || !r.ComparesTTFT() {
		t.Errorf("%+v, a mean of %s, compares: %t; want 3 of 300 ms", got, got.MeanTTFT(), r.ComparesTTFT())
	}
}

// What answers tell of the prefix cache is summed up, live and in the report, and is never more than the prompts.
func TestCachedTokens(t *testing.T) {
	const ms = time.Millisecond
	all := []Request{simple(0, 0, ms, ms, 2), simple(1, 2*time.Second, ms, ms, 2), simple(2, 2*time.Second, ms, ms, 2), simple(3, 2*time.Second, ms, ms, 2)}
	for i, cached := range []int{90, 30, 1000, 50} {
		all[i].InputTokens, all[i].CachedTokens = 100, cached
	}
	all[3].Failure = FailedReset
	plan := Plan{Warmup: time.Second}
	recorder := NewRecorder(time.Now(), &plan)
	for i := range all {
		q := all[i]
		recorder.line.replay(&q)
	}
	r, err := Summarize(yield(all), Run{Plan: plan, Ended: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := recorder.Snapshot()
	if r.CachedTokens != 130 || s.Totals.CachedTokens != 130 || r.InputTokens != 200 {
		t.Errorf("report %d of %d, live %d; want 130 of 200", r.CachedTokens, r.InputTokens, s.Totals.CachedTokens)
	}
	if w := s.Windows[2]; w.CachedTokens != 130 || w.PromptTokens != 200 {
		t.Errorf("second 2: %d of %d", w.CachedTokens, w.PromptTokens)
	}
}

// What a span shows is the report's as if it were the run.
func TestServerOver(t *testing.T) {
	var seconds []ServerSecond
	for i := range 10 {
		s := unsaidSecond
		s.At, s.Took = time.Duration(i+1)*time.Second, time.Second
		s.HitRate, s.Running, s.Preemptions = float64(i)/10, float64(i), 1
		seconds = append(seconds, s)
	}
	got := ServerOver(seconds, 4*time.Second, 8*time.Second)
	want := reported(Run{Server: seconds[:8], Plan: Plan{Warmup: 4 * time.Second}}, time.Minute)
	want.Seconds = nil
	if diff := cmp.Diff(*want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if math.Abs(got.HitRate-0.55) > 1e-9 || got.Preemptions != 4 {
		t.Errorf("%+v, want the mean of the rate", got)
	}
}

func TestGPUsOver(t *testing.T) {
	var seconds []GPUSecond
	for i := range 10 {
		seconds = append(seconds, GPUSecond{At: time.Duration(i+1) * time.Second, Took: time.Second, GPUs: []GPU{{Power: float64(i)}}})
	}
	seconds = append(seconds, GPUSecond{At: 11 * time.Second, Took: time.Second, GPUs: []GPU{{Index: 7}}})
	got := GPUsOver(seconds, 2500*time.Millisecond, 5*time.Second, GPUWork{OutputTokens: 4, Length: time.Hour, Price: 2})
	want := (&Run{GPUs: seconds[:5], Plan: Plan{Warmup: 2500 * time.Millisecond, GPUPrice: 2}}).gpuReport(4, time.Hour)
	want.Seconds = nil
	if diff := cmp.Diff(*want, got, cmpopts.EquateNaNs()); diff != "" || got.Energy != 1+3+4 || got.CostPerMillion != 500_000 {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
}

func TestGPUReport(t *testing.T) {
	gpu := func(index int, use, power float64) GPU {
		return GPU{Index: index, Name: "H100", Use: use, Power: power, MemoryUsed: Unsaid(), Temperature: 60 + float64(index)}
	}
	run := Run{Plan: Plan{Warmup: 2 * time.Second, GPUPrice: 3}, GPUs: []GPUSecond{
		{At: 2 * time.Second, Took: time.Second, GPUs: []GPU{gpu(2, 1, 9999), gpu(3, 1, 9999)}}, // of the warm-up
		{At: 3 * time.Second, Took: time.Second, GPUs: []GPU{gpu(2, 0.5, 300), gpu(3, 1, 500)}},
		{At: 6 * time.Second, Took: 3 * time.Second, GPUs: []GPU{gpu(2, 0.5, 400), gpu(3, 0.5, Unsaid())}},
		{At: 7 * time.Second, Took: time.Second, GPUs: []GPU{gpu(2, Unsaid(), 1e300), {Index: -1}, {Index: 1 << 40}}},
	}}
	got := run.gpuReport(1000, 8*time.Second) // of which half was looked at
	want := &GPUReport{
		Names: []string{"", "", "H100", "H100"}, UseMean: (0.5 + 1 + 3*0.5 + 3*0.5) / 8, Energy: 800 + 1200, LookedAt: 4 * time.Second,
		PowerMean: (300+3*400)/4 + 500, Seen: 2, Powered: 2, // one of them told it for a part of the time
		MemoryMost: Unsaid(), TemperatureMost: 63, JoulesPerToken: 7, CostPerMillion: 3 * 2 * (8 * time.Second).Hours() * 1e6 / 1000,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(GPUReport{}, "Seconds")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.LooksMiss(8*time.Second) || !got.LooksMiss(4100*time.Millisecond) || got.LooksMiss(4080*time.Millisecond) {
		t.Errorf("4 s are taken for 8 or 4.1, or not for 4.08: %+v", got)
	}
	for _, s := range run.GPUs {
		s.GPUs[1].Power = Unsaid()
	}
	if got := run.gpuReport(1000, 8*time.Second); got.PowerMean != 375 || got.Seen != 2 || got.Powered != 1 {
		t.Errorf("one that never tells: %g W of %d of %d", got.PowerMean, got.Powered, got.Seen)
	}
	run.Plan.GPUPrice = 0
	if got := run.gpuReport(0, time.Hour); Said(got.JoulesPerToken) || Said(got.CostPerMillion) || !Said(got.Energy) {
		t.Errorf("no tokens, no price: %+v", got)
	}
	if (&Run{}).gpuReport(1, 1) != nil || (&Run{GPUsAbsent: "no nvidia-smi"}).gpuReport(1, 1) == nil {
		t.Error("a report of GPUs that nobody looked at, or none of absent ones")
	}
}
