package tui

import (
	"fmt"
	"path"
	"strings"
	"time"

	"benchtop/metrics"
)

// header is what the lines above the panels say.
type header struct {
	v     *view
	state metrics.State // what was asked for counts before the run has heard of it
	pages []string
	page  int
	// behind is how old a frozen screen is; negative if it is not frozen.
	behind time.Duration
	// controls: keys change the load. slower says that charts are drawn less often, guest who looks; "" for neither.
	controls      bool
	slower, guest string
}

// stateSign gives the state a sign, a word and a colour.
func stateSign(s *metrics.Snapshot, state metrics.State) span {
	if r := s.Replay; r != nil {
		if r.Playing {
			return span{"▶ REPLAY " + speedText(r.Speed), style{fg: green, attr: bold}}
		}
		return span{"‖ REPLAY " + speedText(r.Speed), style{fg: orange, attr: bold}}
	}
	switch state {
	case metrics.Draining:
		word := "◐ DRAINING"
		if left := s.DrainBy - s.At; s.DrainBy >= 0 && left >= 0 {
			word += " " + coarse(left)
		}
		return span{word, style{fg: orange, attr: bold}}
	case metrics.Aborting:
		return span{"■ ABORTING", warning}
	case brokenOff:
		return span{"■ BROKE OFF", warning}
	case metrics.Finished:
		if s.Report != nil && s.Report.Interrupted != nil {
			return span{"✓ DONE early", style{fg: orange, attr: bold}}
		}
		return span{"✓ DONE", style{fg: green, attr: bold}}
	}
	if s.Steering.Paused {
		return span{"‖ PAUSED", style{fg: orange, attr: bold}}
	}
	return span{"● RUN", style{fg: green, attr: bold}}
}

// draw writes one or two lines.
func (h header) draw(c canvas) {
	c.clear()
	h.first(c.sub(0, 0, c.w, 1))
	if c.h > 1 {
		h.second(c.sub(0, 1, c.w, 1))
	}
}

// first: name and pages on the left, what the run does and how far it is on the right.
func (h header) first(c canvas) {
	right, must := h.states()
	tabs, right := h.fitTabs(c.w, right, must)
	room := c.w - spansWidth(right) - 1
	x := 0
	left := c.sub(0, 0, room, 1)
	for _, t := range tabs {
		x = left.spans(x, 0, []span{t})
	}
	c.spans(max(0, c.w-spansWidth(right)), 0, right)
	h.bar(c.sub(x+2, 0, room-x-4, 1))
}

// states says what the run does and what is special about the screen, and, beyond the first must pieces, how far the run is.
func (h header) states() (right []span, must int) {
	banner := style{fg: orange, attr: bold}
	add := func(words string, st style) { right = append(right, span{words, st}, span{"  ", text}) }
	if h.guest != "" {
		add(h.guest, label)
	}
	if h.slower != "" {
		add(h.slower, label)
	}
	if h.controls {
		add("CONTROL", banner)
	}
	if h.v.back > 0 {
		add("-"+coarse(h.v.back), banner)
	}
	switch {
	case h.behind >= time.Second:
		add("‖ FROZEN "+coarse(h.behind)+" behind", banner)
	case h.behind >= 0:
		add("‖ FROZEN", banner)
	}
	right = append(right, stateSign(h.v.s, h.state))
	must = len(right)
	return append(right, progress(h.v.s, h.state)...), must
}

// bar shows how much of the plan is done, where there is room.
func (h header) bar(c canvas) {
	part, ok := portion(h.v.s)
	if !ok || c.w < 12 {
		return
	}
	c = c.sub(max(0, c.w-40), 0, min(c.w, 40), 1)
	n := int(part*float64(c.w) + 0.5)
	for x := range c.w {
		if x < n {
			c.set(x, 0, '━', style{fg: green})
		} else if h.v.mono {
			c.set(x, 0, '·', line)
		} else {
			c.set(x, 0, '─', line)
		}
	}
}

// portion is how much of the planned time or number of requests is behind us.
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
		return min(max(s.At.Seconds()/p.Duration.Seconds(), 0), 1), true
	case p.Requests > 0:
		return min(max(float64(ended(s))/float64(p.Requests), 0), 1), true
	}
	return 0, false
}

// ended counts every request that is over, those of the warm-up as well, but not those that were dropped unsent when the run was
// stopped.
func ended(s *metrics.Snapshot) int {
	t := &s.Totals
	if s.State == metrics.Running {
		return t.WarmedUp + t.Done + t.Failed + t.Cancelled
	}
	return max(t.WarmedUp+t.Done+t.Failed, t.Sent-s.Waiting-s.Running)
}

// progress says elapsed, planned and remaining; the last pieces are left out first. A run that broke off has nothing left.
func progress(s *metrics.Snapshot, state metrics.State) []span {
	on := s.State == metrics.Running && state != brokenOff
	out := []span{{" " + clock(s.At), text}}
	p := s.Plan
	switch {
	case s.Replay != nil:
		out = append(out, span{"/" + clock(s.Replay.Length), label})
	case p == nil:
	case p.Duration > 0:
		out = append(out, span{"/" + clock(p.Duration), label})
		if left := p.Duration - s.At; left > 0 && on {
			out = append(out, span{" -" + clock(left+time.Second-1), label})
		}
	case p.Requests > 0:
		out = append(out, span{fmt.Sprintf(" %d/%d", ended(s), p.Requests), label})
		if left := p.Requests - ended(s); left > 0 && on {
			out = append(out, span{fmt.Sprintf(" -%d", left), label})
		}
	}
	return out
}

// second: where the load goes, what it is and how far; how the client is and where the result goes. If all of it does not
// fit, the result's folder goes first, then the load and the data set, then the reason of the client's state; then the
// model has to make way for bad news. That the cache is cold stays as long as the model does, and both they and the result's
// name are shortened for it.
func (h header) second(c canvas) {
	s := h.v.s
	parts, phase := planParts(s.Plan), phase(s)
	must := core(s.Plan, parts)
	const gap = 2
	beside := func(plan string) int { return c.w - width(plan) - spansWidth(phase) - gap }
	most, told := c.w*2/5, strings.Join(parts[:must], between)
	if must > 2 && s.SaveError == "" { // bad news keeps its room
		const leastFile = 22
		told = fit(parts[:must], must, beside("")-wellWords-leastFile)
		most = min(most, max(leastFile, beside(told)-clientWords))
	}
	file := spansWidth(saving(s, most, false))
	urgent := beside(fit(parts[:must], must, c.w/2)) - file
	if urgent < clientWords {
		urgent = beside(fit(parts[:min(1, must)], must, c.w/2)) - file
	}
	right := h.clientNote(beside(told)-file, urgent)
	if len(right) > 0 {
		most = file
	}
	where := saving(s, max(most, beside(strings.Join(parts, between))-spansWidth(right)), true)
	if len(where) == 0 && len(right) > 0 {
		right = right[:len(right)-1] // nothing to keep apart
	}
	right = append(right, where...)
	c.spans(max(0, c.w-spansWidth(right)), 0, right)
	room := max(0, c.w-spansWidth(right)-gap)
	left := c.sub(0, 0, room, 1)
	left.spans(left.print(0, 0, fit(parts, must, max(0, room-spansWidth(phase))), label), 0, phase)
}

// clientWords is what a state of the client takes without a reason, wellWords what the best one does.
const clientWords, wellWords = len("client strained" + between), len("client ok" + between)

// clientNote says how the client is, before what else is said: good news in at most calm columns, bad news in at most
// urgent ones. Until it is known its place is kept, so that nothing moves when it comes.
func (h header) clientNote(calm, urgent int) []span {
	state, why := h.v.client()
	said, room := state, urgent
	if state <= well {
		said, room = well, calm
	}
	note := span{said.says(why, room-width(between)), state.style()}
	switch {
	case note.text == "", state == unsampled && h.v.s.Report != nil:
		return nil
	case state == unsampled:
		return []span{{strings.Repeat(" ", width(note.text+between)), text}}
	}
	return []span{note, {between, label}}
}

// phase says which stage the load is in, or what it was set to, and that it is still warming up.
func phase(s *metrics.Snapshot) []span {
	switch {
	case s.Plan == nil:
		return nil
	case s.State == metrics.Finished && s.Report != nil && s.Report.Steered > 0: // the plan beside it is not what happened
		return []span{{between, label}, {"steered", strong}}
	case s.State == metrics.Finished:
		return nil
	}
	out := loadNote(s)
	if i := s.Plan.StageAt(s.At); i >= 0 && len(out) == 0 {
		out = append(out, span{between, label}, span{fmt.Sprintf("stage %d/%d", i+1, len(s.Plan.Stages)), strong})
	}
	if s.At < s.Plan.Warmup {
		out = append(out, span{between, label}, span{"warm-up", style{fg: orange, attr: bold}})
	}
	return out
}

// saving says where the result goes, with its folder if wanted and if there is room, or that it does not.
func saving(s *metrics.Snapshot, w int, folder bool) []span {
	switch {
	case s.SaveError != "":
		return []span{{shorten("! NOT SAVING: "+sanitize(s.SaveError), w), warning}}
	case s.SavePath == "" && s.Replay != nil:
		return nil // it was, or it would not be here
	case s.SavePath == "":
		return []span{{shorten("not saved", w), label}}
	}
	verb := "saving "
	if s.State == metrics.Finished {
		verb = "saved "
	}
	name := sanitize(s.SavePath)
	if !folder || len(verb)+width(name) > w {
		name = path.Base(name)
	}
	return []span{{verb, label}, {shortenMiddle(name, max(0, w-len(verb))), label}}
}
