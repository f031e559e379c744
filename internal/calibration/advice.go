package calibration

import (
	"fmt"
	"math"
	"strconv"
)

// Planned is what a load will ask of the client at its heaviest; 0 for what is not known.
type Planned struct{ RequestsPerSecond, Streams, ChunksPerSecond float64 }

// Beyond returns a sentence for each figure of a planned load that is beyond what was measured. What was not measured
// warns of nothing.
func (c *Calibration) Beyond(l Planned) []string {
	dangers := []string{
		"requests may be sent late",
		"chunks may be read late, or requests fail",
		"chunks may be read late, so that gaps between them are wrong",
	}
	planned := []float64{l.RequestsPerSecond, l.Streams, l.ChunksPerSecond}
	var all []string
	for i, h := range c.Figures.headlines() {
		if math.IsInf(planned[i], 0) || !(planned[i] > h.most) { // as fast as it goes is no plan
			continue
		}
		load := fmt.Sprintf("this load plans %s %s", count(planned[i]), h.unit)
		switch {
		case h.most > 0 && h.more:
			all = append(all, fmt.Sprintf("%s; the calibration of %s went no further than %s: beyond, %s", load, c.day(), count(h.most), dangers[i]))
		case h.most > 0:
			all = append(all, fmt.Sprintf("%s, but this machine measured exactly only up to %s (calibrated %s): %s; use more cores, or spread the load over several machines",
				load, count(h.most), c.day(), dangers[i]))
		case h.least > 0 && planned[i] >= h.least:
			all = append(all, fmt.Sprintf("%s, but this machine could not measure even %s exactly (calibrated %s): %s; use more cores, or spread the load over several machines",
				load, count(h.least), c.day(), dangers[i]))
		}
	}
	return all
}

func (c *Calibration) day() string { return c.When.Local().Format("2006-01-02") }

// count is a whole number with commas between thousands, as people read it.
func count(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
