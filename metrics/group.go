package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MostClasses bounds the classes of a report. Requests of further ones are of the class OtherClasses.
const (
	MostClasses  = 64
	OtherClasses = "others"
)

// GroupCounts count the requests of one class, or those at some places of their conversations. Requests that were cut are in none.
type GroupCounts struct {
	// Class is foreign text; "" for a group of turns.
	Class string
	// First and Last are turns of conversations, from 1; 0 for a class.
	First, Last       int
	Completed, Failed int
	// Tokens of the successes.
	InputTokens, OutputTokens int
	// Cached is by the usage of the successes; Ideal are the hits of a prefix cache without bounds: see Request.IdealTokens.
	Cached, Ideal CacheHits
	// Good successes met every objective that holds for them; with no objectives it is 0.
	Good int
	// Judged answers had to have a form, and Correct ones had it.
	Judged, Correct int
}

// Group is a group of requests in a report.
type Group struct {
	GroupCounts
	// RequestThroughput and OutputThroughput are per second of the run.
	RequestThroughput, OutputThroughput float64
	// TTFT, TPOT and E2EL have the percentiles of the plan. TPOT is of answers of more than one token.
	TTFT, TPOT, E2EL Statistic
}

// LiveGroup is a group of requests while the run is on.
type LiveGroup struct {
	GroupCounts
	// FirstWait of the successes is of Plan.FirstWait.
	FirstWait Histogram
}

// Count counts a request that ended by itself. Good: it met its objectives.
func (g *GroupCounts) Count(q *Request, good bool) {
	if !q.OK() {
		g.Failed++
		return
	}
	g.Completed++
	g.InputTokens, g.OutputTokens = g.InputTokens+q.InputTokens, g.OutputTokens+q.OutputTokens
	g.Cached.Join(q.Cached())
	g.Ideal.Join(q.Ideal())
	if good {
		g.Good++
	}
	if q.Judgement.Judged {
		g.Judged++
		if q.Judgement.Wrong == "" {
			g.Correct++
		}
	}
}

// GoodShare is the share of good requests among those that ended by themselves, of 1; Unsaid without one.
func (g *GroupCounts) GoodShare() float64 {
	return over(float64(g.Good), float64(g.Completed+g.Failed))
}

// Name is the class, or the turn or turns, as 5 or 33-64.
func (g *GroupCounts) Name() string {
	switch {
	case g.First == 0:
		return g.Class
	case g.First == g.Last:
		return strconv.Itoa(g.First)
	}
	return fmt.Sprintf("%d-%d", g.First, g.Last)
}

// Classes numbers the classes of requests in the order in which they come.
type Classes struct {
	places map[string]int
	names  []string
}

// Place is the number of a class, from 1; 0 for none.
func (c *Classes) Place(class string) int {
	if class == "" {
		return 0
	}
	if n := c.places[class]; n > 0 {
		return n
	}
	if len(c.places) >= MostClasses-1 && class != OtherClasses {
		return c.Place(OtherClasses)
	}
	if c.places == nil {
		c.places = map[string]int{}
	}
	c.names = append(c.names, class)
	c.places[class] = len(c.names)
	return len(c.names)
}

// Clone is a copy for another goroutine.
func (c *Classes) Clone() Classes { return Classes{maps.Clone(c.places), slices.Clone(c.names)} }

// Name is the class with a number; "" for 0.
func (c *Classes) Name(place int) string {
	if place == 0 {
		return ""
	}
	return c.names[place-1]
}

// singleTurns is the number of turns that each have a group; those after them share groups whose sizes double.
const (
	singleTurns    = 32
	singleTurnBits = 6
	// MostTurnPlaces bounds the groups of turns.
	MostTurnPlaces = singleTurns + 32
)

// TurnPlace is the number of the group of a request by its turn, from 1: a group for each of the first turns, then 33 to 64, 65 to 128
// and so on. It is 0 for a request that is no turn of a conversation.
func TurnPlace(q *Request) int {
	turn := q.Turn + 1
	switch {
	case !q.OfConversation() || turn < 1:
		return 0
	case turn <= singleTurns:
		return turn
	}
	return min(singleTurns+1+bits.Len(uint(turn-1))-singleTurnBits, MostTurnPlaces)
}

// TurnsAt are the turns of the group with a number.
func TurnsAt(place int) (first, last int) {
	if place <= singleTurns {
		return place, place
	}
	last = singleTurns << min(place-singleTurns, MostTurnPlaces-singleTurns)
	return last/2 + 1, last
}

// SortGroups puts groups of turns in their order, and classes in the order of their names, in which numbers count as such.
func SortGroups[G any](all []G, of func(*G) *GroupCounts) {
	slices.SortFunc(all, func(a, b G) int {
		x, y := of(&a), of(&b)
		return cmp.Or(cmp.Compare(x.First, y.First), natural(x.Class, y.Class))
	})
}

// natural compares texts whose numbers count by their value: "priority 2" comes before "priority 10".
func natural(a, b string) int {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	}
	return cmp.Or(slices.CompareFunc(words(a), words(b), func(a, b string) int {
		x, err := strconv.Atoi(a)
		y, err2 := strconv.Atoi(b)
		if err == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	}), strings.Compare(a, b))
}
