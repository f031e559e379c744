package charts

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
)

func request(index, input, output int) metrics.Request {
	q := answered(index, 0, ms)
	q.InputTokens, q.OutputTokens = input, output
	return q
}

// small is the picture at a fifth of its resolution, which is faster under the race detector.
func small(t *testing.T, requests ...metrics.Request) image.Image {
	t.Helper()
	lengths := assert.Must(lengthsOf(all(requests...)))(t)
	var out bytes.Buffer
	assert.Fine(t, lengthsDrawing(lengths).PNG(&out, statsDPI/5))
	return decoded(t, &out, image.Pt(420, 300))
}

func decoded(t *testing.T, from *bytes.Buffer, size image.Point) image.Image {
	t.Helper()
	picture := assert.Must(png.Decode(from))(t)
	if got := picture.Bounds().Size(); got != size {
		t.Fatalf("the picture has %v pixels, want %v", got, size)
	}
	return picture
}

// count counts the pixels of a colour on white in a quarter of the picture.
func count(picture image.Image, quarter image.Point, c color.NRGBA) int {
	on := func(v uint8) float64 { return 255 - (255-float64(v))*float64(c.A)/255 }
	red, green, blue := on(c.R), on(c.G), on(c.B)
	near := func(got uint8, want float64) bool { return math.Abs(float64(got)-want) <= 2 }
	return countIf(picture, quarter,
		func(p []uint8) bool { return near(p[0], red) && near(p[1], green) && near(p[2], blue) })
}

// dark counts the nearly black pixels in a quarter of the picture.
func dark(picture image.Image, quarter image.Point) int {
	return countIf(picture, quarter, func(p []uint8) bool { return max(p[0], p[1], p[2]) < 100 })
}

func countIf(picture image.Image, quarter image.Point, holds func(pixel []uint8) bool) int {
	n := 0
	pixels := picture.(*image.RGBA) // the decoded form of an opaque picture
	w, h := pixels.Rect.Dx()/2, pixels.Rect.Dy()/2
	for y := quarter.Y * h; y < quarter.Y*h+h; y++ {
		for x := quarter.X * w; x < quarter.X*w+w; x++ {
			if holds(pixels.Pix[pixels.PixOffset(x, y):]) {
				n++
			}
		}
	}
	return n
}

var (
	topLeft, topRight       = image.Pt(0, 0), image.Pt(1, 0)
	bottomLeft, bottomRight = image.Pt(0, 1), image.Pt(1, 1)
)

func TestStatsOfAHundredThousandRequests(t *testing.T) {
	ci.SkipUnderRace(t)
	var requests []metrics.Request
	for i := range 100_000 {
		requests = append(requests, request(i, 100+i%7*10, 50+i%11*10))
	}
	var out bytes.Buffer
	assert.Fine(t, DatasetStats(&out, all(requests...)))
	picture := decoded(t, &out, image.Pt(2100, 1500))
	for _, c := range []struct {
		name    string
		quarter image.Point
		fill    color.NRGBA
		some    bool
	}{
		{"prompt tokens", topLeft, steelBlue, true},
		{"prompt tokens", topLeft, coral, false},
		{"output tokens", topRight, coral, true},
		{"output tokens", topRight, mediumSeaGreen, false},
		{"total tokens", bottomLeft, mediumSeaGreen, true},
		{"total tokens", bottomLeft, steelBlue, false},
		{"stacked", bottomRight, steelBlue, true},
		{"stacked", bottomRight, coral, true},
		{"stacked", bottomRight, mediumSeaGreen, false},
	} {
		if got := count(picture, c.quarter, c.fill); (got > 10_000) != c.some || !c.some && got > 0 {
			t.Errorf("panel %s: %d pixels of colour %v, want some: %t", c.name, got, c.fill, c.some)
		}
	}
	edges, noEdges := dark(picture, bottomLeft), dark(picture, bottomRight)
	if edges < noEdges+1000 {
		t.Errorf("%d dark pixels in a histogram and %d in the panel without edges, want many more", edges, noEdges)
	}
}

func TestStatsOfUnusualRuns(t *testing.T) {
	unsent := metrics.NewRequest(0)
	unsent.InputTokens = 500
	var equal []metrics.Request
	for i := range 10 {
		equal = append(equal, request(i, 256, 64))
	}
	for _, c := range []struct {
		name     string
		requests []metrics.Request
		blue     bool // in the stacked panel
		coral    bool
	}{
		{"none", nil, false, false},
		{"unsent", []metrics.Request{unsent}, false, false},
		{"one", []metrics.Request{request(0, 100, 20)}, true, true},
		{"equal", equal, true, true},
		{"no tokens", []metrics.Request{request(0, 0, 0), request(1, 0, 0)}, false, false},
		{"failed", []metrics.Request{failed(request(0, 100, 20), metrics.FailedStall, ms)}, true, false},
		{"damaged", []metrics.Request{request(0, -5, math.MaxInt), request(math.MaxInt, math.MaxInt, math.MinInt)},
			true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			picture := small(t, c.requests...)
			// The legend's swatches have fewer than 50 pixels.
			blue, coral := count(picture, bottomRight, steelBlue) > 200, count(picture, bottomRight, coral) > 200
			if blue != c.blue || coral != c.coral {
				t.Errorf("bars of input %t and output %t, want %t and %t", blue, coral, c.blue, c.coral)
			}
		})
	}
}

func TestStatsErrors(t *testing.T) {
	want := errors.New("disk full")
	assert.Is(t, lengthsDrawing(nil).PNG(&deaf{10, want}, statsDPI/5), want)
	assert.Is(t, DatasetStats(&bytes.Buffer{}, broken(want)), want)
}

// weights are those of the bins that are not empty.
func weights(bins []bin) map[int]int {
	out := map[int]int{}
	for i, b := range bins {
		if b.count > 0 {
			out[i] = b.count
		}
	}
	return out
}

func TestHistogramCountsAsNumpyDoes(t *testing.T) {
	for _, c := range []struct {
		values    []int
		low, high float64
		want      map[int]int
	}{
		{[]int{7, 7, 7}, 6.5, 7.5, map[int]int{15: 3}},
		{[]int{0, 30}, 0, 30, map[int]int{0: 1, 29: 1}},
		{[]int{0, 1, 28, 29, 30}, 0, 30, map[int]int{0: 1, 1: 1, 28: 1, 29: 2}},
		{[]int{10, 11, 12}, 10, 12, map[int]int{0: 1, 15: 1, 29: 1}},
		{[]int{0, 3, 9, 10}, 0, 10, map[int]int{0: 1, 9: 1, 27: 1, 29: 1}},
	} {
		got := histogram(c.values)
		w := weights(got)
		if len(got) != 30 || got[0].low != c.low || got[29].high != c.high || len(w) != len(c.want) {
			t.Errorf("%v: %d bins from %v to %v, want 30 from %v to %v", c.values, len(got), got[0].low, got[29].high,
				c.low, c.high)
		}
		for i, n := range c.want {
			assert.Equal(t, w[i], n, "%v: bin %d holds (all: %v)", c.values, i, w)
		}
	}
}

func TestBarsShareAMean(t *testing.T) {
	var all []lengths
	for i := range 1601 {
		all = append(all, lengths{index: i, input: 10 * (i % 3), output: i / 1600 * 8})
	}
	bars, each := stackBars(all)
	if each != 3 || len(bars) != 534 {
		t.Fatalf("%d bars of %d requests, want 534 of 3", len(bars), each)
	}
	if first, last := bars[0], bars[533]; math.Abs(first.input-10) > 1e-9 || first.output != 0 ||
		last != (stackBar{5, 4}) {
		t.Errorf("first bar %v, last %v, want {10 0} and {5 4}", first, last)
	}
	if bars, each := stackBars(all[:800]); each != 1 || len(bars) != 800 || bars[2] != (stackBar{20, 0}) {
		t.Errorf("%d bars of %d requests, want 800 of 1", len(bars), each)
	}
}

func TestTicksAreWhole(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{0, 1, []string{"0", "1"}},
		{-0.5, 0.5, []string{"0"}},
		{6.46, 7.54, []string{"7"}},
		{0, 420, []string{"0", "100", "200", "300", "400"}},
		{0, 120_000, []string{"0", "20000", "40000", "60000", "80000", "100000", "120000"}},
	} {
		got := metrics.Each(wholeTicks(c.low, c.high), func(tick tick) string { return tick.label })
		assert.EqualAll(t, got, c.want, "ticks from %v to %v", c.low, c.high)
	}
}
