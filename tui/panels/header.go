package panels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Header is the content of the lines above the panels.
type Header struct {
	View  *View
	State metrics.State // the state that the user asked for counts before the run is in it
	Pages []string
	Page  int
	// Behind is how old a frozen screen is; negative if it is not frozen.
	Behind time.Duration
	// Signs are special states of the screen before that of the run, such as how much less often charts are drawn.
	Signs []screen.Span
}

// StateSign gives the state a sign, a word and a colour.
func StateSign(s *metrics.Snapshot, state metrics.State) screen.Span {
	if r := s.Replay; r != nil {
		if r.Playing {
			return screen.Success.Span("▶ REPLAY " + SpeedText(r.Speed))
		}
		return screen.Caution.Span("‖ REPLAY " + SpeedText(r.Speed))
	}
	switch state {
	case metrics.Draining:
		word := "◐ DRAINING"
		if left := s.DrainBy - s.At; s.DrainBy >= 0 && left >= 0 {
			word += " " + number.Coarse(left)
		}
		return screen.Caution.Span(word)
	case metrics.Aborting:
		return screen.Warning.Span("■ ABORTING")
	case metrics.Counting:
		return screen.Caution.Span("◐ COUNTING")
	case BrokenOff:
		return screen.Warning.Span("■ INCOMPLETE")
	case metrics.Finished:
		return ConclusionSign(s.Report)
	}
	switch {
	case s.Search != nil && s.Search.Phase == metrics.SearchDraining:
		return screen.Caution.Span("◐ SEARCH (draining)")
	case drainsToConfirm(&s.Steering):
		return screen.Caution.Span("◐ CONFIRM (draining)")
	case s.Steering.Paused:
		return screen.Caution.Span("‖ PAUSED")
	case timeOver(s):
		return screen.Caution.Span("◐ DRAINING")
	}
	return screen.Success.Span("● RUN")
}

// timeOver reports whether the time of the plan is over, so that nothing new is sent.
func timeOver(s *metrics.Snapshot) bool {
	p := s.Plan
	return p != nil && p.Duration > 0 && p.Confirm == 0 && p.Find == nil && s.At > p.Duration+time.Second
}

// drainsToConfirm reports whether arrivals pause until the queue is gone, for a hold.
func drainsToConfirm(st *metrics.Steering) bool { return st.Paused && st.By == metrics.ByConfirm }

// TerminalTitle names a terminal by its run: its state, the time and the rate.
func TerminalTitle(s *metrics.Snapshot, state metrics.State) string {
	v := View{Snapshot: s}
	words := "benchtop "
	if s.Plan == nil {
		return words + "preparing"
	}
	if state != metrics.Running || s.Replay != nil {
		words += StateSign(s, state).Text + " "
	}
	rate := v.rateNow(finished, func(r *metrics.Report) float64 { return r.RequestThroughput })
	return words + number.Clock(s.At) + " " + number.Rate(rate) + " req/s"
}

// conclusions are the ends of runs that were not as planned.
var conclusions = map[metrics.Conclusion]string{
	metrics.Aborted: "■ ABORTED", metrics.Terminated: "■ TERMINATED", metrics.HungUp: "■ TERMINAL LOST",
	metrics.RunFailed:  "✗ FAILED",
	metrics.GateMissed: "✗ GATE MISSED",
}

// ConclusionSign gives the end of a run a sign, a word and a colour.
func ConclusionSign(r *metrics.Report) screen.Span {
	switch {
	case r == nil:
		return screen.Success.Span("✓ DONE")
	case conclusions[r.Conclusion] != "":
		return screen.Warning.Span(conclusions[r.Conclusion])
	}
	words, severity := findings.Done(r)
	if severity != findings.Good {
		return screen.Caution.Span("✓ " + words)
	}
	return screen.Success.Span("✓ " + words)
}

// Draw writes one or two lines.
func (h Header) Draw(c screen.Canvas) {
	c.Clear()
	h.first(c.Sub(0, 0, c.W, 1))
	if c.H > 1 {
		h.second(c.Sub(0, 1, c.W, 1))
	}
}

// first draws the name and the pages on the left, the state of the run and its progress on the right.
func (h Header) first(c screen.Canvas) {
	right, must := h.states()
	tabs, right := h.fitTabs(c.W, right, must)
	room := c.W - screen.SpansWidth(right) - 1
	x := 0
	left := c.Sub(0, 0, room, 1)
	for _, t := range tabs {
		x = left.Spans(x, 0, []screen.Span{t})
	}
	c.Spans(max(0, c.W-screen.SpansWidth(right)), 0, right)
	h.bar(c.Sub(x+2, 0, room-x-4, 1))
}

// states are the state of the run and the special states of the screen, and, beyond the first must pieces, the progress
// of the run.
func (h Header) states() (right []screen.Span, must int) {
	banner := screen.Caution
	add := func(words string, st screen.Style) { right = append(right, st.Span(words), screen.Text.Span("  ")) }
	for _, s := range h.Signs {
		add(s.Text, s.Style)
	}
	if h.View.Back > 0 {
		add("until "+number.Clock(ClosedEnd(h.View.Snapshot)-h.View.Back), banner)
	}
	switch {
	case h.Behind >= time.Second:
		add("‖ FROZEN "+number.Coarse(h.Behind)+" behind", banner)
	case h.Behind >= 0:
		add("‖ FROZEN", banner)
	}
	right = append(right, StateSign(h.View.Snapshot, h.State))
	must = len(right)
	return append(right, progress(h.View.Snapshot, h.State)...), must
}

// bar shows how much of the plan is done, where there is room.
func (h Header) bar(c screen.Canvas) {
	part, ok := portion(h.View.Snapshot)
	if !ok || c.W < 12 {
		return
	}
	chart.Bar(c.Sub(max(0, c.W-40), 0, min(c.W, 40), 1), part)
}

// plannedTime is that of the plan, holds that prove a load included; a queue that drains before one comes on top.
func plannedTime(p *metrics.Plan) time.Duration { return p.Duration + p.Confirm }

// portion is the share of the planned time or number of requests that is done.
func portion(s *metrics.Snapshot) (float64, bool) {
	p := s.Plan
	switch {
	case s.Replay != nil:
		return min(max(s.At.Seconds()/max(s.Replay.Length, 1).Seconds(), 0), 1), s.Replay.Length > 0
	case s.State == metrics.Finished && s.Report != nil && s.Report.Interrupted == nil:
		return 1, p != nil
	case p == nil:
		return 0, false
	case p.Duration > 0:
		return min(max(s.At.Seconds()/plannedTime(p).Seconds(), 0), 1), true
	case p.Share() > 0:
		return min(max(float64(endedRequests(s))/float64(p.Share()), 0), 1), true
	}
	return 0, false
}

// endedRequests counts the requests that are over, those of the warm-up as well, but not those that were dropped unsent
// when the run was stopped.
func endedRequests(s *metrics.Snapshot) int {
	t := &s.Totals
	if s.State == metrics.Running {
		return t.WarmedUp + t.Completed + t.Failed + t.Abandoned + t.Cancelled
	}
	return max(t.WarmedUp+t.Completed+t.Failed+t.Abandoned, t.Sent-s.Waiting-s.Running)
}

// progress is the time or the requests so far, planned and remaining; the last pieces are left out first. Nothing
// remains of a run that broke off.
func progress(s *metrics.Snapshot, state metrics.State) []screen.Span {
	on := s.State == metrics.Running && state != BrokenOff
	out := []screen.Span{screen.Text.Span(" " + number.Clock(s.At))}
	p := s.Plan
	switch {
	case s.Replay != nil:
		out = append(out, screen.Label.Span("/"+number.Clock(s.Replay.Length)))
	case p == nil:
	case p.Duration > 0:
		whole := plannedTime(p)
		out = append(out, screen.Label.Span("/"+number.Clock(whole)))
		if left := whole - s.At; left > 0 && on {
			out = append(out, screen.Label.Span(" -"+number.Clock(left+time.Second-1)))
		}
	case p.Share() > 0:
		out = append(out, screen.Label.Span(fmt.Sprintf(" %d/%d", endedRequests(s), p.Share())))
		if left := p.Share() - endedRequests(s); left > 0 && on {
			out = append(out, screen.Label.Span(fmt.Sprintf(" -%d", left)))
		}
	}
	return out
}

// second draws the plan and its stage at the left, the state of the client and an error of saving at the right. If
// there is no room for all of the plan, the load and the data set are left out first.
func (h Header) second(c screen.Canvas) {
	s := h.View.Snapshot
	phase := phase(s)
	var right []screen.Span
	if s.SaveError != "" {
		right = []screen.Span{screen.Warning.Span(screen.Shorten("! NOT SAVING: "+screen.Sanitize(s.SaveError),
			c.W*2/5)), screen.Label.Span(between)}
	}
	right = append(right, h.clientNote(c.W*2/5-screen.SpansWidth(right)/2)...)
	c.Spans(max(0, c.W-screen.SpansWidth(right)), 0, right)
	const gap = 2
	room := max(0, c.W-screen.SpansWidth(right)-gap)
	left := c.Sub(0, 0, room, 1)
	left.Spans(left.Print(0, 0, PlanLine(s.Plan, max(0, room-screen.SpansWidth(phase))), screen.Label), 0, phase)
}

// clientNote is the state of the client in at most w columns.
func (h Header) clientNote(w int) []screen.Span {
	state, why := h.View.client()
	if state == unsampled && h.View.Report == nil { // its place is kept, so that nothing moves when it comes
		return []screen.Span{screen.Text.Span(strings.Repeat(" ", screen.Width(well.describe("", w))))}
	}
	if words := state.describe(why, w); words != "" {
		return []screen.Span{state.style().Span(words)}
	}
	return nil
}

// phase names the stage of the load, or the load that was set, and the warm-up.
func phase(s *metrics.Snapshot) []screen.Span {
	switch {
	case s.Plan == nil:
		return nil
	// the plan beside it was not kept
	case s.State == metrics.Finished && s.Report != nil && s.Report.Steered > 0 && s.Search == nil:
		words := "with confirmation"
		if s.Plan.Confirm == 0 || slices.ContainsFunc(s.Marks,
			func(e metrics.LogEntry) bool { return e.Set != nil && e.Set.By == metrics.ByUser }) {
			words = "changed manually"
		}
		return []screen.Span{screen.Label.Span(between), screen.Strong.Span(words)}
	case s.State == metrics.Finished:
		return nil
	}
	out := loadNote(s)
	if i := s.Plan.StageAt(s.At); i >= 0 && len(out) == 0 {
		out = append(out, screen.Label.Span(between),
			screen.Strong.Span(fmt.Sprintf("stage %d/%d", i+1, len(s.Plan.Stages))))
	}
	if s.At < s.Plan.Warmup {
		out = append(out, screen.Label.Span(between), screen.Caution.Span("warm-up"))
	}
	return out
}

// BrokenOff is the state of a run that broke off.
const BrokenOff metrics.State = "incomplete"

// loadNote is the load that was set and the goal of its ramp; nil where the plan is in force, and in a search, which
// the verdict has.
func loadNote(s *metrics.Snapshot) []screen.Span {
	if s.State == metrics.Finished {
		return nil
	}
	var out []screen.Span
	st, unit := &s.Steering, s.Plan.Unit()
	add := func(words string, style screen.Style) {
		out = append(out, screen.Label.Span(between), style.Span(words))
	}
	switch {
	case st.RampTo > 0 && (st.Changes > 0 || s.Search != nil):
		add("ramp to "+LoadText(unit.Of(st.RampTo)), screen.Caution)
	case st.Changes > 0 && s.Search == nil && st.Value > 0 && !drainsToConfirm(st):
		add("set "+LoadText(unit.Of(st.Value)), screen.Strong)
	}
	return out
}

// LoadText writes a load with as many digits as it was set with.
func LoadText(l metrics.Load) string {
	return l.Unit.Words(strconv.FormatFloat(math.Round(1000*min(number.Sane(l.Value), LoadMost))/1000, 'f', -1, 64))
}

func SpeedText(speed float64) string {
	return strconv.FormatFloat(number.Sane(speed), 'g', 4, 64) + "x"
}

// LoadMost is a load that no client reaches. A larger one is a typing error.
const LoadMost = 1e6
