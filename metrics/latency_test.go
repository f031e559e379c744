package metrics

import (
	"encoding/json"
	"slices"
	"testing"

	"benchtop/internal/assert"
)

// Each latency has one complete row.
func TestLatencyTable(t *testing.T) {
	all := slices.Collect(Latencies())
	assert.Equal(t, len(all), int(NumLatencies), "rows for %d latencies", NumLatencies)
	for l := range NumLatencies {
		r, n := rows[l], l.Naming()
		switch {
		case r == nil:
			t.Fatalf("latency %d has no row", l)
		case (r.of == nil) != (r.known == atChunk) || (r.ofChunk == nil) != (r.known != atChunk):
			t.Errorf("%s: a formula for each request, or for each chunk", n.Title)
		case l < NumInWindow && l != Pace && (r.known == atReport || n.Title == "" || n.Short == "" || n.Nothing == ""):
			t.Errorf("%s: seconds keep it, so it is known live and has names on the screen", n.Title)
		case l < NumObjectives && (n.Key == "" || r.of == nil):
			t.Errorf("%s: an objective is named, and of a request", n.Title)
		case n.Second != "" && l >= NumInWindow:
			t.Errorf("%s: seconds do not keep it", n.Second)
		case (n.Key == "") != (n.Heading == "") || (n.Key == "") != (n.Label == ""):
			t.Errorf("%s: what flags take has a section", n.Key)
		case n.Key != "" && r.known == atReport:
			t.Errorf("%s: gates judge it live", n.Key)
		}
	}
}

func TestLatencyText(t *testing.T) {
	var got []Latency
	if err := json.Unmarshal([]byte(`["tpot","client_queue_time"]`), &got); err != nil ||
		!slices.Equal(got, []Latency{TPOT, SlotWait}) {
		t.Errorf("%v, %v", got, err)
	}
	if b, err := json.Marshal(Objective{Metric: E2EL, LimitMS: 5}); err != nil ||
		string(b) != `{"metric":"e2el","limit_ms":5}` {
		t.Errorf("%s, %v", b, err)
	}
	for _, text := range []string{`""`, `"TTFT"`, `"lateness"`} {
		if err := json.Unmarshal([]byte(text), new(Latency)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	assert.Equal(t, NumLatencies.Key(), "", "a latency that there is not has a key")
}
