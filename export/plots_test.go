package export

import (
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/internal/ci"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// tenSeconds rises to 900 tokens per second and 18 requests in flight, with two annotations.
func tenSeconds() metrics.Report {
	r := metrics.Report{Counts: metrics.Counts{Completed: 1}, Duration: 10}
	for i := range 10 {
		r.Timeline = append(r.Timeline, &metrics.Window{
			Start: time.Duration(i) * time.Second, TokensOut: 100 * i, Waiting: i, Running: i,
		})
	}
	r.Events = []metrics.LogEntry{
		{At: 0, Mark: "8 req/s"}, {At: metrics.Never, Mark: "never"}, {At: 2 * time.Second, Text: "no mark"},
		{At: 5500 * ms, Mark: "16 \x1b[31mreq/s"}, {At: time.Hour, Mark: "late 日本"},
	}
	return r
}

func TestPlots(t *testing.T) {
	golden.Same(t, "testdata/plots.txt", Plots(tenSeconds(), PlotOptions{Width: 46}))
	golden.Same(t, "testdata/plots_ascii.txt", Plots(tenSeconds(), PlotOptions{Width: 46, ASCII: true}))
}

func TestPlotsStayInTheirColumns(t *testing.T) {
	ci.SkipUnderRace(t)
	r := tenSeconds()
	for i := range 1000 {
		r.Timeline = append(r.Timeline, &metrics.Window{TokensOut: i * 12_345, Waiting: i % 7})
	}
	for i := range 40 {
		r.Events = append(r.Events,
			metrics.LogEntry{At: time.Duration(i) * 25 * time.Second, Mark: strings.Repeat("wide 日本 ", 20)})
	}
	for width := 30; width < 130; width++ {
		for _, ascii := range []bool{false, true} {
			got := Plots(r, PlotOptions{Width: width, ASCII: ascii})
			if n := strings.Count(got, "\n"); n < 2*plotRows+8 {
				t.Fatalf("width %d: %d lines:\n%s", width, n, got)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if n := text.Width(line); n > width || strings.HasSuffix(line, " ") {
					t.Errorf("width %d: %d columns: %q", width, n, line)
				}
				if ascii && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
					t.Errorf("not ASCII: %q", line)
				}
			}
		}
	}
	if got, want := Plots(r, PlotOptions{}), Plots(r, PlotOptions{Width: 80}); got != want {
		t.Error("the width is not 80 unless given")
	}
}

func TestNothingToPlot(t *testing.T) {
	for name, change := range map[string]func(*metrics.Report, *PlotOptions){
		"no success":   func(r *metrics.Report, _ *PlotOptions) { r.Completed = 0 },
		"short run":    func(r *metrics.Report, _ *PlotOptions) { r.Duration = 1.99 },
		"no timeline":  func(r *metrics.Report, _ *PlotOptions) { r.Timeline = nil },
		"narrow":       func(_ *metrics.Report, o *PlotOptions) { o.Width = 29 },
		"narrower yet": func(_ *metrics.Report, o *PlotOptions) { o.Width = -5 },
	} {
		r, o := tenSeconds(), PlotOptions{Width: 80}
		change(&r, &o)
		assert.Equal(t, Plots(r, o), "", "%s", name)
	}
}

// A run without tokens, or with negative windows after corrections, is a line at 0.
func TestPlotsOfNothing(t *testing.T) {
	r := metrics.Report{Counts: metrics.Counts{Completed: 1}, Duration: 3, Timeline: []*metrics.Window{{},
		{TokensOut: -50, Waiting: -3, Running: 1}, {}}}
	got := Plots(r, PlotOptions{Width: 30, ASCII: true})
	const want = `
Output tokens per second
   1 +
     |
     |
     |
     |
     |
     |
     |
     |
     |
   0 +************************
     +--------+-------+-------
     0s      1s      2s
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got:\n%s", got)
	}
}

// A point of several seconds is the mean for tokens and the maximum for requests.
func TestPlotsOfLongRuns(t *testing.T) {
	r := metrics.Report{Counts: metrics.Counts{Completed: 1}, Duration: 135}
	for i := range 135 { // 1000 tokens and 8 requests in every fifth second only
		r.Timeline = append(r.Timeline, &metrics.Window{TokensOut: 5000 * (i % 5 / 4), Running: 8 * (i % 5 / 4)})
	}
	got := Plots(r, PlotOptions{Width: 31, ASCII: true})
	assert.Has(t, got,
		"\nOutput tokens per second, mean\n  of 5 to 6 s at each point\n  2k +\n",
		"highest of 5 to 6 s at\n  each point\n   8 +******")
	for n, want := range map[int]string{
		135: "", 136: "", 45: ", mean of 3 s at each point", 50: ", mean of 2 to 3 s at each point",
		1: ", mean of 135 s at each point",
	} {
		p := plot{values: make([]float64, 135), join: mean, joined: "mean"}
		for i := range p.values {
			p.values[i] = float64(i)
		}
		points, note := p.points(n)
		if note != want || len(points) != n {
			t.Errorf("%d points: got %d, %q, want %q", n, len(points), note, want)
		}
		if n == 45 && (points[0] != 1 || points[44] != 133) {
			t.Errorf("means of three: %v", points)
		}
	}
}

func TestValueAxis(t *testing.T) {
	for _, c := range []struct {
		most   float64
		labels string
	}{
		{0, "0 1"}, {1, "0 1"}, {3, "0 1 2 3"}, {5, "0 1 2 3 4 5"}, {6, "0 2 4 6"}, {11, "0 5 10 15"},
		{26, "0 10 20 30"},
		{90, "0 20 40 60 80 100"}, {101, "0 50 100 150"}, {999, "0 200 400 600 800 1k"},
		{1e6, "0 200k 400k 600k 800k 1M"},
		{2.4e9, "0 500M 1G 1.5G 2G 2.5G"},
	} {
		a := newValueAxis(c.most)
		labels := a.labels(plotRows, 4*plotRows)
		slices.Reverse(labels)
		assert.Equal(t, strings.Join(strings.Fields(strings.Join(labels, " ")), " "), c.labels, "up to %v", c.most)
		if labels[0] != "0" || a.place(0, 44) != 0 || a.place(a.top, 44) != 43 || a.place(2*a.top, 44) != 43 {
			t.Errorf("up to %v: %v", c.most, labels)
		}
	}
}

func TestTimeAxis(t *testing.T) {
	marks := []annotation{{at: 0, letter: 'a'}, {at: 0.1, letter: 'b'}, {at: 60, letter: 'c'}, {at: 59.9, letter: 'd'}}
	axis, names := timeAxis(60, 40, marks, true)
	if want := "+ab--------+---------+---------+--------d"; axis != want {
		t.Errorf("got %s", axis)
	}
	if want := "0s        15s       30s       45s"; names != want {
		t.Errorf("got %q", names)
	}
	for seconds, want := range map[int]string{
		0: "0s", 59: "59s", 60: "1m", 90: "1m30s", 3600: "1h", 5400: "1h30m", 86400: "1d", 90061: "1d1h1m1s",
	} {
		assert.Equal(t, clock(seconds), want, "%d s", seconds)
	}
	if _, names := timeAxis(7*86400, 40, nil, false); names != "0s         2d         4d          6d" {
		t.Errorf("a week: %q", names)
	}
}
