package metrics

import (
	"cmp"
	"slices"
)

// Judgement is what was found of an answer that had to have a form.
type Judgement struct {
	Judged bool
	// Wrong is why the answer is not right, in a few words; "" where it is. Detail says where, or is the beginning of
	// the answer: foreign text.
	Wrong, Detail string
	// Lenient: vLLM's benchmark of structured output calls the answer correct.
	Lenient bool
}

// Correct reports whether the answer had to have a form and has it.
func (j *Judgement) Correct() bool { return j.Judged && j.Wrong == "" }

// WrongAnswers are those that are wrong for one reason, with the details of the first request among them.
type WrongAnswers struct {
	Reason string
	Count  int
	Index  int
	Detail string // foreign text
}

// mostReasons bounds the reasons that are counted.
const mostReasons = 32

// WrongAccumulator accumulates WrongAnswers.
type WrongAccumulator []WrongAnswers

// Add takes the success with an index, the reason for which it is wrong, "" where it is not, and the detail.
func (a *WrongAccumulator) Add(index int, reason, detail string) {
	if reason == "" {
		return
	}
	i := slices.IndexFunc(*a, func(w WrongAnswers) bool { return w.Reason == reason })
	if i < 0 {
		if len(*a) == mostReasons {
			return
		}
		i = len(*a)
		*a = append(*a, WrongAnswers{Reason: reason, Index: index, Detail: detail})
	}
	w := &(*a)[i]
	if w.Count++; index < w.Index {
		w.Index, w.Detail = index, detail
	}
}

// Sorted are the wrong answers so far, those for the most frequent reason first.
func (a WrongAccumulator) Sorted() []WrongAnswers {
	return slices.SortedFunc(slices.Values(a), func(a, b WrongAnswers) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Reason, b.Reason))
	})
}
