package preview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"benchtop/datasets"
	"benchtop/internal/text"
)

// Options say how a preview is written.
type Options struct {
	ASCII bool
	// Columns are how many the page has, 0 for 100.
	Columns int
	// Clean takes out of foreign text what could play tricks on a terminal.
	Clean func(string) string
}

// mostBins bounds the rows of a histogram, barWidth the columns of its bars; quoteWidth is how much of a prompt is
// shown, mostTurns how many of a conversation.
const (
	mostBins   = 16
	barWidth   = 40
	quoteWidth = 240
	mostTurns  = 6
)

// Text writes the figures, histograms and first prompts for a person.
func (p *Preview) Text(w io.Writer, o Options) error {
	o.Columns = cmp.Or(o.Columns, 100)
	b := bufio.NewWriter(w)
	p.figures(figures{b, o.Columns})
	p.input.histogram(b, "prompt tokens", o.ASCII)
	p.output.histogram(b, "output tokens requested", o.ASCII)
	p.prompted(b, o)
	return b.Flush()
}

// figures are rows of a name and words about it.
type figures struct {
	w       io.Writer
	columns int
}

func (f figures) row(name, format string, a ...any) {
	const names = 21
	for _, line := range inLines(fmt.Sprintf(format, a...), f.columns-names) {
		fmt.Fprintf(f.w, "%-*s%s\n", names, name, line)
		name = ""
	}
}

func (p *Preview) figures(f figures) {
	arriving := "requests"
	if p.turns.sum > p.conversations {
		arriving = "conversations"
		f.row("conversations", "%s", text.Grouped(p.conversations))
		f.row("turns", "%s", p.turns.describe())
	}
	f.row("requests", "%s", text.Grouped(p.turns.sum))
	if p.prompts > p.turns.sum {
		f.row("prompts", "%s", text.Grouped(p.prompts))
	}
	var forms []string
	for _, k := range []string{"text", "token ids", "chat messages", "recordings"} {
		if n := p.kinds[k]; n > 0 && n == p.turns.sum {
			forms = append(forms, k)
		} else if n > 0 {
			forms = append(forms, fmt.Sprintf("%s %s", text.Grouped(n), k))
		}
	}
	f.row("sent as", "%s", strings.Join(forms, ", "))
	if p.media > 0 {
		f.row("with media", "%s, not counted as tokens", text.Grouped(p.media))
	}
	f.row("prompt tokens", "%s", p.input.describe())
	if p.output.n > 0 {
		f.row("output tokens", "%s", p.output.describe())
	}
	if p.unlimited > 0 && p.output.n > 0 {
		f.row("without a limit", "%s", text.Grouped(p.unlimited))
	}
	if p.timed {
		rate := float64(p.conversations) / p.last.Seconds()
		f.row("times", "the trace takes %s, %s %s/s on average", p.last.Round(time.Millisecond), decimals(rate),
			arriving)
	}
}

// bar is as long as its share of barWidth; any share above 0 shows.
func bar(share float64, ascii bool) string {
	eighths := int(share*barWidth*8 + 0.5)
	if share > 0 {
		eighths = max(eighths, 1)
	}
	if ascii {
		return strings.Repeat("#", (eighths+7)/8)
	}
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}

func (p *Preview) prompted(w io.Writer, o Options) {
	if len(p.first) == 0 {
		return
	}
	fmt.Fprintf(w, "\nfirst of %s\n", text.Grouped(p.conversations))
	for i, c := range p.first {
		turn := 0
		for t, err := range c.Composed() {
			if turn == mostTurns {
				fmt.Fprintf(w, "      … and %s more turns\n", text.Grouped(len(c.Turns)-turn))
				break
			}
			quote := o.quote(&t, turn > 0 && t.Prompt.Compose != nil)
			if err != nil {
				quote = err.Error()
			}
			fmt.Fprintf(w, "  %d  %s\n", i+1, strings.Join(about(&c, turn, &t, o), ", "))
			for _, line := range wrapped(o.Clean(quote), o.Columns-8) {
				fmt.Fprintf(w, "      %s\n", line)
			}
			turn++
		}
	}
}

// about is what stands beside a prompt.
func about(c *datasets.Conversation, turn int, t *datasets.Turn, o Options) []string {
	var words []string
	if c.ID != "" {
		words = append(words, o.Clean(c.RequestID(turn)))
	}
	words = append(words, text.Grouped(t.InputTokens)+" tokens")
	if t.MaxTokens > 0 {
		words = append(words, text.Grouped(t.MaxTokens)+" requested")
	}
	if c.At > 0 && turn == 0 {
		words = append(words, "at "+c.At.String())
	}
	if t.Delay > 0 && !c.Timed {
		words = append(words, "after a pause of "+t.Delay.String())
	}
	if t.At > 0 && c.Timed {
		words = append(words, t.At.String()+" after the start")
	}
	if t.Class != "" {
		words = append(words, o.Clean(t.Class))
	}
	if t.Audio != nil {
		words = append(words, fmt.Sprintf("%s of %.1f s", o.Clean(t.Audio.Name), t.Audio.Duration.Seconds()))
	}
	if t.Media != nil {
		words = append(words, "with media")
	}
	if t.Overrides != nil {
		words = append(words, "with its own body fields")
	}
	return words
}

// quote is the beginning of a prompt as one line, or its end, where the beginning is that of an earlier one.
func (o *Options) quote(t *datasets.Turn, end bool) string {
	newline, more := "⏎", " …"
	if o.ASCII {
		newline, more = `\n`, " ..."
	}
	var s string
	switch {
	case t.Messages != nil:
		s = string(t.Messages)
	case t.TokenIDs != nil:
		ids := t.TokenIDs[:min(len(t.TokenIDs), quoteWidth)]
		if end {
			ids = t.TokenIDs[max(0, len(t.TokenIDs)-quoteWidth):]
		}
		s = strings.Trim(fmt.Sprint(ids), "[]")
	case len(t.Batch) > 0:
		var all []string
		for i := range t.Batch[:min(len(t.Batch), 4)] {
			all = append(all, cut(o.quote(&t.Batch[i], false), quoteWidth/4, more))
		}
		s = strings.Join(all, " | ")
	default:
		s = t.Text
	}
	s = strings.ReplaceAll(s, "\n", newline)
	if n := utf8.RuneCountInString(s); end && n > quoteWidth {
		return strings.TrimSpace(more) + " " + string([]rune(s)[n-quoteWidth:])
	}
	return cut(s, quoteWidth, more)
}

// cut keeps the first n characters of a text, and puts behind them that there was more.
func cut(s string, n int, more string) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + more
		}
	}
	return s
}

// wrapped are the lines of a text wherever it may be parted, none wider than so many columns of a terminal, of which
// some characters take two.
func wrapped(s string, columns int) (lines []string) {
	start, at, width := 0, 0, 0
	for state, rest := -1, s; rest != ""; {
		var cluster string
		var boundaries int
		cluster, rest, boundaries, state = uniseg.StepString(rest, state)
		w := boundaries >> uniseg.ShiftWidth
		if width+w > columns && at > start {
			lines = append(lines, s[start:at])
			start, width = at, 0
		}
		at, width = at+len(cluster), width+w
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// inLines are the lines of a list in words, parted behind commas, and at blanks where an item is longer than a line.
func inLines(s string, columns int) []string {
	var parts []string
	for item := range strings.SplitAfterSeq(s, ", ") {
		if item = strings.TrimSpace(item); text.Width(item) <= columns {
			parts = append(parts, item)
		} else {
			parts = append(parts, strings.Fields(item)...)
		}
	}
	return text.Fill(parts, " ", "", columns)
}
