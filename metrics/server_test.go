package metrics_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

// A sample joined with the one before has the later gauges and the changes of both.
func TestBehind(t *testing.T) {
	before := ServerSecond{Took: second, Running: 1, Preemptions: 2, PromptTokens: Unsaid(), PrefixQueries: 10,
		PrefixHits: 5,
		TTFT:       ServerLatency{N: 1, Mean: second}, Queue: ServerLatency{N: 2, Mean: second},
		First:      TTFTParts{N: 1, TTFT: second},
		SpecDecode: &SpecDecode{Drafts: 2, DraftTokens: 4, AcceptedTokens: 3, AcceptedPerPosition: []int{2, 1}}}
	s := ServerSecond{Took: second, Running: 3, Preemptions: Unsaid(), PromptTokens: 4, PrefixQueries: 10,
		PrefixHits: 10,
		TTFT:       ServerLatency{N: 3, Mean: 3 * second}, Prefill: ServerLatency{N: 1, Mean: second},
		First: TTFTParts{N: 3, TTFT: 7 * second}, SpecDecode: &SpecDecode{Drafts: 3, AcceptedPerPosition: []int{3}}}
	got := s.Behind(&before)
	if got.Took != 2*second || got.Running != 3 || got.Preemptions != 2 || got.PromptTokens != 4 ||
		got.HitRate != 0.75 {
		t.Errorf("%+v", got)
	}
	if got.TTFT != (ServerLatency{N: 4, Mean: 2500 * ms}) || got.Queue.N != 2 || got.Prefill.N != 1 ||
		got.First.MeanTTFT() != 2*second {
		t.Errorf("latencies %+v, %+v, %+v, %s", got.TTFT, got.Queue, got.Prefill, got.First.MeanTTFT())
	}
	want := &SpecDecode{Drafts: 5, DraftTokens: 4, AcceptedTokens: 3, AcceptedPerPosition: []int{5, 1}}
	if diff := cmp.Diff(want, got.SpecDecode); diff != "" || before.SpecDecode.Drafts != 2 || s.SpecDecode.Drafts != 3 {
		t.Errorf("drafts (-want +got):\n%s", diff)
	}
	assert.Equal(t, new(TTFTParts).MeanTTFT(), Never, "a mean of no requests")
}

// Facts of telemetry are filed by their type; others are not.
func TestTelemetry(t *testing.T) {
	var got Telemetry
	for _, fact := range []any{
		ServerSecond{At: 1}, GPUSecond{At: 2}, Source{Name: ServerCounters, Kind: "vLLM", Absent: "gone"},
		Source{Name: Accelerators, Absent: "none"},
	} {
		if !got.Take(fact) {
			t.Errorf("%T is not taken", fact)
		}
	}
	if got.Take(Phase{}) || len(got.Server) != 1 || len(got.GPUs) != 1 || got.ServerKind != "vLLM" ||
		got.ServerAbsent != "gone" || got.GPUsAbsent != "none" {
		t.Errorf("%+v", got)
	}
	short := ServerReport{RunningMean: Unsaid(), WaitingMean: Unsaid(), KVMean: Unsaid(), Seconds: got.Server}
	if !short.TooShort() || new(ServerReport).TooShort() {
		t.Error("a report without gauges of the run, but with samples, is too short")
	}
}
