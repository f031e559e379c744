package screen

import "github.com/muesli/termenv"

// Shades are the colours of areas: heat maps and the bands between percentiles. A terminal needs 256 colours for them. They are
// the same in all themes.
const (
	HeatSteps = 10
	// BandLow lies between the median and the 90th percentile, BandHigh between that and the 99th.
	BandLow    = shades + HeatSteps
	BandHigh   = BandLow + 1
	shadeCount = HeatSteps + 2
)

// shadeSwatches are viridis, from few to many, and two dark tones. Lines stand out on all of them, and all of them stand out on
// black and on white.
var shadeSwatches = [shadeCount]struct{ rgb, ansi256 string }{
	{"#472D7B", "54"}, {"#424086", "55"}, {"#3B528B", "61"}, {"#33638D", "67"}, {"#2C728E", "31"},
	{"#21918C", "37"}, {"#28AE80", "72"}, {"#5EC962", "77"}, {"#ADDC30", "149"}, {"#FDE725", "220"},
	{"#2B566F", "24"}, {"#6B4A3A", "95"},
}

// Heat is the colour of a share of the maximum, from just above 0 to 1.
func Heat(part float64) Color {
	return shades + Color(min(int(part*HeatSteps), HeatSteps-1))
}

// shade adds the shades if the terminal has enough colours.
func (p *Palette) shade(profile termenv.Profile) {
	if !p.Filled {
		return
	}
	for i, s := range shadeSwatches {
		name := s.rgb
		if profile == termenv.ANSI256 {
			name = s.ansi256
		}
		if c := profile.Color(name); c != nil {
			p.fg[shades+Color(i)], p.bg[shades+Color(i)] = c.Sequence(false), c.Sequence(true)
		}
	}
}
