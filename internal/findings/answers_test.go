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
	failed := func(c *metrics.AnswerCheck) { c.Failure, c.Error = metrics.FailedTimeout, "late" }
	odd := false
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
			[]string{"needs 20 compared answers, or five that changed; this run has 8"}},
		{"the same", checked(20, 0, 40, 0, nil), 0, "answers: 0 of 40 changed under load (0–9 %)", Good, nil},
		{"ties", checked(20, 0, 40, 4, tie), 0, "answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"the same for 50 % of their length", "Rounding may be the cause of 4 of 4",
				"A server that is invariant to batches has no such"}},
		{"a fault", checked(20, 0, 40, 4, fault), 0, "answers: 4 of 40 changed under load (4–23 %)", Bad,
			[]string{"Rounding does not explain 4 of 4"}},
		{"a fault of a server that is unsteady alone", checked(20, 4, 40, 4, fault), 0,
			"answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"No more are shown to change under load than alone (4–23 %, 8–42 % alone)"}},
		{"text alone", checked(20, 0, 40, 4, nil), 0, "answers: 4 of 40 changed under load (4–23 %)", Open,
			[]string{"The cause of 4 of 4 is not known"}},
		{"ties and faults", checked(20, 0, 40, 4, func(c *metrics.AnswerCheck) {
			if odd = !odd; odd {
				tie(c)
			} else {
				fault(c)
			}
		}), 0, "answers: 4 of 40 changed under load (4–23 %)", Bad,
			[]string{"Rounding may be the cause of 2 of 4: the two tokens at the first difference were about as " +
				"likely, and rounding depends on the batch. Rounding does not explain 2 of 4"}},
		{"failed beside the load", checked(20, 0, 3, 3, failed), 0, "answers: 3 of 3 failed under load", Bad,
			[]string{"3 requests with known prompts failed, the first with timeout: late.",
				"None was compared under load: all requests beside it failed."}},
		{"failed alone", &metrics.AnswerChecks{Failed: 6, Error: "http_status: cold"}, 0,
			"answers: no known prompt was answered alone", Note,
			[]string{"6 requests with known prompts failed, the first with http_status: cold. No known"}},
		{"failed the second time", &metrics.AnswerChecks{Sent: 3, Failed: 3}, 0,
			"answers: none was compared under load", Note, []string{"no prompt had the same answer twice alone"}},
		{"empty", &metrics.AnswerChecks{Sent: 3, Empty: 3}, 0, "answers: known answers are empty", Note,
			[]string{"3 of 3 known prompts had empty answers, which leave nothing to compare. Whether"}},
		{"drawn", &metrics.AnswerChecks{Sent: 9, Repeated: 9, Unsteady: 4, Sampled: true, NoTies: 9,
			ChangedShare: metrics.ChangedShare{Compared: 9, Changed: 9}}, 0,
			"answers: 9 of 9 changed under load (70–100 %), sampled", Note,
			[]string{"a change tells nothing. Alone 4 of 9 known prompts had two different ones"}},
		{"drawn alone", &metrics.AnswerChecks{Sent: 4, Repeated: 4, Unsteady: 4, Sampled: true}, 0,
			"answers: not compared, as the server refuses temperature 0", Note, nil},
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
		if known := !strings.Contains(all, "is not known: too few answers"); known != (c.tpot > 0) && c.checks != nil &&
			c.checks.Sent > 0 {
			t.Errorf("%s: %q", c.name, all)
		}
	}
	if _, ok := (&Run{Plan: &metrics.Plan{}, Over: true}).answers(); ok {
		t.Error("a run without the flag has the finding")
	}
}

// Times of slow readers tell nothing of a cache of the server's.
func TestSlowReadersCache(t *testing.T) {
	checks := checked(20, 0, 40, 0, func(c *metrics.AnswerCheck) { c.TPOT = time.Millisecond })
	for rate, want := range map[string]bool{"": true, "20tok/s": false} {
		report := metrics.Report{Plan: metrics.Plan{CheckAnswers: 20, ReadRate: rate}, Checks: checks}
		report.Statistics[metrics.TPOT].Min = 50
		r := OfReport(&report)
		cached, known := r.cached()
		if said := strings.Contains(strings.Join(r.AnswerWords(), " "), "with --read-rate"); cached != want ||
			known != want || said == want {
			t.Errorf("read rate %q: cached %v, known %v, said %v", rate, cached, known, said)
		}
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
	if words := GarbageWords(all, true); !strings.Contains(words, "may be the cause of repetition: ") ||
		!strings.Contains(words, "ignore_eos") || GarbageWords(slices.Clone(all[1:]), true) != "" {
		t.Error(words)
	}
}
