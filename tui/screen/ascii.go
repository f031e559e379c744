package screen

// plain is the ASCII character that stands for a glyph of the surface, one for each column. Foreign letters become
// question marks; both halves of a wide one do.
func (s *Surface) plain(glyph rune) rune {
	switch {
	case glyph < 0: // a letter with marks on it stays without them
		return s.plain(firstRune(s.clusters[-glyph-1]))
	case glyph >= 0x20 && glyph <= 0x7e:
		return glyph
	}
	return asciiFor(glyph)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return '?'
}

// asciiFor is the character for a sign of the dashboard.
func asciiFor(r rune) rune {
	switch r {
	case '─', '▁', '·', '┄', '–':
		return '-'
	case '━', '╸', '╺':
		return '='
	case '┊':
		return ':'
	case '│', '‖':
		return '|'
	case '╭', '╮', '╰', '╯', '┴', '┤', '├', '┬', '┼', '┌', '┐', '└', '┘':
		return '+'
	case '●', '◐', '■':
		return '*'
	case '✓', '↓':
		return 'v'
	case '↑', '▲':
		return '^'
	case '°':
		return ' '
	case '…':
		return '~'
	case '→', '▶':
		return '>'
	case '≤':
		return '<'
	case '≥':
		return '>'
	case '×', '✗':
		return 'x'
	case 'µ':
		return 'u'
	case '▂', '▃', '▄':
		return '.'
	case '▅', '▆', '▇':
		return ':'
	case '█':
		return '#'
	}
	switch {
	case r == 0x2800:
		return ' '
	case r > 0x2800 && r <= 0x28ff: // plots in the report; charts draw letters
		return '*'
	}
	return '?'
}
