package calibration

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"benchtop/metrics"
)

// Planned is the peak of a load; unknown figures are 0.
type Planned struct{ RequestsPerSecond, Streams, ChunksPerSecond float64 }

// Beyond returns a sentence for each figure of a planned load beyond the calibration. Figures without a measurement give none.
func (c *Calibration) Beyond(l Planned) []string {
	dangers := []string{
		"requests may be sent late",
		"chunks may be read late, or requests fail",
		"chunks may be read late, so that gaps between them are wrong",
	}
	planned := []float64{l.RequestsPerSecond, l.Streams, l.ChunksPerSecond}
	var all []string
	for i, h := range c.Figures.headlines() {
		if math.IsInf(planned[i], 0) || !(planned[i] > h.most) { // an unlimited rate is no plan
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

// count is a whole number with commas between thousands.
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

// disturbedFrom is the 99th percentile of the pacer's own lateness on a machine with other work.
const disturbedFrom = 3 * time.Millisecond

// disturbed is a sign of other work on the machine, "" for none: the pacer alone was late, or the kernel's stamps were not exact at a
// load that most machines can bear.
func (f *Figures) disturbed() string {
	late := time.Duration(0)
	for _, l := range f.Lateness {
		if !l.Sent {
			late = max(late, l.Lateness.P99)
		}
	}
	switch {
	case late >= disturbedFrom:
		return fmt.Sprintf("with nothing to send, arrivals were %s late (p99)", asMicros(late))
	case f.Timestamps == metrics.KernelStamps && f.StampError.P99 > mostError:
		return fmt.Sprintf("even the kernel's stamps were off by %s (p99)", asMicros(f.StampError.P99))
	}
	return ""
}

// Worse is the reason why a calibration should not replace another one of the same machine, "" if it should.
func (c *Calibration) Worse(than *Calibration) string {
	switch {
	case c.Machine != than.Machine || !than.Complete:
		return ""
	case c.Quick && !than.Quick:
		return fmt.Sprintf("the full calibration of %s stays; a quick one does not replace it", than.day())
	case c.Figures.disturbed() != "" && than.Figures.disturbed() == "":
		return fmt.Sprintf("the calibration of %s stays; this one was disturbed", than.day())
	}
	return ""
}

// Verdict describes in a sentence the highest loads that the machine can measure.
func (f *Figures) Verdict() string {
	var most, less []string
	for _, x := range f.headlines() {
		switch {
		case x.most > 0 && x.more:
			most = append(most, fmt.Sprintf("%s %s (more were not tried)", count(x.most), x.unit))
		case x.most > 0:
			most = append(most, count(x.most)+" "+x.unit)
		case x.least > 0:
			less = append(less, fmt.Sprintf("not even %s %s", count(x.least), x.unit))
		}
	}
	if len(most)+len(less) == 0 {
		return "Nothing could be measured of what this machine can do."
	}
	text := "This machine can measure up to " + list(most)
	if len(most) == 0 {
		text = "This machine measured nothing exactly"
	}
	if len(less) > 0 {
		text += "; " + list(less)
	}
	if f.StampError.N > 0 {
		text += fmt.Sprintf("; chunks are timed to %s (p99)", asMicros(f.StampError.P99))
	}
	return text + "."
}

// headline is one of the three figures that limit a load.
type headline struct {
	unit string
	most float64
	// more was not tried; least is the smallest step that was, 0 if none.
	more  bool
	least float64
}

func (f *Figures) headlines() []headline {
	least := func(steps []float64) float64 {
		if len(steps) == 0 {
			return 0
		}
		return slices.Min(steps)
	}
	return []headline{
		{"requests/s", f.RequestsPerSecond, false, least(each(f.Rates, func(s RateStep) float64 { return s.Asked }))},
		{"open streams", f.OpenStreams, f.MoreStreams, least(each(f.Streams, func(s Step) float64 { return float64(s.Streams) }))},
		{"chunks/s", f.ChunksPerSecond, f.MoreChunks, least(each(f.Chunks, func(s Step) float64 { return s.ChunksPerSecond }))},
	}
}
