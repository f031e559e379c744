package preview

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"benchtop/internal/text"
)

// lengths are numbers of tokens and how often each came.
type lengths struct {
	times map[int]int
	n     int
	sum   int
}

func (l *lengths) add(tokens int) {
	if l.times == nil {
		l.times = map[int]int{}
	}
	l.times[tokens]++
	l.n++
	l.sum += tokens
}

// mean is that of all lengths.
func (l *lengths) mean() float64 { return float64(l.sum) / float64(max(1, l.n)) }

// std is the standard deviation of all lengths, as numpy's std has it.
func (l *lengths) std() float64 {
	mean, squares := l.mean(), 0.0
	for _, length := range l.sorted() { // in one order, for the same digits each time
		squares += float64(l.times[length]) * (float64(length) - mean) * (float64(length) - mean)
	}
	return math.Sqrt(squares / float64(max(1, l.n)))
}

// sorted are the lengths that came, ascending.
func (l *lengths) sorted() []int { return slices.Sorted(maps.Keys(l.times)) }

// quantile is the smallest length that a share of all, from 0 to 1, do not exceed.
func (l *lengths) quantile(share float64) int {
	seen := 0
	sorted := l.sorted()
	for _, length := range sorted {
		if seen += l.times[length]; float64(seen) >= share*float64(l.n) {
			return length
		}
	}
	return 0
}

// bin is how many lengths lie between two numbers, both included.
type bin struct {
	From     int `json:"from"`
	To       int `json:"to"`
	Requests int `json:"requests"`
}

// bins puts the lengths into at most so many bins of one width: 1, 2 or 5 times a power of ten, so that a person can
// read their limits. Bins without any length in the middle stay.
func (l *lengths) bins(most int) []bin {
	sorted := l.sorted()
	if len(sorted) == 0 {
		return nil
	}
	lo, hi := sorted[0], sorted[len(sorted)-1]
	width := roundWidth(lo, hi, most)
	first := lo / width * width
	all := make([]bin, (hi-first)/width+1)
	for i := range all {
		all[i].From = first + i*width
		all[i].To = all[i].From + width - 1
	}
	for _, length := range sorted {
		all[(length-first)/width].Requests += l.times[length]
	}
	return all
}

func roundWidth(lo, hi, most int) int {
	for power := 1; ; power *= 10 {
		for _, step := range []int{1, 2, 5} {
			if width := step * power; hi/width-lo/width < most {
				return width
			}
		}
	}
}

func (l *lengths) describe() string {
	lo, hi := l.quantile(0), l.quantile(1)
	if lo == hi {
		return fmt.Sprintf("%s in all, each %s", text.Grouped(l.sum), text.Grouped(lo))
	}
	mean := fmt.Sprintf("%.1f", l.mean())
	if l.mean() >= 1000 {
		mean = text.Grouped(int(math.Round(l.mean())))
	}
	return fmt.Sprintf("%s in all: mean %s, min %s, p50 %s, p90 %s, p99 %s, max %s", text.Grouped(l.sum), mean,
		text.Grouped(lo), text.Grouped(l.quantile(0.5)), text.Grouped(l.quantile(0.9)), text.Grouped(l.quantile(0.99)),
		text.Grouped(hi))
}

func (l *lengths) histogram(w io.Writer, title string, ascii bool) {
	bins := l.bins(mostBins)
	if len(bins) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	most, label := 0, 0
	for _, x := range bins {
		most, label = max(most, x.Requests), max(label, len(x.label()))
	}
	for _, x := range bins {
		bar := bar(float64(x.Requests)/float64(most), ascii)
		fmt.Fprintf(w, "  %*s  %s %s\n", label, x.label(), bar, text.Grouped(x.Requests))
	}
}

func (b bin) label() string {
	if b.From == b.To {
		return text.Grouped(b.From)
	}
	return text.Grouped(b.From) + " - " + text.Grouped(b.To)
}
