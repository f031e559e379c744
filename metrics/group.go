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

// Group is a part of the requests of a run: those of a class, those at some places of their conversations, those to an
// endpoint, or those of a place on an axis.
type Group struct {
	// Place is foreign text; "" for other groups.
	Place string
	// Class is foreign text; "" for other groups.
	Class string
	// First and Last are turns of conversations, from 1; 0 for other groups.
	First, Last int
	// Server is the place of an endpoint in Plan.Servers, 0 where there is one server. The requests that are counted
	// together because there are too many endpoints have a place beyond all servers. Model is the requested model, ""
	// where all requests name the same.
	Server int
	Model  string
	Slice
}

// Name is the class, the place, or the turn or turns, as 5 or 33-64.
func (g *Group) Name() string {
	switch {
	case g.Place != "":
		return g.Place
	case g.First == 0:
		return g.Class
	case g.First == g.Last:
		return strconv.Itoa(g.First)
	}
	return fmt.Sprintf("%d-%d", g.First, g.Last)
}

// numbering numbers keys in the order in which they come, from 1.
type numbering[K comparable] struct {
	places map[K]int
	keys   []K
}

// place is the number of a key. Once there are almost so many, further keys have that of the rest.
func (n *numbering[K]) place(key K, most int, rest K) int {
	if place := n.places[key]; place > 0 {
		return place
	}
	if len(n.keys) >= most-1 && key != rest {
		return n.place(rest, most, rest)
	}
	if n.places == nil {
		n.places = map[K]int{}
	}
	n.keys = append(n.keys, key)
	n.places[key] = len(n.keys)
	return len(n.keys)
}

// Classes numbers the classes of requests.
type Classes struct{ numbering[string] }

// Place is the number of a class, from 1; 0 for none.
func (c *Classes) Place(class string) int {
	if class == "" {
		return 0
	}
	return c.place(class, MostClasses, OtherClasses)
}

// Clone is a copy for another goroutine.
func (c *Classes) Clone() Classes {
	return Classes{numbering[string]{maps.Clone(c.places), slices.Clone(c.keys)}}
}

// Name is the class with a number; "" for 0.
func (c *Classes) Name(place int) string {
	if place == 0 {
		return ""
	}
	return c.keys[place-1]
}

// singleTurns is the number of turns that each have a group; those after them share groups whose sizes double.
const (
	singleTurns    = 32
	singleTurnBits = 6
	// MostTurnPlaces bounds the groups of turns.
	MostTurnPlaces = singleTurns + 32
)

// TurnPlace is the number of the group of a request by its turn, from 1: a group for each of the first turns, then 33
// to 64, 65 to 128 and so on. It is 0 for a request that is no turn of a conversation.
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
