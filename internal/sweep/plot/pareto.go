package plot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"benchtop/export/charts"
	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
	"benchtop/metrics/grid"
)

// ParetoOptions say how users and GPUs are counted.
type ParetoOptions struct {
	// Users and GPUs are the fields with their numbers. Without Users the tokens of each user are those at the users'
	// own speed, with it they share the throughput, as with vLLM. Without GPUs they are the product of the parallel
	// sizes.
	Users, GPUs string
	// LabelBy are fields that stand beside the points of the front.
	LabelBy []string
}

// Pareto is the figure of throughput per user and per GPU.
type Pareto struct {
	// Skipped are the runs without a speed of users, Front is the number of points that no other dominates.
	Plotted, Skipped, Front int
	// Lacking are the fields that the skipped runs lack.
	Lacking string
	// Unsaid: no record says on how many GPUs it ran, so that it counts as one.
	Unsaid bool
	Chart  charts.Figure
}

// The fields that a point has beside those of its record.
const (
	perUserKey = "tokens_per_user"
	perGPUKey  = "tokens_per_gpu"
	usersKey   = "user_count_estimate"
	gpusKey    = "gpu_count"
)

// DefaultUsers is the field with the number of users of vLLM's plot.
const DefaultUsers = "max_concurrency"

// point is the point of a record, which gets its numbers as fields, and whether it says how many GPUs it had. The speed
// of a user is no number where it is not known.
func (o ParetoOptions) point(r *Record) (at grid.Point, said bool, err error) {
	users, err := r.users(cmp.Or(o.Users, DefaultUsers))
	if err != nil {
		return at, false, err
	}
	if users == 0 && o.Users != "" {
		return grid.Point{PerUser: math.NaN()}, false, nil
	}
	gpus, said, err := r.gpus(o.GPUs)
	if err != nil {
		return at, false, err
	}
	throughput, err := r.count("output_throughput")
	if err == nil && math.IsNaN(throughput) {
		err = fmt.Errorf("%s lacks output_throughput", r.place())
	}
	if err != nil {
		return at, false, err
	}
	at = grid.Point{PerUser: throughput / users, PerGPU: throughput / gpus}
	if users > 0 {
		*r = r.with(perUserKey, at.PerUser).with(usersKey, users)
	}
	if o.Users == "" {
		at.PerUser = grid.UserSpeed(r.field)
		*r = r.with(grid.SpeedKey, at.PerUser)
	}
	if math.IsInf(at.PerUser, 0) || math.IsInf(at.PerGPU, 0) && !math.IsNaN(at.PerUser) {
		return at, false, fmt.Errorf("%s: output_throughput %g of %g users on %g GPUs is too large",
			r.place(), throughput, users, gpus)
	}
	*r = r.with(perGPUKey, at.PerGPU).with(gpusKey, gpus)
	return at, said, nil
}

// NewPareto computes the points of all records, one for each run, and their front.
func NewPareto(records []Record, o ParetoOptions) (Pareto, error) {
	p := Pareto{Unsaid: true, Lacking: grid.SpeedKey + ", median_tpot_ms"}
	if o.Users != "" {
		p.Lacking = o.Users + ", max_concurrent_requests"
	}
	var points []grid.Point
	var kept []Record
	for _, r := range records {
		at, said, err := o.point(&r)
		if err != nil {
			return p, err
		}
		if math.IsNaN(at.PerUser) {
			p.Skipped++
			continue
		}
		p.Unsaid = p.Unsaid && !said
		points, kept = append(points, at), append(kept, r)
	}
	if p.Plotted = len(points); p.Plotted == 0 {
		return p, fmt.Errorf("none of %d runs has a number of users, or their speed: no %s; --user-count-var names "+
			"another field", len(records), p.Lacking)
	}
	front := grid.Front(points)
	p.Front = len(front)
	all := charts.Curve{Name: "All runs", Quiet: true}
	for i, at := range points {
		all.Points = append(all.Points, charts.Point{X: at.PerUser, Y: at.PerGPU, Fields: fieldsOf(kept[i : i+1])})
	}
	best := charts.Curve{Name: "Pareto front", Line: true}
	for _, i := range front {
		pt := all.Points[i]
		pt.Label = kept[i].label(o.LabelBy)
		best.Points = append(best.Points, pt)
	}
	p.Chart = charts.Figure{
		X:      charts.Axis{Label: "output tokens/s for each user", Scale: charts.Linear},
		Y:      charts.Axis{Label: "output tokens/s for each GPU", Scale: charts.Linear},
		Panels: []charts.Panel{{Curves: []charts.Curve{all, best}}}, Columns: 1,
	}
	return p, nil
}

// label are the fields that the record has, a line each.
func (r *Record) label(keys []string) string {
	var lines []string
	for _, k := range keys {
		if v, ok := r.fields[k]; ok && v.kind != null {
			lines = append(lines, k+"="+strings.TrimSuffix(v.text, ".0"))
		}
	}
	return strings.Join(lines, "\n")
}

// with is the record with another field.
func (r Record) with(key string, n float64) Record {
	r.fields = maps.Clone(r.fields)
	if _, ok := r.fields[key]; !ok {
		r.Keys = append(slices.Clone(r.Keys), key)
	}
	r.fields[key] = value{number, pyjson.Float(n), n}
	return r
}

// count is the number that the first of the fields has that is there, in any spelling; NaN for nothing. A text that is
// a number counts as one.
func (r *Record) count(keys ...string) (float64, error) {
	for _, key := range keys {
		for _, spelling := range []string{key, strings.ReplaceAll(key, "_", "-"), strings.ReplaceAll(key, "-", "_")} {
			v, ok := r.fields[spelling]
			if !ok {
				continue
			}
			if n, ok := v.numeric(); ok {
				return n, nil
			}
			if n, ok := parseNumber(v.text); ok {
				return n, nil
			}
			return 0, fmt.Errorf("%s: %s: expected a number, got %s", r.place(), spelling, usage.Quote(v.text))
		}
	}
	return math.NaN(), nil
}

// field is the value of a field, NaN for none or a text, and whether the record has it.
func (r *Record) field(key string) (v float64, said bool) {
	raw, said := r.fields[key]
	v, number := raw.numeric()
	if !number {
		v = math.NaN()
	}
	return v, said
}

// users is the number of users, 0 if the record has none. Without one that is finite, it is the highest number of
// requests in flight.
func (r *Record) users(key string) (float64, error) {
	n, err := r.count(key, "request_rate")
	if err == nil && !(n > 0 && !math.IsInf(n, 0)) {
		n, err = r.count("max_concurrent_requests")
	}
	if err != nil || !(n > 0 && !math.IsInf(n, 0)) {
		return 0, err
	}
	return n, nil
}

// gpus is the number of GPUs, and whether the record says anything of it.
func (r *Record) gpus(key string) (n float64, said bool, err error) {
	if key != "" {
		if n, err = r.count(key); err != nil || n > 0 {
			return n, true, err
		}
	}
	n, said = grid.GPUs(func(field string) float64 {
		size, trouble := r.count(field)
		err = errors.Join(err, trouble)
		return size
	})
	return n, said, err
}
