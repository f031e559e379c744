package run

import (
	"context"
	"math"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/answers"
	"benchtop/internal/assert"
	"benchtop/internal/simulator"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// Answers that change under load are found by how many requests are in flight, at a hundredth of the load's tokens at
// most; an honest server has none. The report of the run, its live view and that of its journal say the same.
func TestAnswersUnderLoad(t *testing.T) {
	broken := assert.Must(simulator.ParseFault("loop=6,after=3"))(t)
	unsteady, err := simulator.ParseFault("loop,after=3,from=21,to=25") // second answers alone
	assert.Fine(t, err)
	for _, c := range []struct {
		name              string
		faults            []simulator.Fault
		changed, unsteady int // at least
		garbage           bool
	}{
		{"honest", nil, 0, 0, false},
		{"broken under load", []simulator.Fault{broken}, 20, 0, true},
		{"unsteady alone", []simulator.Fault{unsteady}, 0, 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20
				plan := metrics.Plan{MaxConcurrency: 8, Duration: time.Minute, CheckAnswers: n,
					Rate: metrics.Rate(math.Inf(1)), Backend: "openai"}
				config := chunked(t, plan, 1, 64, c.faults...)
				config.Load.Garbage = plan.Garbage
				config.Answers = answers.New(config.Load, nil, n, 7)
				if note := config.Answers.Alone(context.Background(), func(int, int) {}); note != "" {
					t.Error(note)
				}
				r := begin(t, config)
				run := measureAll(t, r)
				all := assert.Must(report.Of(r.journal.Events()))(t)
				folded := assert.Must(r.fold.Report(r.journal.Source()))(t)
				a := all.Checks
				shown := r.view.Snapshot()
				if !reflect.DeepEqual(a, folded.Checks) || !reflect.DeepEqual(a, run.Checks) ||
					!reflect.DeepEqual(a, shown.Checks) {
					t.Errorf("journal %+v, run %+v, view %+v", a, folded.Checks, shown.Checks)
				}
				if !reflect.DeepEqual(all.Garbage, folded.Garbage) || !reflect.DeepEqual(all.Garbage, shown.Garbage) {
					t.Errorf("journal %+v, run %+v, view %+v", all.Garbage, folded.Garbage, shown.Garbage)
				}
				if a.Sent != n || a.Failed != 0 || a.Compared < metrics.EnoughChecks || a.By != metrics.ByTokenIDs {
					t.Fatalf("%+v", a)
				}
				if share := float64(a.Tokens) / float64(all.InputTokens+all.OutputTokens); share > 0.01 {
					t.Errorf("checks cost %.4f of the tokens", share)
				}
				if a.Changed < c.changed || c.changed == 0 && a.Changed > 0 || a.Unsteady != c.unsteady {
					t.Errorf("%d of %d changed, %d unsteady", a.Changed, a.Compared, a.Unsteady)
				}
				assert.Equal(t, len(all.Garbage) > 0, c.garbage, "garbage %+v", all.Garbage)
				if cached, known := a.Cached(0); cached || !known {
					t.Errorf("cached %v, known %v", cached, known)
				}
				levels := a.Levels()
				if last := levels[len(levels)-1]; last.From != 8 || last.Compared < 10 {
					t.Errorf("levels %+v", levels)
				}
			})
		})
	}
}

// A run is as long with checks as without, and a check that its end cuts is not counted.
func TestAnswersNeverProlongARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := metrics.Plan{MaxConcurrency: 1, Duration: 10 * time.Second, CheckAnswers: 2,
			Rate: metrics.Rate(math.Inf(1))}
		config := chunked(t, plan, 1, 64)
		config.Answers = answers.New(config.Load, nil, 2, 7)
		config.Answers.Alone(context.Background(), func(int, int) {})
		run := measureAll(t, begin(t, config))
		without := measureAll(t, begin(t, chunked(t, plan, 1, 64)))
		if late := run.Ended - without.Ended; late > time.Second || run.Checks.Failed > 0 {
			t.Errorf("%s longer, checks %+v", late, run.Checks)
		}
	})
}
