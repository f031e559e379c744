package export

import (
	"fmt"
	"strings"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Answers says how many answers had the form that they had to have, and why others had not. The text starts with an
// empty line; it is empty where no answer was judged.
func Answers(r metrics.Report) string {
	if r.Judged == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\nCorrect answers: %d of %d (%s)", r.Correct, r.Judged,
		percent(metrics.Share(r.Correct, r.Judged)))
	if r.Lenient != r.Correct {
		fmt.Fprintf(&out, "; %s by the rule of vLLM's benchmark", percent(metrics.Share(r.Lenient, r.Judged)))
	}
	out.WriteByte('\n')
	for _, x := range r.Wrong {
		fmt.Fprintf(&out, "%7d %s, as request %d", x.Count, text.Clean(x.Reason), x.Index)
		if x.Detail != "" {
			fmt.Fprintf(&out, ": %s", text.Fit(text.Clean(x.Detail), textWidth/2))
		}
		out.WriteByte('\n')
	}
	return out.String()
}
