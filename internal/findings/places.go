package findings

import (
	"fmt"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Places are sentences on those of an axis: for each latency which of them is slow, that none is by more than chance,
// or that there are too few requests to say so, and which of them fail. The sentences hold foreign text.
func Places(c *metrics.Comparison) (all []string) {
	for i := range c.Spreads {
		all = append(all, slow(c, &c.Spreads[i]))
	}
	if f := c.Failures; f != nil && f.Longer > 0 {
		all = append(all, fmt.Sprintf("Failures: the run is too short to tell a failing place from chance; one %s as "+
			"long may do.", ratio(f.Longer)))
	} else if f != nil && len(f.Failing) == 0 {
		all = append(all, "Failures: no place fails more than by chance.")
	} else if f != nil {
		for _, p := range f.Failing {
			all = append(all, fmt.Sprintf("Failures: %s fails more than by chance: %.1f %% of its requests, %.1f %% "+
				"of the others'.", placeName(p.Name), 100*p.Share, 100*p.Others))
		}
	}
	return append(all, unplaced(c)...)
}

// unplaced says what the places of an axis cannot show.
func unplaced(c *metrics.Comparison) (all []string) {
	if c.By == metrics.AxisEngine && len(c.Engines) < 2 {
		all = append(all, "Engines: /metrics has fewer than two, so there is nothing to compare.")
	}
	for i := range c.Places {
		if g := &c.Places[i]; g.Place == metrics.NoPlace && g.Abandoned > 0 {
			all = append(all, fmt.Sprintf("%d users left before the answer said its place: the latencies are of those "+
				"who were served sooner.", g.Abandoned))
		}
	}
	return all
}

// notablyLonger is the ratio from which on longer prompts may be why a place is slow.
const notablyLonger = 1.1

func slow(c *metrics.Comparison, s *metrics.Spread) string {
	name, spread := s.Latency.Naming().Title, fmt.Sprintf("%s has %s that of %s", placeName(s.Slowest), ratio(s.Ratio),
		placeName(s.Fastest))
	switch {
	case s.Ratio == 0:
		return fmt.Sprintf("%s: too few requests to tell a slow place from chance; a run %s as long may do.", name,
			ratio(s.Longer))
	case s.Slowest == s.Fastest:
		return name + ": all places have the same."
	case s.Pieces == 0:
		return fmt.Sprintf("%s: the run is too short to tell a slow place from chance; one %s as long may do. %s.",
			name, ratio(s.Longer), spread)
	case len(s.Slow) == 0:
		return fmt.Sprintf("%s: of %d places none is slow by more than chance. %s.", name, s.Places, spread)
	}
	out := name + ": "
	for i, p := range s.Slow {
		if i > 0 {
			out += "; "
		}
		if out += fmt.Sprintf("%s is slow: %s that of the others", placeName(p.Name), ratio(p.Ratio)); i == 0 {
			out += ", more than chance"
		}
		if p.Input >= notablyLonger {
			out += fmt.Sprintf(", and its prompts are %s as long", ratio(p.Input))
		}
	}
	return out + "."
}

// longestPlace is the room for the name of a place.
const longestPlace = 40

func placeName(name string) string { return text.FitMiddle(text.Clean(name), longestPlace) }

// ratio is a number of times with two digits that count.
func ratio(v float64) string {
	switch {
	case v >= 9.95:
		return fmt.Sprintf("%.0f times", v)
	case v < 1.995:
		return fmt.Sprintf("%.2f times", v)
	}
	return fmt.Sprintf("%.1f times", v)
}
