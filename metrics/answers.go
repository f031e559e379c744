package metrics

import (
	"cmp"
	"slices"
)

// Judgement is what was found of an answer that had to have a form.
type Judgement struct {
	Judged bool
	// Wrong is why the answer is not right, in a few words; "" where it is. Detail says where, or is the beginning of the answer: foreign text.
	Wrong, Detail string
	// Lenient: vLLM's benchmark of structured output calls the answer correct.
	Lenient bool
}

// AnswerReport counts the answers that were judged. Only successes are.
type AnswerReport struct {
	Judged, Correct int
	// Lenient is the number of answers that are correct by the rule of vLLM's benchmark.
	Lenient int
	// Wrong are the reasons, the most frequent first.
	Wrong []WrongAnswers
}

// Rate is the share of correct answers.
func (r *AnswerReport) Rate() float64 { return float64(r.Correct) / float64(r.Judged) }

// WrongAnswers are those that are wrong for one reason, with the details of the first request among them.
type WrongAnswers struct {
	Reason string
	Count  int
	Index  int
	Detail string // foreign text
}

// mostReasons bounds the reasons that are counted.
const mostReasons = 32

// AnswerAccumulator accumulates an AnswerReport.
type AnswerAccumulator struct{ r AnswerReport }

// Add counts a success.
func (a *AnswerAccumulator) Add(q *Request) {
	v := &q.Judgement
	if !v.Judged {
		return
	}
	a.r.Judged++
	if v.Lenient {
		a.r.Lenient++
	}
	if v.Wrong == "" {
		a.r.Correct++
		return
	}
	i := slices.IndexFunc(a.r.Wrong, func(w WrongAnswers) bool { return w.Reason == v.Wrong })
	if i < 0 {
		if len(a.r.Wrong) == mostReasons {
			return
		}
		i = len(a.r.Wrong)
		a.r.Wrong = append(a.r.Wrong, WrongAnswers{Reason: v.Wrong, Index: q.Index, Detail: v.Detail})
	}
	w := &a.r.Wrong[i]
	if w.Count++; q.Index < w.Index {
		w.Index, w.Detail = q.Index, v.Detail
	}
}

// Report is that of the answers so far, nil where none was judged.
func (a *AnswerAccumulator) Report() *AnswerReport {
	if a.r.Judged == 0 {
		return nil
	}
	r := a.r
	r.Wrong = slices.Clone(r.Wrong)
	slices.SortFunc(r.Wrong, func(a, b WrongAnswers) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Reason, b.Reason)) })
	return &r
}
