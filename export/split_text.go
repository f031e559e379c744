package export

import (
	"fmt"
	"math"
	"strings"
	"time"

	"benchtop/metrics"
)

// part of the time until the first chunk.
type part struct {
	name   string
	letter byte
	took   time.Duration
}

// partsOf are in order of time; those that nobody knows are not among them.
func partsOf(s *metrics.TTFTSplit) []part {
	parts := []part{
		{"Held", 'H', s.SlotWait}, {"Connect", 'C', s.Connect},
		{"Queue", 'Q', s.Queue}, {"Prefill", 'P', s.Prefill}, {"Rest", 'R', s.Rest},
	}
	if s.Queue < 0 && s.Prefill < 0 {
		parts = append(parts[:2:2], part{"Unknown", 'U', s.Rest})
	}
	known := parts[:0]
	for _, p := range parts {
		if p.took >= 0 {
			known = append(known, p)
		}
	}
	return known
}

// saysSplit: where nobody tells what the server did, only a wait on this side of it is worth a line, and that its page told of
// a part of the run alone.
func saysSplit(r *metrics.Report) bool {
	s := &r.Split
	if s.N == 0 {
		return false
	}
	told := s.Source == metrics.SplitByRequests || s.Source == metrics.SplitByMetrics
	return told || toldOfAPart(r) || max(s.SlotWait, s.Connect) >= shortestSlotWait*time.Millisecond
}

// toldOfAPart reports whether the server's page told something of the parts, but not of enough requests.
func toldOfAPart(r *metrics.Report) bool {
	return r.Split.Source == metrics.SplitUnknown && r.Server != nil && (r.Server.Queue.N > 0 || r.Server.Prefill.N > 0)
}

// split draws the parts as one bar of letters, and names them below with those letters first.
func (t textReport) split(r *metrics.Report) {
	s := &r.Split
	wait := r.Plan.FirstWait().Naming().Title
	t.heading("Where "+wait+" goes", '-')
	parts := partsOf(s)
	t.w.WriteString(bar(parts, ruleWidth) + "\n")
	var before, within []string
	for _, p := range parts {
		words := p.name + " " + digits(milliseconds(p.took)) + " ms"
		switch {
		case p.took < s.TTFT/100 || milliseconds(p.took) == 0: // not worth a word
		case p.letter == 'H' || p.letter == 'C':
			before = append(before, words)
		default:
			within = append(within, words)
		}
	}
	text := fmt.Sprintf("%s %s ms", wait, digits(milliseconds(s.TTFT)))
	if len(within) > 0 {
		text += ": " + strings.Join(within, ", ")
	}
	if len(before) > 0 {
		text = strings.Join(before, ", ") + ", then " + text
	}
	switch {
	case s.Source == metrics.SplitByRequests:
		text += ", as the server told with each answer"
	case s.Source == metrics.SplitByMetrics:
		text += ", as its metrics page says" + ofWhom(s)
	case toldOfAPart(r):
		text += ", as the server's metrics page saw too little of the run"
	default:
		text += ", as the server does not tell"
	}
	for _, line := range wrapAt(text, "  ", ruleWidth) {
		t.w.WriteString(line + "\n")
	}
}

// ofWhom says how many requests the page's means are of, where that is not this run's number.
func ofWhom(s *metrics.TTFTSplit) string {
	if !s.OfOthers() {
		return ""
	}
	return fmt.Sprintf(" of %d requests; this run had %d", s.Seen, s.N+s.More)
}

// bar is width columns, of which each part has its share.
func bar(parts []part, width int) string {
	total := 0.0
	for _, p := range parts {
		total += float64(p.took)
	}
	var b strings.Builder
	sum := 0.0
	for _, p := range parts {
		sum += float64(p.took)
		for total > 0 && b.Len() < int(math.Round(sum/total*float64(width))) {
			b.WriteByte(p.letter)
		}
	}
	return b.String()
}
