package metrics

import (
	"bytes"
	"encoding/gob"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHistogramInBinary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		var h, back Histogram
		for range n {
			h.Add(time.Duration(math.Exp(r.Float64()*45)) - 1)
		}
		b, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := back.UnmarshalBinary(b); err != nil || !compareHistograms(h, back) {
			t.Errorf("%d values: %v, %d of them came back", n, err, back.Count())
		}
	}
}

func FuzzHistogramInBinary(f *testing.F) {
	var h Histogram
	for _, ms := range []int{0, 1, 40, 40, 41, 90000} {
		h.Add(time.Duration(ms) * time.Millisecond)
	}
	b, _ := h.MarshalBinary()
	f.Add(b)
	f.Add([]byte{histogramForm, 0})
	f.Add([]byte{histogramForm, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Histogram
		if h.UnmarshalBinary(b) != nil {
			return
		}
		h.Quantile(0.99)
		h.Mean()
		h.Add(time.Second)
		b, _ = h.MarshalBinary()
		if err := again.UnmarshalBinary(b); err != nil || !compareHistograms(h, again) {
			t.Errorf("%v: %d came back of %d", err, again.Count(), h.Count())
		}
	})
}

// A snapshot travels through gob whole.
func TestSnapshotTravels(t *testing.T) {
	plan := Plan{Rate: Rate(math.Inf(1)), Goodput: SLO{{TTFT, 700}}, Percentiles: []float64{99}}
	rec := NewRecorder(time.Now(), &plan)
	all := drawRun(3, 80)
	rec.Server(ServerSecond{At: time.Second, Running: 3, Waiting: Unsaid()})
	rec.Log(LogEntry{Text: "34 req/s", Mark: "34", Set: &LoadSetting{Rate: 34, By: ByHand}, Objectives: &SLO{{TPOT, 5}}})
	rec.Look(Look{Rows: true, Open: 8})
	play(rec, all)
	rec.Judge()
	report, err := Summarize(yield(all), Run{Plan: plan, Ended: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	rec.Finish(&report)
	want := rec.Snapshot()
	if len(want.Requests) != 80 || want.Opened == nil || len(want.Windows) < 10 || want.Answer == nil {
		t.Fatal("too little to compare")
	}
	var wire bytes.Buffer
	var got Snapshot
	if err := gob.NewEncoder(&wire).Encode(want); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&wire).Decode(&got); err != nil {
		t.Fatal(err)
	}
	options := []cmp.Option{cmp.Comparer(compareHistograms), cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Request{})}
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("(-sent +received):\n%s", diff)
	}
}
