package panels

import (
	"slices"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// health is what the client shows of itself: whether the figures on the screen are the server's or its own.
type health uint8

const (
	unsampled health = iota // nothing is known, or not yet
	well
	strained // the run as a whole is fine, its last seconds are not
	limited
)

// client is how the client is, and the first reason for it. Once the run is over only the whole of it counts.
func (v *View) client() (health, string) {
	s := v.Snapshot
	if r := s.Report; r != nil {
		switch {
		case r.Client.Verdict.Limited():
			return limited, reason(r.Client.Verdict)
		case len(r.Client.Seconds) > 0:
			return well, ""
		}
		return unsampled, ""
	}
	switch {
	case len(s.Client) == 0:
		return unsampled, ""
	case s.Verdict.Limited():
		return limited, reason(s.Verdict)
	case s.Recent.Limited():
		return strained, reason(s.Recent)
	}
	return well, ""
}

// reasonMost is how many columns a reason may take.
const reasonMost = 60

// reason is the first one that says anything.
func reason(v metrics.Verdict) string {
	for _, why := range v.Why {
		if why = screen.Sanitize(why); why != "" {
			return screen.Shorten(why, reasonMost)
		}
	}
	return ""
}

// word and style tell the states apart, either alone.
func (h health) word() string { return [...]string{"", "ok", "strained", "LIMITED"}[h] }

func (h health) style() screen.Style {
	return [...]screen.Style{screen.Label, screen.Label, {Fg: screen.Orange, Bold: true}, screen.Warning}[h]
}

// limitedShort is what there is always room for.
const limitedShort = "! client"

// reasonLeast is how many columns of a reason still say something.
const reasonLeast = 16

// says is the state in words of at most w columns: with its reason, without, or in short. Good news that does not fit is
// left out, bad news is not.
func (h health) says(why string, w int) string {
	if h == unsampled {
		return ""
	}
	words := "client " + h.word()
	full := words
	if why != "" {
		full += ": " + why
	}
	switch {
	case screen.Width(full) <= w:
		return full
	case w >= screen.Width(words)+2+reasonLeast:
		return screen.Shorten(full, w)
	case screen.Width(words) <= w, h == strained:
		return words
	case h == limited:
		return limitedShort
	}
	return ""
}

// clientFigure adds the client to figures in cells, of which there is room for so many. It takes a spare one at the end; if
// there is none, good news is left out and bad news stands beside the errors.
func (v *View) clientFigure(all []figure, room int) []figure {
	h, _ := v.client()
	f := figure{"client", h.word(), h.style(), 0}
	switch {
	case h == unsampled:
		return all
	case len(all) < room:
		return append(all, f)
	case h == well:
		return all
	}
	i := slices.IndexFunc(all, func(f figure) bool { return f.name == "err" })
	return slices.Insert(all, i+1, f)
}

// userStamped reports whether chunks are timed by the client's own clock rather than by the kernel's.
func (v *View) userStamped() bool {
	chunks, unstamped, source := 0, 0, v.plan().Timestamps
	if r := v.Report; r != nil {
		chunks, unstamped, source = r.Client.Stamps.Chunks, r.Client.Stamps.Unstamped, r.Client.Source
	} else {
		for i := range v.Client {
			chunks += v.Client[i].Chunks
			unstamped += v.Client[i].Unstamped
		}
	}
	return source == metrics.UserStamps || chunks > 0 && unstamped > chunks/2
}
