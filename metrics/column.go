package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// Column is a figure of groups of requests that not all runs have. Results, tables and the screen show it by its row in
// Columns; the figures that all runs have stand there in the order of each.
type Column struct {
	// Heading is that of tables, Key that of the result; "" where it is not there.
	Heading, Key string
	// Count or Share is the figure: a share is of 1, and Unsaid where it is not known. One that is Strict is never
	// rounded up.
	Count  func(*Counts) int
	Share  func(*Counts) float64
	Strict bool
	// Spare says what goes first where there is little room: the column with the highest.
	Spare int
	// asked reports whether a plan asks for the count; nil where none has to.
	asked func(*Plan) bool
}

// Columns are those that there are, in the order of tables and of the result, which has the tokens of shares instead.
var Columns = []Column{
	{Heading: "left", Key: "abandoned", Count: func(c *Counts) int { return c.Abandoned }, Spare: 1, asked: abandons},
	{Heading: "retried", Key: "retried", Count: func(c *Counts) int { return c.Retried }, Spare: 1, asked: retries},
	{Key: "retries", Count: func(c *Counts) int { return c.Retries.Sum() }, asked: retries},
	{Heading: "cached", Share: func(c *Counts) float64 { return c.Cached.Rate() }, Spare: 6},
	{Heading: "ideal", Share: func(c *Counts) float64 { return c.Ideal.Rate() }, Spare: 7},
	{Heading: "correct", Share: (*Counts).CorrectShare, Strict: true, Spare: 1},
}

func abandons(p *Plan) bool { return p.Abandon != "" }
func retries(p *Plan) bool  { return p.Retry != "" }

// Of reports whether runs of a plan can have the figure.
func (c *Column) Of(p *Plan) bool { return c.asked == nil || p != nil && c.asked(p) }

// ColumnsOf are the columns of a table of groups, whose counts are all in all: those that the plan asks for, and of the
// others those with a figure.
func ColumnsOf(p *Plan, all *Counts) []Column {
	return slices.DeleteFunc(slices.Clone(Columns), func(c Column) bool {
		none := c.asked == nil && (c.Share != nil && !Said(c.Share(all)) || c.Count != nil && c.Count(all) == 0)
		return c.Heading == "" || !c.Of(p) || none
	})
}

// OfUsers is what users did other than wait, in words, such as "5 left, 12 retried"; "" where the plan has none who do.
func (c *Counts) OfUsers(p *Plan) string {
	var words []string
	for i := range Columns {
		if x := &Columns[i]; x.asked != nil && x.Heading != "" && x.Of(p) {
			words = append(words, fmt.Sprintf("%d %s", x.Count(c), x.Heading))
		}
	}
	return strings.Join(words, ", ")
}
