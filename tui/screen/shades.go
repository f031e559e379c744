package screen

import "github.com/muesli/termenv"

// Shades are the colours of areas: of heat maps and of the bands between percentiles. They are there where a terminal has 256
// colours or more, whatever the theme.
const (
	HeatSteps = 10
	// BandLow lies between the median and the 90th percentile, BandHigh between that and the 99th.
	BandLow    = shades + HeatSteps
	BandHigh   = BandLow + 1
	shadeCount = HeatSteps + 2
)

// shadeSwatches are viridis, from few to many, and two dark tones: so lines stand out on them, and they themselves on black
// and on white.
var shadeSwatches = [shadeCount]struct{ rgb, ansi256 string }{
	{"#472D7B", "54"}, {"#424086", "55"}, {"#3B528B", "61"}, {"#33638D", "67"}, {"#2C728E", "31"},
	{"#21918C", "37"}, {"#28AE80", "72"}, {"#5EC962", "77"}, {"#ADDC30", "149"}, {"#FDE725", "220"},
	{"#2B566F", "24"}, {"#6B4A3A", "95"},
}

// Heat is the colour of a share of the most there is, from just above 0 to 1.
func Heat(part float64) Color {
	return shades + Color(min(int(part*HeatSteps), HeatSteps-1))
}

// shade fills in the shades, where there are colours enough.
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
