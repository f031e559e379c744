package metrics

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// The bounds are those that R's prop.test gives without its correction.
func TestChangedShareBounds(t *testing.T) {
	for _, c := range []struct {
		compared, changed int
		low, high         float64
	}{
		{0, 0, 0, 1}, {20, 0, 0, 0.16113}, {1, 1, 0.20655, 1}, {40, 4, 0.03958, 0.23053}, {400, 4, 0.00390, 0.02541},
	} {
		low, high := ChangedShare{c.compared, c.changed}.Bounds()
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.5f to %.5f, want %.5f to %.5f", c.changed, c.compared, low, high, c.low, c.high)
		}
	}
}

// Rounding explains a change between two tokens that were about as likely, and none of a likely one.
func TestTie(t *testing.T) {
	for _, c := range []struct {
		changed     bool
		before, now float64
		tie, known  bool
	}{
		{true, -0.8, -0.9, true, true},
		{true, -9, -9.1, true, true},
		{true, -0.1, -0.1, false, true}, // both had more than half
		{true, -0.8, -3, false, true},
		{true, Unsaid(), -1, false, false},
		{false, -0.8, -0.9, false, false},
	} {
		check := AnswerCheck{Changed: c.changed, Before: c.before, Now: c.now}
		if tie, known := check.Tie(); tie != c.tie || known != c.known {
			t.Errorf("%+v: tie %v, known %v", c, tie, known)
		}
	}
}

// Checks are counted by what they tell: alone, beside the load, failed, and by load.
func TestAnswerChecks(t *testing.T) {
	var a AnswerChecks
	check := func(alone, flying int, changed bool) {
		c := AnswerCheck{Alone: alone, InFlight: flying, By: ByText, Changed: changed, Common: 4, Of: 16, Tokens: 10,
			TPOT: Never, Before: Unsaid(), Now: Unsaid()}
		if alone == 1 {
			c.By = ""
		}
		a.Take(&c)
	}
	for range 3 {
		check(1, 0, false)
	}
	check(2, 0, false)
	check(2, 0, true)
	for _, flying := range []int{0, 1, 2, 3, 4, 9, 15, 1 << 40} {
		check(0, flying, flying > 3)
	}
	a.Take(&AnswerCheck{Failure: FailedStatus, TPOT: Never})
	a.Take(&AnswerCheck{Alone: 2, Failure: FailedStatus, TPOT: Never})
	a.Take(&AnswerCheck{Alone: 2, TPOT: Never, Sampled: true}) // an empty one
	if a.Sent != 3 || a.Unsteady != 1 || a.Failed != 2 || a.FailedBeside != 1 || a.Empty != 1 || !a.Sampled ||
		a.Beside != 9 || a.Tokens != 80 || a.Compared != 8 ||
		a.Changed != 4 || a.Ties != 0 || a.NoTies != 0 || a.CommonShare() != 0.25 {
		t.Errorf("%+v", a)
	}
	want := []CheckLevel{
		{0, 0, ChangedShare{1, 0}}, {1, 1, ChangedShare{1, 0}}, {2, 3, ChangedShare{2, 0}}, {4, 7, ChangedShare{1, 1}},
		{8, 15, ChangedShare{2, 2}}, {1 << 30, 1<<31 - 1, ChangedShare{1, 1}},
	}
	got := a.Levels()
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("levels %+v, want %+v", got, want)
		}
	}
}

// An answer from a cache is told by a time per output token that no other answer of its length had, and never by TTFT.
func TestCachedAnswers(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name                 string
		first, again, beside []time.Duration
		load                 time.Duration
		cached, known        bool
	}{
		{"as before", repeat(8*ms, 5), repeat(8*ms, 5), repeat(20*ms, 9), 15 * ms, false, true},
		{"a little faster", repeat(8*ms, 5), repeat(3*ms, 5), repeat(20*ms, 9), 15 * ms, false, true},
		{"from a cache", repeat(8*ms, 5), repeat(ms/10, 5), nil, 0, true, true},
		{"cached by an earlier run", repeat(ms/10, 5), repeat(ms/10, 5), repeat(ms/10, 9), 15 * ms, true, true},
		{"two of five", repeat(8*ms, 5), append(repeat(ms/10, 2), repeat(8*ms, 3)...), nil, 0, false, true},
		{"too few", repeat(8*ms, 2), repeat(ms/10, 2), repeat(ms/10, 4), 15 * ms, false, false},
		{"at once", repeat(Never, 5), repeat(Never, 5), repeat(Never, 5), 0, false, false},
	} {
		var a AnswerChecks
		for alone, all := range map[int][]time.Duration{1: c.first, 2: c.again, 0: c.beside} {
			for _, d := range all {
				a.Take(&AnswerCheck{Alone: alone, TPOT: d, InFlight: 4})
			}
		}
		if cached, known := a.Cached(c.load); cached != c.cached || known != c.known {
			t.Errorf("%s: cached %v, known %v", c.name, cached, known)
		}
	}
}

func repeat(d time.Duration, n int) (all []time.Duration) {
	for range n {
		all = append(all, d)
	}
	return all
}

// A gate on changed answers is unknown, and so missed, with few of them.
func TestGateOnChangedAnswers(t *testing.T) {
	g := assert.Must(ParseGate("changed_answers>1%"))(t)
	for _, c := range []struct {
		checks        *AnswerChecks
		known, missed bool
	}{
		{nil, false, true},
		{&AnswerChecks{ChangedShare: ChangedShare{19, 0}}, false, true},
		{&AnswerChecks{ChangedShare: ChangedShare{20, 0}}, true, false},
		{&AnswerChecks{ChangedShare: ChangedShare{100, 1}}, true, false},
		{&AnswerChecks{ChangedShare: ChangedShare{100, 2}}, true, true},
		{&AnswerChecks{ChangedShare: ChangedShare{8, 7}}, true, true},
		{&AnswerChecks{ChangedShare: ChangedShare{100, 0}, Sampled: true}, false, true},
	} {
		r := Report{Plan: Plan{Gates: []Gate{g}}, Checks: c.checks}
		if got := r.CheckGates()[0]; got.Known != c.known || got.Missed != c.missed {
			t.Errorf("%+v: %+v", c.checks, got)
		}
	}
}
