package panels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// logPanel is the tail of the log; eventsPanel the log as a page of its own, wrapped and scrolled.
var (
	logPanel = Panel{name: "log",
		title: func(*View, int, int) []screen.Span { return []screen.Span{screen.Strong.Span("log")} }, draw: drawLog,
		empty: func(v *View) bool { return len(v.Log) == 0 }, nothing: "no events yet"}
	eventsPanel = Panel{name: "events", title: eventsTitle, draw: drawEvents}
)

// logWraps is the least height of a tail of the log that wraps its lines. A lower one has a line for each event, of
// which both ends are left, unless it has room for all of the log.
const logWraps = 12

func drawLog(c screen.Canvas, v *View) {
	if c.H >= logWraps || len(v.Log) <= c.H && len(LogLines(v.Log, c.W)) <= c.H {
		drawEvents(c, v)
		return
	}
	tail := v.Log[max(0, len(v.Log)-c.H):]
	head := headWidth(v.Log)
	for y, e := range tail {
		drawEventHead(c, y, e, head)
		c.Print(head, y, screen.ShortenMiddle(eventText(e), c.W-head), screen.Text)
	}
}

// headWidth is the width of the time and the level of the events.
func headWidth(log []metrics.LogEntry) int {
	if len(log) > 0 {
		return len(moment(max(0, log[len(log)-1].At))) + 7
	}
	return 0
}

func drawEventHead(c screen.Canvas, y int, e metrics.LogEntry, head int) {
	c.Right(head-7, y, moment(max(0, e.At)), screen.Label)
	x := head - 6
	switch e.Level {
	case metrics.Error:
		c.Print(x, y, "ERROR", screen.Warning)
	case metrics.Warn:
		c.Print(x, y, "WARN", screen.Caution)
	default:
		c.Print(x, y, "INFO", screen.Label)
	}
}

func eventText(e metrics.LogEntry) string {
	if e.Count > 1 {
		return fmt.Sprintf("%s (×%s)", screen.Sanitize(e.Text), number.Count(e.Count))
	}
	return screen.Sanitize(e.Text)
}

func eventsTitle(v *View, _, _ int) []screen.Span {
	n := " " + number.Count(len(v.Log)) + " events"
	if len(v.Log) == 1 {
		n = " 1 event"
	}
	out := heading{screen.Strong.Span("log"), screen.Label.Span(n)}
	out.when(v.Filter != "", screen.Text, " · /", screen.Shorten(screen.Sanitize(v.Filter), 30))
	out.when(v.Scroll > 0, screen.Label, " · ", strconv.Itoa(v.Scroll), " lines below, G end")
	return out
}

// eventLinesMost is how many lines one event may take.
const eventLinesMost = 8

// logLine is one line of the wrapped log; only an event's first has a head.
type logLine struct {
	event metrics.LogEntry
	text  string
	first bool
}

// LogLines wraps the log's events to w columns.
func LogLines(log []metrics.LogEntry, w int) []logLine {
	var out []logLine
	w -= headWidth(log)
	for _, e := range log {
		parts := screen.Wrap(eventText(e), max(1, w), eventLinesMost)
		if len(parts) == 0 {
			parts = []string{""}
		}
		for i, p := range parts {
			out = append(out, logLine{e, p, i == 0})
		}
	}
	return out
}

func drawEvents(c screen.Canvas, v *View) {
	lines := LogLines(v.Log, c.W)
	switch {
	case len(lines) == 0 && v.Filter != "":
		c.Center("no match; Esc clears the filter", screen.Label)
		return
	case len(lines) == 0:
		c.Center("no events yet", screen.Label)
		return
	}
	end := max(min(len(lines)-v.Scroll, len(lines)), min(c.H, len(lines)))
	head := headWidth(v.Log)
	for y, l := range lines[max(0, end-c.H):end] {
		if l.first {
			drawEventHead(c, y, l.event, head)
		}
		c.Print(head, y, l.text, screen.Text)
	}
}

// FilterLog leaves the events in which the words are found, whatever their case; all of them without words.
func FilterLog(log []metrics.LogEntry, words string) []metrics.LogEntry {
	if words == "" {
		return log
	}
	return slices.DeleteFunc(slices.Clone(log), func(e metrics.LogEntry) bool {
		return !strings.Contains(strings.ToLower(string(e.Level)+" "+eventText(e)), strings.ToLower(words))
	})
}
