package sweep

import (
	"context"
	"math"
	"slices"
	"strconv"

	"benchtop/internal/text"
)

// Workload is a scan of loads between one request after the other and all at once: the driver of serve_workload.
type Workload struct {
	// Variable is RequestRate or MaxConcurrency.
	Variable string
	// Levels is how many loads there are, the two ends included.
	Levels int
	// Prompts is the number of requests of a run, where the benchmark parameters do not have it: the load of the upper
	// end.
	Prompts int
}

// Planned are the two ends of the scan of a pair.
func (w *Workload) Planned(pair Combination) []Combination {
	return []Combination{w.end(pair, 1), w.end(pair, size(pair.Bench, w.Prompts))}
}

func (w *Workload) end(pair Combination, load int) Combination {
	pair.Bench = pair.Bench.With(MaxConcurrency, strconv.Itoa(load))
	return w.at(pair, float64(load))
}

// at is a pair under a load. As with vLLM the name of its directory has the load once, at the end.
func (w *Workload) at(pair Combination, load float64) Combination {
	value := loadValue(load)
	pair.Load = w.Variable + "=" + value
	pair.Place = pair.Dir()
	pair.Bench = pair.Bench.With(w.Variable, value)
	return pair
}

// Prompts is the client's flag for the number of requests, DefaultPrompts the number without it.
const (
	Prompts        = "num_prompts"
	DefaultPrompts = 1000
)

// size is the number of requests of a run, by its parameters or else those of the command.
func size(bench Item, command int) int {
	if n := (Record{bench}).Number(Prompts); n >= 1 {
		return int(min(n, math.MaxInt32))
	}
	return command
}

// Drive scans the loads of a pair.
func (w *Workload) Drive(ctx context.Context, s *Sweep, pair Combination) ([]Combination, error) {
	s.say("[WL START]\nServe parameters: %s\nBench parameters: %s", orNone(pair.Server), orNone(pair.Bench))
	s.say("Number of workload iterations: %d\nDataset size: %d", w.Levels, size(pair.Bench, w.Prompts))
	ends := w.Planned(pair)
	var estimates [2]float64
	for i, what := range []string{"Serial", "Batch"} {
		s.say("%s inference: %s", what, ends[i].Load)
		records, err := s.measure(ctx, ends[i], s.o.Runs)
		if err != nil {
			return nil, err
		}
		estimates[i] = w.estimate(records)
	}
	switch {
	case s.o.DryRun:
		s.say("Omitting intermediate Workload iterations.\n[WL END]")
		return nil, nil
	case math.IsNaN(estimates[0]) || math.IsNaN(estimates[1]):
		s.say("Unable to establish both Workload Explorer endpoints; skipping intermediate workload levels.\n[WL END]")
		return ends, nil
	}
	rows := ends[:1:1]
	loads := w.between(estimates[0], estimates[1])
	if missing := w.Levels - len(ends) - len(loads); missing > 0 {
		s.say("%d of %d levels between the ends are left out: the ends lie too close together, at %s and %s",
			missing, w.Levels-len(ends), text.Digits(estimates[0], 3), text.Digits(estimates[1], 3))
	}
	for _, load := range loads {
		c := w.at(pair, load)
		s.say("Exploring: %s", c.Load)
		if _, err := s.measure(ctx, c, s.o.Runs); err != nil {
			return nil, err
		}
		rows = append(rows, c)
	}
	s.say("[WL END]")
	return append(rows, ends[1]), nil
}

func orNone(it Item) string {
	if len(it) == 0 {
		return "(None)"
	}
	return it.String()
}

// estimate is the load that the server had in the runs, on average; NaN for none.
func (w *Workload) estimate(records []Record) float64 {
	sum := 0.0
	for _, r := range records {
		load := r.Number("request_throughput")
		if w.Variable == MaxConcurrency {
			load *= r.Number("mean_e2el_ms") / 1000 // Little's law
		}
		sum += load
	}
	return sum / float64(len(records))
}

// between are the loads between what the server did at the ends: whole numbers as with vLLM, and where there are not
// enough of these, rates with a fraction.
func (w *Workload) between(serial, batch float64) []float64 {
	whole := levels(math.Ceil(serial), math.Floor(batch), w.Levels, math.RoundToEven)
	if w.Variable == MaxConcurrency || len(whole) == w.Levels-2 {
		return whole
	}
	return levels(serial, batch, w.Levels, func(load float64) float64 {
		load, _ = strconv.ParseFloat(strconv.FormatFloat(load, 'g', 3, 64), 64)
		return load
	})
}

// levels are loads between two ends, evenly spaced and rounded, without the ends and those that are not above 0.
func levels(from, to float64, n int, round func(float64) float64) (loads []float64) {
	for i := 1; i < n-1; i++ {
		load := round(from + float64(i)*(to-from)/float64(n-1))
		if load > 0 && load <= math.MaxInt32 {
			loads = append(loads, load)
		}
	}
	slices.Sort(loads)
	return slices.Compact(loads)
}
