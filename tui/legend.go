package tui

import "benchtop/tui/screen"

// What the colours stand for, everywhere.
const (
	colorOutput  = screen.Blue
	colorInput   = screen.Purple
	colorRunning = screen.Green
	colorWaiting = screen.Purple
	colorHeld    = screen.Orange
	colorError   = screen.Vermilion
)

// legendItem is a line's name in the title, and its value at the right edge of the chart where there is room.
type legendItem struct {
	color       screen.Color
	name, value string
}

// noted adds the first of some words to a title that still fits into a panel w wide, the longest first; none if none does.
func noted(title []screen.Span, w int, st screen.Style, words ...string) []screen.Span {
	for _, s := range words {
		if s != "" && screen.SpansWidth(title)+screen.Width(s)+6 <= w {
			return append(title, st.Span(s))
		}
	}
	return title
}

// legend is a title with the lines and their values: tokens/s ━ out 7984 ━ in 3812.
func legend(w int, title string, items ...legendItem) []screen.Span {
	for _, values := range []bool{true, false} {
		out := []screen.Span{screen.Strong.Span(title)}
		for _, it := range items {
			name := it.name
			if values && it.value != "" {
				name += " " + it.value
			}
			out = append(out, screen.Style{Fg: it.color}.Span(" ━ "), screen.Text.Span(name))
		}
		if screen.SpansWidth(out)+6 <= w {
			return out
		}
	}
	return []screen.Span{screen.Strong.Span(title)}
}
