package screen

import "github.com/muesli/termenv"

// Color is an entry of the palette. Text is Plain, the terminal's own foreground, which is readable on any
// background; colours are for data. A colour never carries a meaning alone: a sign or a word stands beside it.
type Color uint8

// The named colours. Each has one meaning, on every page. Heat has more.
const (
	Plain   Color = iota
	Output        // output tokens; requests completed
	Input         // input tokens; requests sent
	Running       // requests that the server works on
	Waiting       // requests in the server's queue; what needs attention
	Queued        // requests queued here, in the client
	P50           // the middle of a latency: the median, or the mean
	P90
	P99
	Good   // within the objectives, done
	Bad    // beyond the objectives, failed, saturated
	Usage  // the used part of a resource: cache, processors
	grey   // labels
	Dimmed // lines that support data: outlines, annotations, the warm-up
	faint  // borders and axes
	Black  // annotations on top of coloured areas
	shades // the first of the colours of areas
	colors = shades + shadeCount
)

// swatch is a colour for terminals of 16 million, 256 and 16 colours; "" is the terminal's own foreground.
type swatch [termenv.Ascii]string

// standardSwatches can be told apart with any colour vision where they stand on one chart. Of the 16 only those are used that can
// be read on black, on white and on Solarized, whose bright black is its background: so labels are plain there, and only borders
// may be lost.
var standardSwatches = [shades]swatch{
	Output:  {"#56B4E9", "74", "12"},
	Input:   {"#CC79A7", "175", "5"},
	Running: {"#2FB89A", "36", "6"},
	Waiting: {"#E69F00", "172", "3"},
	Queued:  {"#C3A6E8", "183", "5"},
	P50:     {"#8FA0FF", "111", "12"},
	P90:     {"#F0E442", "221", "3"},
	P99:     {"#FF7F6B", "209", "1"},
	Good:    {"#5FD068", "77", "2"},
	Bad:     {"#FF5A5A", "203", "1"},
	Usage:   {"#A9B665", "143", "6"},
	grey:    {"#8A8A8A", "245", ""},
	Dimmed:  {"#8A8A8A", "245", "8"},
	faint:   {"#6C6C6C", "242", "8"},
	Black:   {"#101010", "233", "0"},
}

// contrastSwatches stand out from black about as much as from white, 4.3 to 1 and more, which is nearly as much as one colour
// can have on both. Supporting text is plain.
var contrastSwatches = [shades]swatch{
	Output:  {"#0078D7", "32", "12"},
	Input:   {"#B146C2", "133", "5"},
	Running: {"#008080", "30", "6"},
	Waiting: {"#B86200", "130", "3"},
	Queued:  {"#8560D0", "98", "5"},
	P50:     {"#4A6FE3", "62", "12"},
	P90:     {"#8F7300", "94", "3"},
	P99:     {"#D8442A", "166", "1"},
	Good:    {"#008547", "29", "2"},
	Bad:     {"#E0301E", "160", "1"},
	Usage:   {"#6E7D1A", "64", "6"},
	Dimmed:  {"#767676", "243", ""},
	Black:   {"#000000", "16", "0"},
}

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
// black and on white. They are not for 16 colours.
var shadeSwatches = [shadeCount]swatch{
	{"#472D7B", "54", ""}, {"#424086", "55", ""}, {"#3B528B", "61", ""}, {"#33638D", "67", ""}, {"#2C728E", "31", ""},
	{"#21918C", "37", ""}, {"#28AE80", "72", ""}, {"#5EC962", "77", ""}, {"#ADDC30", "149", ""}, {"#FDE725", "220", ""},
	{"#2B566F", "24", ""}, {"#6B4A3A", "95", ""},
}

// Heat is the colour of a share of the maximum, from just above 0 to 1.
func Heat(part float64) Color {
	return shades + Color(min(int(part*HeatSteps), HeatSteps-1))
}
