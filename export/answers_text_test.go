package export

import (
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// A page says how many answers are garbage, and why only where the model may be the cause.
func TestGarbageOnPages(t *testing.T) {
	repeated := []metrics.WrongAnswers{{Reason: metrics.GarbageRepetition, Count: 3}}
	cut := []metrics.WrongAnswers{{Reason: metrics.GarbageCut, Count: 1}}
	for _, c := range []struct {
		checked   int
		garbage   []metrics.WrongAnswers
		sentences int
		first     string
	}{
		{0, nil, 0, ""}, {9, nil, 1, "Garbage: none in 6 answers."},
		{9, repeated, 2, "Garbage: 3 of 6 answers (50.0 %)"}, {9, cut, 1, "Garbage: 1 of 6 answers (16.6 %)"},
	} {
		r := metrics.Report{Plan: metrics.Plan{CheckAnswers: c.checked}, Garbage: c.garbage}
		r.Completed = 6
		rows := garbageTable(&r).Rows[len(c.garbage):]
		if assert.Equal(t, len(rows), c.sentences, "%+v", c); len(rows) > 0 {
			assert.Equal(t, rows[0][0].Text, c.first, "%+v", c)
		}
	}
}
