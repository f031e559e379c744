package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// Tallies count what may happen to a request several times, whatever becomes of it. TallyKeys name them in the journal.
type Tallies [NumTallies]int

// Redials is 1 if the request was sent again on a new connection, as its idle one failed right after the write. The
// others are tries that the server turned away and that were followed by another, by the reason: two statuses, and a
// connection that was refused.
const (
	Redials = iota
	TooManyRequests
	Unavailable
	Refused
	NumTallies
)

var TallyKeys = [NumTallies]string{"redials", "retries_429", "retries_503", "retries_connect"}

// Retries is the number of tries before the last.
func (t *Tallies) Retries() int { return t[TooManyRequests] + t[Unavailable] + t[Refused] }

// Column is a figure of requests that not all runs have. By its row in Columns it is in results, in tables of groups
// and on the screen, where the figures that all runs have stand before it.
type Column struct {
	// Heading is that of tables. Key is that of a count in the result, which has the tokens of shares instead.
	Heading, Key string
	// Count or Share is the figure; a share is of 1, and Unsaid where it is not known. One that is Strict is never
	// rounded up.
	Count  func(*Counts) int
	Share  func(*Counts) float64
	Strict bool
	// Remark has the count of a whole run and its successes; "" where the report has more words of it.
	Remark string
	// Spare says what goes first where there is little room: the column with the highest.
	Spare int
	// asked reports whether a plan asks for the count; without it those runs have it that have one.
	asked func(*Plan) bool
}

// Columns are those that there are, in the order of tables and of the result.
var Columns = []Column{
	{Heading: "left", Key: "abandoned", Count: func(c *Counts) int { return c.Abandoned }, Spare: 1, asked: abandons},
	{Heading: "retried", Key: "retried", Count: func(c *Counts) int { return c.Retried }, Spare: 1, asked: retries},
	{Heading: "cached", Share: func(c *Counts) float64 { return c.Cached.Rate() }, Spare: 6},
	{Heading: "ideal", Share: func(c *Counts) float64 { return c.Ideal.Rate() }, Spare: 7},
	{Heading: "correct", Share: (*Counts).CorrectShare, Strict: true, Spare: 1},
	{Heading: "refusals", Key: "refusals", Count: func(c *Counts) int { return c.Refusals }, Spare: 1,
		Remark: "Refusals: %d of %s. The figures count them as answers."},
}

func abandons(p *Plan) bool { return p.Abandon != "" }
func retries(p *Plan) bool  { return p.Retry != "" }

// ColumnsOf are the columns of requests with such counts in all.
func ColumnsOf(p *Plan, all *Counts) []Column {
	return slices.DeleteFunc(slices.Clone(Columns), func(c Column) bool { return !c.has(p, all) })
}

func (c *Column) has(p *Plan, all *Counts) bool {
	switch {
	case c.asked != nil:
		return p != nil && c.asked(p)
	case c.Count != nil:
		return c.Count(all) > 0
	}
	return Said(c.Share(all))
}

// OfUsers is what users did other than wait, in words, such as "5 left, 12 retried"; "" where the plan has none who do.
func (c *Counts) OfUsers(p *Plan) string {
	var words []string
	for _, x := range ColumnsOf(p, c) {
		if x.asked != nil {
			words = append(words, fmt.Sprintf("%d %s", x.Count(c), x.Heading))
		}
	}
	return strings.Join(words, ", ")
}
