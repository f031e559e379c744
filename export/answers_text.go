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
	if r.Judged == 0 {
		return nil
	}
	out := bufio.NewWriter(w) // keeps its error for Flush
	fmt.Fprintf(out, "\nCorrect answers: %d of %d (%s)", r.Correct, r.Judged,
		percent(metrics.Share(r.Correct, r.Judged)))
	if r.Lenient != r.Correct {
		fmt.Fprintf(out, "; %s by the rule of vLLM's benchmark", percent(metrics.Share(r.Lenient, r.Judged)))
	}
	fmt.Fprintln(out)
	for _, x := range r.Wrong {
		fmt.Fprintf(out, "%7d %s, as request %d", x.Count, text.Clean(x.Reason), x.Index)
		if x.Detail != "" {
			fmt.Fprintf(out, ": %s", text.Fit(text.Clean(x.Detail), textWidth/2))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
