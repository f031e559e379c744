package tui

// legendItem is a line's name in the title, and its value at the right edge of the chart where there is room.
type legendItem struct {
	color       color
	name, value string
}

// noted adds the first of some words to a title that still fits into a panel w wide, the longest first; none if none does.
func noted(title []span, w int, st style, words ...string) []span {
	for _, s := range words {
		if s != "" && spansWidth(title)+width(s)+6 <= w {
			return append(title, span{s, st})
		}
	}
	return title
}

// legend is a title with the lines and their values: tokens/s ━ out 7984 ━ in 3812.
func legend(w int, title string, items ...legendItem) []span {
	for _, values := range []bool{true, false} {
		out := []span{{title, strong}}
		for _, it := range items {
			name := it.name
			if values && it.value != "" {
				name += " " + it.value
			}
			out = append(out, span{" ━ ", style{fg: it.color}}, span{name, text})
		}
		if spansWidth(out)+6 <= w {
			return out
		}
	}
	return []span{{title, strong}}
}
