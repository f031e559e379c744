package preview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"benchtop/internal/text"
)

// Text writes the analysis for a person.
func (a *Analysis) Text(w io.Writer, o Options) error {
	o.Columns = cmp.Or(o.Columns, 100)
	b := bufio.NewWriter(w)
	f := figures{b, o.Columns}
	a.figures(f, o)
	a.input.histogram(b, "prompt tokens", o.ASCII)
	a.output.histogram(b, "output tokens", o.ASCII)
	a.joint.table(b, o)
	if a.prefixes.prompts > 0 {
		a.prefixes.text(f, o)
	}
	if a.arrivals.n > 1 {
		a.arrivals.text(f, o)
	}
	if flags := a.Flags(); len(flags) > 0 {
		fmt.Fprintln(b, "\nflags of about such a load")
		for _, line := range text.Fill(flags, " ", "", o.Columns-2) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	return b.Flush()
}

func (a *Analysis) figures(f figures, o Options) {
	f.row("source", "%s", o.Clean(a.About.Source))
	if a.About.Form != "" {
		f.row("form", "%s", o.Clean(a.About.Form))
	}
	if len(a.About.Dataset) > 0 {
		f.row("data set", "%s", strings.Join(a.About.Dataset, " "))
	}
	f.row("tokens", "%s", o.Clean(a.About.Tokens))
	for _, note := range a.About.Notes {
		f.row("note", "%s", o.Clean(note))
	}
	a.sessions.rows(f)
	f.row("requests", "%s", text.Grouped(a.input.n))
	f.row("prompt tokens", "%s", a.input.describe())
	if a.output.n > 0 {
		f.row("output tokens", "%s", a.output.describe())
	}
	if a.unanswered > 0 && a.output.n > 0 {
		f.row("without a length", "%s", text.Grouped(a.unanswered))
	}
}

// cellWidth is that of a cell with its shade, mostRows how many rows of cells there are at most.
const (
	cellWidth = 6
	mostRows  = 16
)

// table draws the shares of requests by both lengths as cells, the darker the more.
func (j *joint) table(w io.Writer, o Options) {
	lo, hi := j.span()
	if j.n == 0 || lo == hi {
		return
	}
	steps := [2]int{1, 1} // bins to a cell, of input and output
	for i, most := range [2]int{mostRows, (o.Columns - 10) / cellWidth} {
		for hi[i]/steps[i]-lo[i]/steps[i] >= most {
			steps[i]++
		}
	}
	cells, most := map[[2]int]int{}, 0
	for cell, n := range j.cells {
		at := [2]int{cell[0] / steps[0], cell[1] / steps[1]}
		cells[at] += n
		most = max(most, cells[at])
	}
	fmt.Fprint(w, "\nshare of requests by prompt length (down) and output length (across), in %\n          ")
	for y := lo[1] / steps[1]; y <= hi[1]/steps[1]; y++ {
		fmt.Fprintf(w, "%*s", cellWidth, power(binFrom(y*steps[1])))
	}
	for x := lo[0] / steps[0]; x <= hi[0]/steps[0]; x++ {
		line := fmt.Sprintf("  %6s  ", power(binFrom(x*steps[0])))
		for y := lo[1] / steps[1]; y <= hi[1]/steps[1]; y++ {
			n := cells[[2]int{x, y}]
			line += cellText(float64(n)/j.n, float64(n)/float64(most), o.ASCII)
		}
		fmt.Fprintf(w, "\n%s", strings.TrimRight(line, " "))
	}
	fmt.Fprintln(w)
	fmt.Fprint(w, "  each from the length given up to the next")
	if r := j.correlation(); !math.IsNaN(r) {
		fmt.Fprintf(w, "; correlation %.2f", r)
	}
	fmt.Fprintln(w)
}

// cellText is a share in per cent behind a shade.
func cellText(share, ofMost float64, ascii bool) string {
	shades, few := []rune("░▒▓█"), "·"
	if ascii {
		shades, few = []rune(".-+#"), "."
	}
	switch {
	case share == 0:
		return strings.Repeat(" ", cellWidth)
	case share < 0.005:
		return fmt.Sprintf("%*s", cellWidth, few)
	}
	shade := shades[min(int(ofMost*float64(len(shades))), len(shades)-1)]
	return fmt.Sprintf(" %c%c%3d", shade, shade, int(100*share+0.5))
}

// power is a power of two, short.
func power(n int) string {
	for _, unit := range []string{"", "k", "M"} {
		if n < 1024 {
			return fmt.Sprint(n) + unit
		}
		n /= 1024
	}
	return fmt.Sprint(n) + "G"
}

func (p *prefixes) text(f figures, o Options) {
	fmt.Fprintln(f.w, "\nhits of a prefix cache without limits, by block size in tokens")
	label := len(text.Grouped(p.sizes[len(p.sizes)-1].tokens))
	for _, size := range p.sizes {
		share := float64(size.hits) / float64(max(1, p.total))
		least := ""
		if p.atLeast(size.tokens) {
			least = ", or more"
		}
		fmt.Fprintf(f.w, "  %*s  %s%s%.1f %% of prompt tokens%s\n", label, text.Grouped(size.tokens),
			bar(share, o.ASCII), map[bool]string{true: " "}[share > 0], 100*share, least)
	}
	block := text.Grouped(p.sizes[p.whole].tokens)
	if some, all := p.main(0.9); all > 0 {
		words := fmt.Sprintf("%s of whole blocks of %s tokens", text.Grouped(all), block)
		if p.others > 0 {
			words = "more than " + words
		}
		if some > 0 {
			words += fmt.Sprintf(", 90 %% of the hits from %s of them", text.Grouped(some))
		}
		f.row("shared prefixes", "%s", words)
	}
	f.row("working set", "%s tokens in blocks of %s, of which about %s are found again", text.Grouped(p.cached), block,
		text.Grouped(min(int(p.reused), p.cached)))
	if p.texts {
		f.row("compared", "texts by their bytes, so these figures are approximate")
	}
}

func (a *arrivals) text(f figures, o Options) {
	fmt.Fprintln(f.w, "\narrivals")
	if a.duration() == 0 {
		f.row("times", "all at once")
		return
	}
	const names = 2
	counts := a.series.spread(min(o.Columns-names-20, 80, max(a.n, 10)), a.duration())
	most := 0.0
	for _, n := range counts {
		most = max(most, n)
	}
	part := a.duration().Seconds() / float64(len(counts))
	fmt.Fprintf(f.w, "  %s at most %s/s\n", text.Sparkline(counts, most, o.ASCII), decimals(most/part))
	end := length(a.duration())
	fmt.Fprintf(f.w, "  0%*s\n", len(counts)-1, end)
	f.row("rate", "%s requests/s over %s; at most %s in a second, %s in a minute", decimals(a.rate()), end,
		text.Grouped(a.second.most), text.Grouped(a.minute.most))
	if cv := a.cv(); !math.IsNaN(cv) {
		f.row("burstiness", "%s: %s (the gaps vary by a CV of %.2f; Poisson is 1)", decimals(a.burstiness()),
			pattern(cv), cv)
	}
	if a.back > 0 {
		f.row("times that go back", "%s, taken as those of the requests before", text.Grouped(a.back))
	}
}

// pattern names arrivals by their CV, which is within a tenth of 1 for a thousand Poisson arrivals.
func pattern(cv float64) string {
	switch {
	case cv < 0.85:
		return "regular"
	case cv <= 1.15:
		return "Poisson-like"
	}
	return "bursty"
}

// length writes a duration with as many digits as a person reads.
func length(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// decimals writes a number with up to three digits that count.
func decimals(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return text.Digits(v, 3)
}

// Flags are flags of serve for about such a load. The parts that prompts share become one prefix of all of them, as
// large a share of their tokens.
func (a *Analysis) Flags() (flags []string) {
	add := func(name, value string) { flags = append(flags, "--"+name+" "+value) }
	if a.input.n == 0 || a.sessions.turns.n > 0 { // no flag gives the shape of conversations
		return nil
	}
	add("num-prompts", fmt.Sprint(a.input.n))
	if t := &a.arrivals; t.n > 1 && t.duration() > 0 {
		add("request-rate", decimals(t.rate()))
		if cv := t.cv(); !math.IsNaN(cv) {
			add("burstiness", decimals(t.burstiness()))
		}
	}
	input, prefix := a.input.mean(), 0.0
	if p := &a.prefixes; p.total > 0 { // which the first prompt does not find
		prefix = input * float64(p.sizes[p.whole].hits) / float64(p.total) * float64(p.prompts) / float64(
			max(1, p.prompts-1))
	}
	if prefix >= 1 {
		add("random-prefix-len", fmt.Sprintf("%.0f", prefix))
	}
	add(a.input.flag("random-input-len", "random-isl-dist", prefix))
	if a.output.n > 0 {
		add(a.output.flag("random-output-len", "random-osl-dist", 0))
	}
	return flags
}

// flag is one for lengths like these, on average shorter by so many tokens: of a fixed length, or of a lognormal
// distribution that is spread as much.
func (l *lengths) flag(fixed, spread string, less float64) (name, value string) {
	mean := max(1, l.mean()-less)
	std := l.std() * mean / max(1, l.mean())
	if std < 0.01*mean {
		return fixed, fmt.Sprintf("%.0f", mean)
	}
	return spread,
		fmt.Sprintf("lognormal,mean=%.0f,std=%.0f,max=%d", mean, max(1, std), max(1, l.quantile(1)-int(less)))
}
