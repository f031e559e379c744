package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

// onMouse: a click on a tab turns the page, one on a panel chooses it, one more zooms it or lets it go; on the list of requests
// it chooses a row, one more opens that. While the help is open any click closes it. The wheel scrolls.
func (m *model) onMouse(e tea.MouseEvent) tea.Cmd {
	switch {
	case m.prompt != nil || e.Action != tea.MouseActionPress:
		return nil
	case m.helping && e.Button == tea.MouseButtonWheelUp:
		m.onHelp("up")
		return nil
	case m.helping && e.Button == tea.MouseButtonWheelDown:
		m.onHelp("down")
		return nil
	case m.helping:
		m.onHelp("click")
		return nil
	case e.Button == tea.MouseButtonWheelUp:
		m.wheel(scrollUp, listUp)
	case e.Button == tea.MouseButtonWheelDown:
		m.wheel(scrollDown, listDown)
	case e.Button == tea.MouseButtonLeft:
		m.click(e.X, e.Y)
	default:
		return nil
	}
	m.idle = 0
	m.show()
	return nil
}

func (m *model) wheel(text scrollStep, list listAction) {
	for range wheelLines {
		switch {
		case onLog(m):
			m.scrollText(text)
		case onList(m):
			m.actOnList(list)
		}
	}
}

func (m *model) click(x, y int) {
	l := m.layout()
	if l.tiny {
		return
	}
	if y == l.head.y {
		if page, ok := m.header().tabAt(x, l.head.w); ok {
			m.turn(page)
		}
		return
	}
	if m.zoomed {
		if m.below(l).has(x, y) {
			m.zoomed = false
		}
		return
	}
	if onList(m) {
		m.clickList(l, x, y)
	}
	if !onPanels(m) {
		return
	}
	for _, b := range l.panels {
		if b.rect.has(x, y) {
			m.zoomed = b.name == m.focus
			m.focus = b.name
		}
	}
}

func (m *model) clickList(l areas, x, y int) {
	for _, b := range l.panels {
		if b.name == requestsPanel.name && b.rect.has(x, y) {
			m.list.point(m.choices(m.body), m.below(l), y-b.rect.y-2) // below the border and the names of the columns
		}
	}
}

// has: the cell at x, y lies in it.
func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }
