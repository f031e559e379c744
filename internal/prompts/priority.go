package prompts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"benchtop/datasets"
)

// Priorities are the priorities of requests with their shares, a flag: PRIORITY=SHARE, separated by commas.
type Priorities []priority

type priority struct {
	value int
	share float64
}

// mostPriorities bounds them.
const mostPriorities = 32

func (v *Priorities) String() string {
	var all []string
	for _, p := range *v {
		all = append(all, fmt.Sprintf("%d=%s", p.value, strconv.FormatFloat(p.share, 'g', -1, 64)))
	}
	return strings.Join(all, ",")
}

// Type is the form of the flag's value in the help.
func (v *Priorities) Type() string { return "priority=share,..." }

// Set reads the priorities. Shares need not add up to 1.
func (v *Priorities) Set(text string) error {
	var all Priorities
	for item := range strings.SplitSeq(text, ",") {
		name, weight, ok := strings.Cut(strings.TrimSpace(item), "=")
		value, err := strconv.Atoi(name)
		share, err2 := strconv.ParseFloat(weight, 64)
		if !ok || err != nil || err2 != nil || !(share > 0) || math.IsInf(share, 0) {
			return fmt.Errorf("%q: expected PRIORITY=SHARE, such as 0=0.5,1=0.5", item)
		}
		if slices.ContainsFunc(all, func(p priority) bool { return p.value == value }) {
			return fmt.Errorf("priority %d is given twice", value)
		}
		if all = append(all, priority{value, share}); len(all) > mostPriorities {
			return fmt.Errorf("more than %d priorities", mostPriorities)
		}
	}
	*v = all
	return nil
}

// Prioritize gives each request a priority, drawn by the shares from a generator of its own, so that all other draws
// stay. It is a class of the request, too. header is the header field that carries it, "" for the body's field.
func (x *Supply) Prioritize(all Priorities, header string, seed int64) {
	if len(all) == 0 {
		return
	}
	draws := rand.New(rand.NewPCG(uint64(seed), prioritySeed))
	x.Flow = x.Map(func(c *datasets.Conversation) { // all turns of a conversation have one priority
		value := strconv.Itoa(all.draw(draws))
		c.Turns = slices.Clone(c.Turns)
		for i := range c.Turns {
			t := &c.Turns[i]
			if t.AddClass("priority " + value); header != "" {
				t.AddHeader(header, value)
			} else {
				t.AddField("priority", value)
			}
		}
	})
	x.About += ", priorities " + all.String()
}

// prioritySeed sets the draws of priorities apart from others of the same seed.
const prioritySeed = 0x9217

// draw picks a priority by the shares.
func (v Priorities) draw(draws *rand.Rand) int {
	sum := 0.0
	for _, p := range v {
		sum += p.share
	}
	at := sum * draws.Float64()
	for _, p := range v {
		if at -= p.share; at < 0 {
			return p.value
		}
	}
	return v[len(v)-1].value
}
