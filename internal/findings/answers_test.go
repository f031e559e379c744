package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
)

// checked are so many answers compared with one prompt alone after the other, of which some changed.
func checked(alone, unsteady, compared, changed int, edit func(*metrics.AnswerCheck)) *metrics.AnswerChecks {
	var a metrics.AnswerChecks
	take := func(alone int, changed bool) {
		c := metrics.AnswerCheck{Alone: alone, InFlight: 4, Changed: changed, TPOT: metrics.Never, Common: 8, Of: 16,
			By: metrics.ByTokenIDs, Before: metrics.Unsaid(), Now: metrics.Unsaid()}
		if edit != nil && alone == 0 {
			edit(&c)
		}
		a.Take(&c)
	}
	for range alone {
		take(1, false)
	}
	for i := range alone {
		take(2, i < unsteady)
	}
	for i := range compared {
		take(0, i < changed)
	}
	return &a
}

// The finding is as grave as what is known, and the words say what is not.
func TestAnswers(t *testing.T) {
	tie := func(c *metrics.AnswerCheck) { c.Before, c.Now = -1, -1.1 }
	fault := func(c *metrics.AnswerCheck) { c.Before, c.Now = -0.01, -0.02 }
	for _, c := range []struct {
		name     string
		checks   *metrics.AnswerChecks
		tpot     time.Duration
		long     string
		severity Severity
		words    []string // among all
	}{
		{"nothing", nil, 0, "answers: no known prompt was answered alone", Note, []string{"nothing to compare with"}},
		{"never alike", checked(9, 9, 0, 0, nil), 0, "answers: not the same with itself alone", Note,
			[]string{"9 of 9 known prompts had two different answers alone"}},
		{"too short a run", checked(20, 0, 0, 0, nil), 0, "answers: none was compared under load", Note,
			[]string{"None was compared under load: a longer run"}},
		{"few and the same", checked(20, 0, 8, 0, nil), 0, "answers: 0 of 8 changed under load (0–32 %)", Note,
			[]string{"8 are few"}},
		{"the same", checked(20, 0, 40, 0, nil), 0, "answers: 0 of 40 changed under load (0–9 %)", Good, nil},
		{"ties", checked(20, 0, 40, 4, tie), 0, "answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"the same for 50 % of their length", "At the first difference of 4, two tokens were about"}},
		{"a fault", checked(20, 0, 40, 4, fault), 0, "answers: 4 of 40 changed under load (4–23 %)", Bad,
			[]string{"At the first difference of 4, one token was likely alone"}},
		{"a fault of a server that is unsteady alone", checked(20, 4, 40, 4, fault), 0,
			"answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"No more are shown to change under load than alone (4–23 %, 8–42 % alone)"}},
		{"text alone", checked(20, 0, 40, 4, nil), 0, "answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"At the first difference of 4, the log probabilities are not known"}},
		{"a cache", checked(20, 0, 40, 0, func(c *metrics.AnswerCheck) { c.TPOT = time.Millisecond }),
			10 * time.Millisecond, "answers: 0 of 40 changed under load (0–9 %), repeated ones from a cache", Bad,
			[]string{"these come from a cache of answers"}},
	} {
		r := &Run{Plan: &metrics.Plan{CheckAnswers: 20}, Over: true, Checks: c.checks, FastestTPOT: c.tpot}
		f, ok := r.answers()
		if !ok || f.Long != c.long || f.Severity != c.severity {
			t.Errorf("%s: %q, severity %d", c.name, f.Long, f.Severity)
		}
		all := strings.Join(r.AnswerWords(), " ")
		for _, words := range c.words {
			if !strings.Contains(all, words) {
				t.Errorf("%s: %q lacks %q", c.name, all, words)
			}
		}
		if known := !strings.Contains(all, "is not known: too few answers"); known != (c.tpot > 0) && c.checks != nil {
			t.Errorf("%s: %q", c.name, all)
		}
	}
	if _, ok := (&Run{Plan: &metrics.Plan{}, Over: true}).answers(); ok {
		t.Error("a run without the flag has the finding")
	}
}

func TestGarbage(t *testing.T) {
	all := []metrics.WrongAnswers{{Reason: metrics.GarbageRepetition, Count: 1200},
		{Reason: metrics.GarbageCut, Count: 1}}
	r := &Run{Plan: &metrics.Plan{}, Done: 9000, Garbage: all}
	f, _ := r.garbage()
	if f.Long != "garbage: 1,201 of 9,000 answers, mostly repetition" || f.Short != "1,201 garbage" {
		t.Errorf("%q, %q", f.Long, f.Short)
	}
	if words := GarbageWords(all, true); !strings.Contains(words, "Of repetition the model itself can be the cause") ||
		!strings.Contains(words, "ignore_eos") || GarbageWords(slices.Clone(all[1:]), true) != "" {
		t.Error(words)
	}
}
