package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// logPanel is the tail of the log; eventsPanel the log as a page of its own, wrapped and scrolled.
var (
	logPanel    = panel{"log", func(*view, int, int) []span { return []span{{"log", strong}} }, drawLog}
	eventsPanel = panel{"events", eventsTitle, drawEvents}
)

// logWraps is how high a tail of the log is that wraps its lines; a lower one has a line for each event, unless it has room
// for all there is.
const logWraps = 12

func drawLog(c canvas, v *view) {
	if len(v.s.Log) == 0 {
		c.center("nothing yet", label)
		return
	}
	if c.h >= logWraps || len(v.s.Log) <= c.h && len(logLines(v.s.Log, c.w)) <= c.h {
		drawEvents(c, v)
		return
	}
	tail := v.s.Log[max(0, len(v.s.Log)-c.h):]
	head := headWidth(v.s.Log)
	for y, e := range tail {
		drawEventHead(c, y, e, head)
		c.print(head, y, eventText(e), text)
	}
}

// headWidth is what time and level of the events take.
func headWidth(log []metrics.Event) int {
	if len(log) > 0 {
		return len(eventTime(log[len(log)-1])) + 7
	}
	return 0
}

func eventTime(e metrics.Event) string {
	return fmt.Sprintf("%s.%d", clock(e.At), int(max(0, e.At)/(100*time.Millisecond)%10))
}

func drawEventHead(c canvas, y int, e metrics.Event, head int) {
	c.right(head-7, y, eventTime(e), label)
	x := head - 6
	switch e.Level {
	case metrics.Error:
		c.print(x, y, "ERROR", style{fg: colorError, attr: bold})
	case metrics.Warn:
		c.print(x, y, "WARN", style{fg: orange, attr: bold})
	default:
		c.print(x, y, "INFO", label)
	}
}

func eventText(e metrics.Event) string {
	if e.Count > 1 {
		return fmt.Sprintf("%s (×%s)", sanitize(e.Text), count(e.Count))
	}
	return sanitize(e.Text)
}

func eventsTitle(v *view, _, _ int) []span {
	n := " " + count(len(v.s.Log)) + " events"
	if len(v.s.Log) == 1 {
		n = " 1 event"
	}
	out := []span{{"log", strong}, {n, label}}
	if v.filter != "" {
		out = append(out, span{" · /" + shorten(sanitize(v.filter), 30), text})
	}
	if v.scroll > 0 {
		out = append(out, span{fmt.Sprintf(" · %d lines below, G to the end", v.scroll), label})
	}
	return out
}

// eventLinesMost bounds what one event may take of the screen.
const eventLinesMost = 8

// logLine is one line of the wrapped log; only an event's first has a head.
type logLine struct {
	event metrics.Event
	text  string
	first bool
}

// logLines wraps the log's events to w columns.
func logLines(log []metrics.Event, w int) []logLine {
	var out []logLine
	w -= headWidth(log)
	for _, e := range log {
		parts := wrap(eventText(e), max(1, w), eventLinesMost)
		if len(parts) == 0 {
			parts = []string{""}
		}
		for i, p := range parts {
			out = append(out, logLine{e, p, i == 0})
		}
	}
	return out
}

func drawEvents(c canvas, v *view) {
	lines := logLines(v.s.Log, c.w)
	switch {
	case len(lines) == 0 && v.filter != "":
		c.center("nothing matches, Esc shows all", label)
		return
	case len(lines) == 0:
		c.center("nothing yet", label)
		return
	}
	end := max(min(len(lines)-v.scroll, len(lines)), min(c.h, len(lines)))
	head := headWidth(v.s.Log)
	for y, l := range lines[max(0, end-c.h):end] {
		if l.first {
			drawEventHead(c, y, l.event, head)
		}
		c.print(head, y, l.text, text)
	}
}
