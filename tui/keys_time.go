package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// spanBy shows more or less time.
func spanBy(by int) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		m.span = min(max(m.span+by, 0), len(spans)-1)
		return nil
	}
}

// scrollTime moves the charts by half of what they show. Scrolled back they stand still while the run goes on.
func scrollTime(by time.Duration) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		span, end := spans[m.span], closedEnd(m.body)
		if span == 0 {
			m.say("all of the run is shown")
			return nil
		}
		to := end - m.back(m.body) + by*span/2
		if to >= end {
			m.until = 0
			return nil
		}
		m.until = max(to, span)
		if m.until >= end {
			m.until = 0
			m.say("the charts begin with the run")
		}
		return nil
	}
}

// scrollStep is a way to move through a long text.
type scrollStep int

const (
	scrollUp scrollStep = iota
	scrollDown
	scrollPageUp
	scrollPageDown
	scrollTop
	scrollEnd
)

func scroll(do scrollStep) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		m.scrollText(do)
		return nil
	}
}

func (m *model) scrollText(do scrollStep) {
	l := m.layout()
	if l.tiny || len(l.panels) == 0 {
		return
	}
	r := l.panels[0].rect
	if m.pageNow().name == reportPage.name {
		m.scrollReport(do, r)
		return
	}
	m.scrollLog(do, r)
}

// scrollReport counts lines from the top.
func (m *model) scrollReport(do scrollStep, r rect) {
	high := max(1, r.h-2)
	most := max(0, len(m.reportLines(r.w-2))-high)
	at := min(m.reportTop, most)
	switch do {
	case scrollUp:
		at--
	case scrollDown:
		at++
	case scrollPageUp:
		at -= high
	case scrollPageDown:
		at += high
	case scrollTop:
		at = 0
	case scrollEnd:
		at = most
	}
	m.reportTop = min(max(at, 0), most)
}

// scrollLog counts lines from the end. While it is scrolled back the log stands still; back at the end it goes on.
func (m *model) scrollLog(do scrollStep, r rect) {
	if m.pinned == nil {
		m.pinned = m.latest.Log
		if m.frozen {
			m.pinned = m.body.Log
		}
	}
	high := max(1, r.h-2)
	most := max(0, len(logLines(m.logShown(), r.w-2))-high)
	switch do {
	case scrollUp:
		m.scroll++
	case scrollDown:
		m.scroll--
	case scrollPageUp:
		m.scroll += high
	case scrollPageDown:
		m.scroll -= high
	case scrollTop:
		m.scroll = most
	case scrollEnd:
		m.scroll = 0
	}
	m.scroll = min(max(m.scroll, 0), most)
	if m.scroll == 0 {
		m.pinned = nil
	}
}

// setLogFilter shows only events in which the words are found.
func (m *model) setLogFilter(words string) {
	m.filter, m.scroll, m.pinned = words, 0, nil
}
