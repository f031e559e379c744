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
	Good    // within the objectives, done
	Bad     // beyond the objectives, failed, saturated
	Usage   // the used part of a resource: cache, processors
	grey    // labels
	Dimmed  // lines that support data: outlines, annotations, the warm-up
	faint   // borders and axes
	Inverse // annotations on top of coloured bars
	named   // the number of named colours
)

// Legend are the meanings of the colours of data, by colour.
var Legend = []string{Output: "output", Input: "input", Running: "running", Waiting: "waiting", Queued: "queued here",
	P50: "p50", P90: "p90", P99: "p99", Good: "good", Bad: "bad", Usage: "in use"}

// HeatSteps is the number of colours of a heat map.
const HeatSteps = 10

// Behind the named colours come the shades of areas, one for each, and the colours of heat maps.
const (
	areas  = named
	heats  = areas + named
	colors = heats + HeatSteps
)

// Shade is the colour of the area below a line: between the line's and the ground, so that its edge stands out from the
// ground, and all lines and words on it from the area. A terminal needs 256 colours for it.
func Shade(line Color) Color { return areas + line }

// Heat is the colour of a share of the maximum, from just above 0 to 1. A terminal needs 256 colours for it.
func Heat(part float64) Color {
	return heats + Color(min(int(part*HeatSteps), HeatSteps-1))
}

// swatch is a colour for terminals of 16 million, 256 and 16 colours; "" is the terminal's own foreground.
type swatch [termenv.Ascii]string

// scheme is all colours for a dark or a light background. Those that stand on one chart can be told apart with any
// colour vision.
type scheme struct {
	named  [named]swatch
	shades [named]string // of 256 colours; where there are more, a share of the line's colour on the ground
	ground string
	share  float64
	heat   [HeatSteps]swatch // from few to many
}

// darkScheme: of the 16 colours only those are used that can be read on black and on Solarized, whose bright black is
// its background and whose bright green and yellow are dark greys: so labels are plain there, and only borders may be
// lost.
var darkScheme = scheme{
	named: [named]swatch{
		Output:  {"#56BCF0", "75", "12"},
		Input:   {"#CB7099", "175", "13"},
		Running: {"#2FB096", "43", "6"},
		Waiting: {"#F5A700", "214", "3"},
		Queued:  {"#CDB0F5", "183", "13"},
		P50:     {"#8E98FF", "105", "12"},
		P90:     {"#E6DF3A", "184", "3"},
		P99:     {"#FF8A78", "209", "9"},
		Good:    {"#52DC92", "78", "2"},
		Bad:     {"#FF4A55", "203", "9"},
		Usage:   {"#A3B459", "143", "6"},
		grey:    {"#989898", "246", ""},
		Dimmed:  {"#8A8A8A", "245", "8"},
		faint:   {"#6C6C6C", "242", "8"},
		Inverse: {"#101010", "233", "0"},
	},
	shades: [named]string{
		Plain: "238", Output: "24", Input: "89", Running: "23", Waiting: "94", Queued: "60", P50: "60", P90: "58",
		P99:  "95",
		Good: "22", Bad: "88", Usage: "58", Dimmed: "238",
	},
	ground: "#101010", share: 0.36,
	heat: [HeatSteps]swatch{ // viridis
		{"#472D7B", "54"}, {"#424086", "55"}, {"#3B528B", "61"}, {"#33638D", "67"}, {"#2C728E", "31"},
		{"#21918C", "37"}, {"#28AE80", "72"}, {"#5EC962", "77"}, {"#ADDC30", "149"}, {"#FDE725", "220"},
	},
}

// lightScheme: of the 16 colours only blue, magenta and red can be read on white in the usual palettes.
var lightScheme = scheme{
	named: [named]swatch{
		Output:  {"#0072BD", "25", "4"},
		Input:   {"#B0357D", "126", "5"},
		Running: {"#0B7078", "23", "4"},
		Waiting: {"#C24E00", "130", "1"},
		Queued:  {"#7E52C4", "98", "5"},
		P50:     {"#445FD7", "26", "4"},
		P90:     {"#946E00", "94", "5"},
		P99:     {"#9A3A0A", "88", "1"},
		Good:    {"#0F8458", "29", ""},
		Bad:     {"#A5000F", "124", "1"},
		Usage:   {"#5A6821", "58", "4"},
		grey:    {"#666666", "241", ""},
		Dimmed:  {"#767676", "243", "8"},
		faint:   {"#8C8C8C", "245", "8"},
		Inverse: {"#FFFFFF", "231", "15"},
	},
	shades: [named]string{
		Plain: "252", Output: "117", Input: "218", Running: "116", Waiting: "222", Queued: "183", P50: "153",
		P90: "186", P99: "217",
		Good: "114", Bad: "217", Usage: "144", Dimmed: "252",
	},
	ground: "#FFFFFF", share: 0.36,
	heat: [HeatSteps]swatch{ // viridis from green on, and back
		{"#7AD151", "113"}, {"#54C568", "77"}, {"#35B779", "72"}, {"#22A884", "36"}, {"#1F968B", "30"},
		{"#287C8E", "31"}, {"#31688E", "24"}, {"#3B528B", "61"}, {"#46327E", "54"}, {"#440154", "53"},
	},
}

// contrastNamed stand out from black about as much as from white, 4.3 to 1 and more, which is nearly as much as one
// colour can have on both. Supporting text is plain.
var contrastNamed = [named]swatch{
	Output:  {"#0078D7", "32", "12"},
	Input:   {"#B146C2", "133", "5"},
	Running: {"#008080", "30", "6"},
	Waiting: {"#B86200", "130", "3"},
	Queued:  {"#8560D0", "98", "5"},
	P50:     {"#4A6FE3", "63", "12"},
	P90:     {"#8F7300", "100", "3"},
	P99:     {"#D8442A", "166", "1"},
	Good:    {"#008547", "29", "2"},
	Bad:     {"#E0301E", "160", "1"},
	Usage:   {"#6E7D1A", "64", "6"},
	Dimmed:  {"#767676", "243", ""},
	Inverse: {"#000000", "16", "0"},
}
