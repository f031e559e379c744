package metrics

import (
	"strings"
	"unicode/utf8"
)

// Axis is what tells the places apart that serve a run, among which the slow one is looked for.
type Axis struct {
	By AxisKind `json:"by"`
	// Header is that of answers by which AxisHeader goes; "" for other kinds.
	Header string `json:"header,omitempty"`
}

// AxisKind is a kind of Axis.
type AxisKind string

const (
	// AxisServer: the URLs of the plan. AxisAdapter: the requested models. AxisHeader: the values of a header of
	// answers.
	AxisServer  AxisKind = "server"
	AxisAdapter AxisKind = "adapter"
	AxisHeader  AxisKind = "header"
	// AxisEngine: the engines of servers, by their own figures, since requests do not know theirs; no plan has it.
	AxisEngine AxisKind = "engine"
)

const (
	// MostAxes bounds those of a plan, MostAxisHeaders those by headers.
	MostAxes        = MostAxisHeaders + 2
	MostAxisHeaders = 3
	// MostPlaceName bounds the name of a place in bytes. Longer ones are cut: those that begin alike are one place.
	MostPlaceName = 128
	// NoPlace has the requests whose answers lack the header, and those without an answer.
	NoPlace = "none"
)

// Name is the header, or the kind.
func (a Axis) Name() string {
	if a.By == AxisHeader {
		return a.Header
	}
	return string(a.By)
}

// PlaceName is the name that the value of a header gives to a place.
func PlaceName[S string | []byte](value S) string {
	name := strings.ToValidUTF8(string(value[:min(len(value), MostPlaceName+utf8.UTFMax)]), string(utf8.RuneError))
	name = strings.TrimSpace(name)
	end := min(len(name), MostPlaceName)
	for end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.TrimSpace(name[:end])
}

// AxisHeaders are the headers by which the plan has axes.
func (p *Plan) AxisHeaders() (names []string) {
	for _, a := range p.Axes {
		if a.By == AxisHeader {
			names = append(names, a.Header)
		}
	}
	return names
}

// Comparison compares the places of an axis.
type Comparison struct {
	Axis
	// Places in the order of their names; none for AxisEngine, which has Engines.
	Places  []Group
	Engines []Engine
	// Spreads are those of latencies of at least two places.
	Spreads []Spread
	// Failures compare the shares of failures; nil where nothing failed, or nowhere else.
	Failures *FailureShares
}

// FailureShares compare the shares of failures of places.
type FailureShares struct {
	// Failing are the places that fail more of their requests than the others by more than chance, the worst first.
	Failing []FailingPlace
	// Longer is how many times as long the run would have to be to tell, about; 0 where it tells.
	Longer float64
}

// Slow is the highest ratio of a place that is slow, 0 for another.
func (c *Comparison) Slow(name string) (ratio float64) {
	for i := range c.Spreads {
		for _, p := range c.Spreads[i].Slow {
			if p.Name == name {
				ratio = max(ratio, p.Ratio)
			}
		}
	}
	return ratio
}

// Spread is how far apart the typical values of a latency are in several places: their geometric means.
type Spread struct {
	Latency Latency
	// Slowest and Fastest are names of places, Ratio is that of their latencies, at least 1; "" and 0 with too few
	// requests.
	Slowest, Fastest string
	Ratio            float64
	// Places that have enough requests were compared in so many Pieces of the run; 0 where it is too short for that.
	// Longer is how many times as long it would have to be then, about.
	Places, Pieces int
	Longer         float64
	// Slow are the places that are slower than the others by more than chance, the slowest first.
	Slow []SlowPlace
}

// SlowPlace is a place with the ratio of its latency to the median of those of the others, and that of its prompts'
// lengths to theirs; 0 where that is not known.
type SlowPlace struct {
	Name         string
	Ratio, Input float64
}

// FailingPlace is a place with its share of failures among successes and failures, and the median of those of the
// others.
type FailingPlace struct {
	Name          string
	Share, Others float64
}
