package panels

import (
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// nameColumn is how the grid shows one of the three parts of the names.
type nameColumn struct {
	keys  []string // its title
	names []string // by combination
	// least are the columns for the names and the beginning of each key, most those for whole keys, too; 0 for a part
	// that is the same everywhere.
	least, most int
}

// title is what fits into w columns: rather the beginning of each key than that of the first.
func (n *nameColumn) title(w int) string {
	all := strings.Join(n.keys, ", ")
	for most := w; screen.Width(all) > w && most > 2; most-- {
		short := metrics.Each(n.keys, func(key string) string { return screen.Shorten(key, most) })
		all = strings.Join(short, ", ")
	}
	return screen.Shorten(all, w)
}

// nameColumns are the parts of the names as the grid shows them. Where all combinations have the same parameters, the
// names of those that differ are the title, and the cells have their values.
func (v *SweepView) nameColumns() (out [3]nameColumn) {
	shown := false
	for k, title := range [...]string{"server", "benchmark", v.load()} {
		out[k] = v.nameColumn(k, title)
		shown = shown || out[k].most > 0
	}
	if !shown && len(v.cells) > 0 {
		out[0] = nameColumn{keys: []string{v.Part}, names: []string{v.cells[0].name()}}
		out[0].measure()
	}
	return out
}

// load is what the last part of the names is.
func (v *SweepView) load() string {
	if v.Dir != "" {
		return "load"
	}
	return v.Part
}

func (v *SweepView) nameColumn(k int, title string) nameColumn {
	col := nameColumn{keys: []string{title}, names: make([]string, len(v.cells))}
	for i := range v.cells {
		col.names[i] = v.cells[i].names()[k]
	}
	if !slices.ContainsFunc(col.names, func(s string) bool { return s != col.names[0] }) {
		return col
	}
	if keys, values, ok := differing(col.names); ok {
		col.keys, col.names = keys, values
	}
	col.measure()
	return col
}

func (n *nameColumn) measure() {
	const keyLeast = 6
	for _, key := range n.keys {
		n.least, n.most = n.least+min(screen.Width(key), keyLeast)+2, n.most+screen.Width(key)+2
	}
	for _, name := range n.names {
		n.least, n.most = max(n.least, screen.Width(name)+2), max(n.most, screen.Width(name)+2)
	}
}

// differing takes names such as "a=1, b=2" apart: the keys of the values that differ, and these values of each; an
// empty name has none. ok is false where the names have not the same keys.
func differing(names []string) (keys, values []string, ok bool) {
	pairs := make([][]string, len(names))
	var all []string // keys
	for i, name := range names {
		if name == "" {
			continue
		}
		own, values, found := keysAndValues(name)
		if !found || all != nil && !slices.Equal(all, own) {
			return nil, nil, false
		}
		all, pairs[i] = own, values
	}
	values = make([]string, len(names))
	for at, key := range all {
		of := metrics.Each(pairs, func(pair []string) string {
			if pair == nil {
				return ""
			}
			return pair[at]
		})
		if !slices.ContainsFunc(of, func(value string) bool { return value != of[0] }) {
			continue
		}
		keys = append(keys, key)
		for i := range names {
			values[i] = strings.TrimPrefix(values[i]+", "+of[i], ", ")
		}
	}
	return keys, values, true
}

// keysAndValues takes a name such as "a=1, b=2" apart; ok is false for another one.
func keysAndValues(name string) (keys, values []string, ok bool) {
	for pair := range strings.SplitSeq(name, ", ") {
		key, value, found := strings.Cut(pair, "=")
		if !found {
			return nil, nil, false
		}
		keys, values = append(keys, key), append(values, value)
	}
	return keys, values, true
}

// shrink takes columns from the widest until all fit into w.
func shrink(widths [3]int, w int) [3]int {
	for {
		sum, widest := 0, 0
		for k, n := range widths {
			sum += n
			if n > widths[widest] {
				widest = k
			}
		}
		if sum <= w || widths[widest] == 0 {
			return widths
		}
		second := 0
		for k, n := range widths {
			if k != widest {
				second = max(second, n)
			}
		}
		widths[widest] -= max(1, min(sum-w, widths[widest]-second))
	}
}
