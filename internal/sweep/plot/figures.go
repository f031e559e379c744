package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/export/charts"
	"benchtop/internal/pyjson"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Options say what is plotted.
type Options struct {
	// FigBy, RowBy, ColBy and CurveBy are the fields by which figures, rows and columns of panels, and curves are told
	// apart.
	FigBy, RowBy, ColBy, CurveBy []string
	X, Y                         string
	Filters                      []Filter
	Bins                         []Bin
	ScaleX, ScaleY               charts.Scale
	// Bands draws the standard deviation of runs around their mean.
	Bands bool
}

// Figure is a figure and what its records have in common.
type Figure struct {
	// Group are the fields of --fig-by with their values.
	Group [][2]string
	// Rows and Columns are counted before the filters, as vLLM prints them.
	Rows, Columns int
	// Chart has no panels if the filters left nothing.
	Chart charts.Figure
}

// Figures makes the figures of the records, in order of first appearance. Its errors name fields and files.
func Figures(records []Record, o Options) ([]Figure, error) {
	if err := o.check(records); err != nil {
		return nil, err
	}
	var figures []Figure
	for _, group := range groups(records, o.FigBy) {
		rows := groups(group.records, o.RowBy)
		f := Figure{Group: group.pairs, Rows: len(rows), Columns: 1}
		for _, row := range rows {
			f.Columns = max(f.Columns, len(groups(row.records, o.ColBy)))
		}
		var err error
		if f.Chart, err = o.chart(group); err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// check finds fields that are missing: from all records, or from one where records are grouped.
func (o *Options) check(records []Record) error {
	filtered := metrics.Each(o.Filters, func(f Filter) string { return f.Key })
	binned := metrics.Each(o.Bins, func(b Bin) string { return b.Key })
	var problems []error
	for _, of := range []struct {
		flag  string
		keys  []string
		every bool
	}{
		{"fig-by", o.FigBy, true}, {"row-by", o.RowBy, true}, {"col-by", o.ColBy, true}, {"curve-by", o.CurveBy, false},
		{"var-x", []string{o.X}, false}, {"var-y", []string{o.Y}, false}, {"filter-by", filtered, false},
		{"bin-by", binned, false},
	} {
		if err := CheckKeys(records, of.flag, of.keys...); err != nil {
			problems = append(problems, err)
			continue
		}
		for _, key := range of.keys {
			lacks := slices.IndexFunc(records, func(r Record) bool { _, ok := r.fields[key]; return !ok })
			if of.every && lacks >= 0 {
				problems = append(problems,
					fmt.Errorf("--%s: %s lacks the field %s", of.flag, records[lacks].place(), usage.Quote(key)))
			}
		}
	}
	return errors.Join(problems...)
}

// group are the records that agree in some fields.
type group struct {
	pairs   [][2]string // the fields, with their values as text
	values  []value
	records []Record
}

// groups groups records by the texts of fields, in order of first appearance: 8 and 8.0 differ.
func groups(records []Record, keys []string) []group {
	return groupsBy(records, keys, func(v value) string { return v.text })
}

// curveGroups groups records by the values of fields: 8 and 8.0 are one curve.
func curveGroups(records []Record, keys []string) []group {
	return groupsBy(records, keys, func(v value) string {
		if v.kind == number {
			return pyjson.Float(v.number)
		}
		return v.text
	})
}

func groupsBy(records []Record, keys []string, id func(value) string) (all []group) {
	places := map[string]int{}
	for _, r := range records {
		g := group{records: []Record{r}}
		var ids []string
		for _, k := range keys {
			v := r.fields[k]
			g.pairs, g.values, ids = append(g.pairs, [2]string{k, v.text}), append(g.values, v), append(ids, id(v))
		}
		place := fmt.Sprintf("%q", ids)
		if at, ok := places[place]; ok {
			all[at].records = append(all[at].records, r)
		} else {
			places[place] = len(all)
			all = append(all, g)
		}
	}
	return all
}

func (g *group) label(separator string) string {
	return strings.Join(metrics.Each(g.pairs, func(p [2]string) string { return p[0] + "=" + p[1] }), separator)
}

// order compares values: numbers by size and before texts.
func order(a, b value) int {
	x, xIsNumber := a.numeric()
	y, yIsNumber := b.numeric()
	switch {
	case xIsNumber && yIsNumber:
		return cmp.Compare(x, y)
	case !xIsNumber && !yIsNumber:
		return cmp.Compare(a.text, b.text)
	case xIsNumber:
		return -1
	}
	return 1
}

func orderGroups(a, b group) int { return slices.CompareFunc(a.values, b.values, order) }

// chart makes the chart of one figure.
func (o *Options) chart(g group) (charts.Figure, error) {
	c := charts.Figure{Title: g.label(", "), X: charts.Axis{Label: label(o.X), Scale: o.ScaleX},
		Y: charts.Axis{Label: label(o.Y), Scale: o.ScaleY}}
	records := g.records
	var err error
	for _, f := range o.Filters {
		if records, err = f.apply(records); err != nil {
			return c, err
		}
	}
	for _, b := range o.Bins {
		if records, err = b.apply(records); err != nil {
			return c, err
		}
	}
	if len(records) == 0 {
		return c, nil
	}
	p := plotter{Options: o, looks: map[string]int{}}
	if err := p.place(records, &c); err != nil {
		return c, err
	}
	for _, row := range sorted(groups(p.records, o.RowBy)) {
		for _, column := range sorted(groups(p.records, o.ColBy)) {
			title := strings.Trim(row.label("\n")+"\n"+column.label("\n"), "\n")
			c.Panels = append(c.Panels, charts.Panel{Title: title, Curves: p.curves(within(row, column))})
		}
	}
	c.Columns = max(1, len(groups(p.records, o.ColBy)))
	if len(c.Panels) == 0 { // an empty one, which says so
		c.Panels = []charts.Panel{{}}
	}
	return c, nil
}

func sorted(all []group) []group {
	slices.SortStableFunc(all, orderGroups)
	return all
}

// within are the records of a row that are in a column.
func within(row, column group) (records []Record) {
	for _, r := range row.records {
		if !slices.ContainsFunc(column.pairs, func(p [2]string) bool { return r.fields[p[0]].text != p[1] }) {
			records = append(records, r)
		}
	}
	return records
}

// plotter makes the curves of a chart.
type plotter struct {
	*Options
	records    []Record
	categories []string
	looks      map[string]int // the number of a value among those of its field, by lookOf
}

// categorize makes x a list of texts if a record has one there.
func (p *plotter) categorize(records []Record, x *charts.Axis) {
	if !slices.ContainsFunc(records, func(r Record) bool { return r.fields[p.X].kind == words }) {
		return
	}
	for _, r := range records {
		if v := r.fields[p.X]; v.kind != null && !slices.Contains(p.categories, v.text) {
			p.categories = append(p.categories, v.text)
		}
	}
	x.Categories, x.Scale = p.categories, charts.Linear
}

// place keeps the records that have a place on both axes, makes x a list of texts if it has any, and fixes the looks of
// curves.
func (p *plotter) place(records []Record, c *charts.Figure) error {
	p.categorize(records, &c.X)
	left, unscaled := 0, 0
	for _, r := range records {
		y, ok := r.fields[p.Y].numeric()
		if !ok {
			return fmt.Errorf("--var-y %s: expected numbers, but %s has %s",
				p.Y, r.place(), usage.Quote(r.fields[p.Y].text))
		}
		x, ok := p.x(&r)
		if !ok {
			return fmt.Errorf("--var-x %s: expected numbers or texts, but %s has %s",
				p.X, r.place(), usage.Quote(r.fields[p.X].text))
		}
		switch {
		case !text.Finite(x) || !text.Finite(y) || len(p.CurveBy) <= 3 &&
			slices.ContainsFunc(p.CurveBy, func(k string) bool { return r.fields[k].kind == null }):
			left++
		case !c.X.Scale.Shows(x) || !c.Y.Scale.Shows(y):
			unscaled++
		default:
			p.records = append(p.records, r)
		}
	}
	if left > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s left out: no finite %s",
			runs(left), strings.Join(append([]string{p.X, p.Y}, p.CurveBy...), " or ")))
	}
	if unscaled > 0 {
		c.Notes = append(c.Notes, runs(unscaled)+" left out: the scale has no place for their values")
	}
	if len(p.CurveBy) > 3 {
		p.number(p.CurveBy)
	} else {
		for _, key := range p.CurveBy {
			p.number([]string{key})
		}
	}
	return nil
}

// number numbers the values of fields, for looks that are the same in all panels.
func (p *plotter) number(keys []string) {
	for n, g := range sorted(curveGroups(p.records, keys)) {
		for _, r := range g.records {
			p.looks[lookOf(&r, keys)] = n
		}
	}
}

func lookOf(r *Record, keys []string) string {
	look := ""
	for _, k := range keys {
		look += fmt.Sprintf("%q=%q ", k, r.fields[k].text)
	}
	return look
}

func runs(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return strconv.Itoa(n) + " runs are"
}

// x is the place of a record on the horizontal axis.
func (p *plotter) x(r *Record) (float64, bool) {
	v := r.fields[p.X]
	if p.categories == nil || v.kind == null {
		return v.numeric()
	}
	return float64(slices.Index(p.categories, v.text)), true
}

// curves are those of a panel, by rising values of their fields.
func (p *plotter) curves(records []Record) (curves []charts.Curve) {
	for _, g := range sorted(curveGroups(records, p.CurveBy)) {
		c := charts.Curve{Name: g.label(", "), Line: true, Points: p.points(g.records)}
		if len(p.CurveBy) > 3 {
			c.Colour = p.looks[lookOf(&g.records[0], p.CurveBy)]
		} else {
			for i := range p.CurveBy {
				*[]*int{&c.Colour, &c.Dash, &c.Width}[i] = p.looks[lookOf(&g.records[0], p.CurveBy[i:i+1])]
			}
		}
		curves = append(curves, c)
	}
	return curves
}

// points are the means of the records at each x, in order of x.
func (p *plotter) points(records []Record) (points []charts.Point) {
	at := map[float64][]Record{}
	var xs []float64
	for _, r := range records {
		x, _ := p.x(&r)
		if at[x] == nil {
			xs = append(xs, x)
		}
		at[x] = append(at[x], r)
	}
	slices.Sort(xs)
	for _, x := range xs {
		var ys []float64
		for _, r := range at[x] {
			y, _ := r.fields[p.Y].numeric()
			ys = append(ys, y)
		}
		mean, deviation := meanOf(ys)
		pt := charts.Point{X: x, Y: mean, Fields: fieldsOf(at[x])}
		if p.Bands {
			pt.Spread = deviation
		}
		points = append(points, pt)
	}
	return points
}

// meanOf is the mean and the standard deviation of a sample, 0 for a single value.
func meanOf(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v - values[0] // so that equal values have exactly themselves as their mean, and no band
	}
	mean = values[0] + mean/float64(len(values))
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)-1))
}

// fieldsOf are the fields of the runs of a point: one value where they agree, the mean of numbers, else nothing.
func fieldsOf(records []Record) (fields [][2]string) {
	if len(records) > 1 {
		fields = append(fields, [2]string{"runs", strconv.Itoa(len(records))})
	}
	for _, key := range keysOf(records) {
		var numbers []float64
		same := true
		first := records[0].fields[key]
		for _, r := range records {
			v, ok := r.fields[key]
			same = same && ok && v.text == first.text
			if v.kind == number {
				numbers = append(numbers, v.number)
			}
		}
		switch {
		case same && first.kind != null:
			fields = append(fields, [2]string{key, usage.Shorten(first.text)})
		case !same && len(numbers) == len(records) && key != "run_number":
			mean, _ := meanOf(numbers)
			fields = append(fields, [2]string{key, "mean " + pyjson.Float(significant(mean))})
		}
	}
	return fields
}

// significant rounds to six digits.
func significant(v float64) float64 {
	n, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return n
}
