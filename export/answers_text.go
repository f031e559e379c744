package export

import (
	"bufio"
	"fmt"
	"io"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Answers writes how many answers had the form that they had to have, and why others had not. The text starts with an empty line; it is empty where no
// answer was judged.
func Answers(w io.Writer, r metrics.Report) error {
	a := r.Answers
	if a == nil {
		return nil
	}
	out := bufio.NewWriter(w) // keeps its error for Flush
	fmt.Fprintf(out, "\nCorrect answers: %d of %d (%s)", a.Correct, a.Judged, percent(a.Rate()))
	if a.Lenient != a.Correct {
		fmt.Fprintf(out, "; %s by the rule of vLLM's benchmark", percent(float64(a.Lenient)/float64(a.Judged)))
	}
	fmt.Fprintln(out)
	for _, x := range a.Wrong {
		fmt.Fprintf(out, "%7d %s, as request %d", x.Count, text.Clean(x.Reason), x.Index)
		if x.Detail != "" {
			fmt.Fprintf(out, ": %s", text.Fit(text.Clean(x.Detail), textWidth/2))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func (t *remarks) refusals() {
	if n := t.r.Refusals; n > 0 {
		t.add("Refusals: %d of %s. The figures count them as answers.", n, text.Count(t.r.Completed, "successful request"))
	}
}

// answers counts the refusals, and the answers that were judged, where there are any.
func answers(r *metrics.Report) (o object) {
	if r.Refusals > 0 {
		o = append(o, field{"refusals", r.Refusals})
	}
	a := r.Answers
	if a == nil {
		return o
	}
	return append(o, field{"answers", object{
		{"judged", a.Judged}, {"correct", a.Correct}, {"correct_rate", a.Rate()}, {"vllm_correct_rate", float64(a.Lenient) / float64(a.Judged)},
		{"wrong", each(a.Wrong, func(x *metrics.WrongAnswers) object {
			return object{{"reason", x.Reason}, {"count", x.Count}, {"index", x.Index}, {"detail", x.Detail}}
		})},
	}})
}
