package startup

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/internal/table"
	"benchtop/metrics"
)

// figure is one of vLLM's figures of the starts of a kind.
type figure struct {
	key, title string // as in vLLM's result and report
	kind       Kind
	of         func(Start) time.Duration
	values     []float64 // seconds, by start
	statistic  metrics.Statistic
}

var percentiles = []float64{10, 25, 50, 75, 90, 99}

// figures are those of the starts, in vLLM's order. Compilation is known if each server's log tells it; the encoder's
// is a figure if there is one.
func (r *Result) figures() (all []figure) {
	for _, kind := range []Kind{Cold, Warm} {
		starts := r.Of(kind)
		if len(starts) == 0 {
			continue
		}
		add := func(key, title string, of func(Start) time.Duration) {
			f := figure{key: string(kind) + "_" + key, title: title, kind: kind, of: of}
			for _, s := range starts {
				f.values = append(f.values, of(s).Seconds())
			}
			f.statistic = metrics.StatisticOf(slices.Sorted(slices.Values(f.values)), percentiles)
			all = append(all, f)
		}
		add("startup", "Startup time", func(s Start) time.Duration { return s.Healthy })
		if !compilationKnown(starts) {
			continue
		}
		add("compilation", "Compilation time", func(s Start) time.Duration { return s.Compiled.LanguageModel })
		if slices.ContainsFunc(starts, func(s Start) bool { return s.Compiled.Encoder > 0 }) {
			add("encoder_compilation", "Encoder compilation time",
				func(s Start) time.Duration { return s.Compiled.Encoder })
		}
	}
	return all
}

func compilationKnown(starts []Start) bool {
	return !slices.ContainsFunc(starts, func(s Start) bool { return !s.Compiled.Known })
}

// average is in seconds.
func (f *figure) average() float64 { return f.statistic.Mean / 1000 }

// args are the figure's members in the result behind its average.
func (f *figure) args() []export.Arg {
	shares := metrics.Each(f.statistic.Percentiles, func(p metrics.Percentile) export.Arg {
		return export.Arg{Name: fmt.Sprint(p.P), Value: p.Value / 1000}
	})
	return []export.Arg{{Name: f.key + "_times", Value: f.values}, {Name: f.key + "_percentiles", Value: shares}}
}

// definitions say what the figures of the result are, since vLLM times the construction of its engine alone.
const (
	startupDefinition    = "start of the server's process to GET /health answering 200"
	firstTokenDefinition = "start of the server's process to the whole answer to a request for one token"
)

// JSON writes the result with vLLM's keys, and all else below "benchtop". The command may be shown.
func (r *Result) JSON(w io.Writer, version string, command []string) error {
	var all []export.Arg
	for _, f := range r.figures() {
		all = append(append(all, export.Arg{Name: "avg_" + f.key + "_time", Value: f.average()}), f.args()...)
	}
	starts := metrics.Each(r.Starts, func(s Start) []export.Arg { return s.args() })
	return export.Indented(w, append(all, export.Arg{Name: "benchtop", Value: []export.Arg{
		{Name: "version", Value: version},
		{Name: "command", Value: command},
		{Name: "model_id", Value: r.Model},
		{Name: "definitions", Value: []export.Arg{{Name: "startup", Value: startupDefinition},
			{Name: "first_token", Value: firstTokenDefinition}}},
		{Name: "interrupted", Value: r.Interrupted},
		{Name: "starts", Value: starts},
	}}))
}

// args are the start as an object; unknown times are null.
func (s Start) args() []export.Arg {
	known := func(d time.Duration) any {
		if d == 0 {
			return nil
		}
		return d.Seconds()
	}
	var phases [][]export.Arg
	for _, p := range s.Phases {
		phases = append(phases, []export.Arg{{Name: "name", Value: p.Name}, {Name: "took_s", Value: known(p.Took)},
			{Name: "ended_s", Value: known(p.At)}})
	}
	all := []export.Arg{
		{Name: "caches", Value: string(s.Kind)},
		{Name: "listening_s", Value: known(s.Listening)},
		{Name: "healthy_s", Value: known(s.Healthy)},
		{Name: "models_s", Value: known(s.Models)},
		{Name: "first_token_s", Value: known(s.FirstToken)},
		{Name: "phases", Value: phases},
	}
	if s.Kind == Cold {
		all = append(all, export.Arg{Name: "page_cache", Value: []export.Arg{
			{Name: "files", Value: s.Dropped.Files}, {Name: "bytes", Value: s.Dropped.Size},
			{Name: "bytes_dropped", Value: s.Dropped.Before - s.Dropped.After},
			{Name: "not_dropped", Value: s.Dropped.Why},
		}})
	}
	return all
}

// PyTorch calls write with each of vLLM's figures in the format of PyTorch's benchmark database, and the key that names
// its file.
func (r *Result) PyTorch(args []export.Arg, file string,
	write func(key string, content func(io.Writer) error) error) error {
	for _, f := range r.figures() {
		err := write(f.key, func(w io.Writer) error {
			return export.PyTorchFigures(w, args, file,
				[]export.Arg{{Name: "avg_" + f.key + "_time", Value: f.average()}}, f.args())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Text writes the report: vLLM's, and below it where the time went, as averages.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	rule := strings.Repeat("=", 60) + "\n"
	b.WriteString(rule + "STARTUP TIME BENCHMARK RESULTS\n" + rule)
	figures := r.figures()
	for _, kind := range []Kind{Cold, Warm} {
		of := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.kind != kind })
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s STARTUP:\n", strings.ToUpper(string(kind)))
		for _, f := range of {
			fmt.Fprintf(&b, "Avg %s: %.2f seconds\n", strings.ToLower(f.title), f.average())
		}
		if !compilationKnown(r.Of(kind)) {
			b.WriteString("Avg compilation time: unknown\n")
		}
		for _, f := range of {
			fmt.Fprintf(&b, "%s percentiles:\n", f.title)
			for _, p := range f.statistic.Percentiles {
				fmt.Fprintf(&b, "  %s%%: %.2f seconds\n", fmt.Sprint(p.P), p.Value/1000)
			}
		}
	}
	b.WriteString(r.parts() + rule)
	_, err := io.WriteString(w, b.String())
	return err
}

// parts is a table of the averages of what this program has seen, by kind.
func (r *Result) parts() string {
	t := table.New("", "WHERE THE TIME WENT (s):", "cold", "warm")
	t.Gap = 1
	for i, width := range []int{30, 9, 9} {
		t.Columns[i].Width = width
	}
	add := func(title string, of func(Start) time.Duration) {
		if cold, warm := average(r.Of(Cold), of), average(r.Of(Warm), of); metrics.Said(cold) || metrics.Said(warm) {
			t.Add(title, cold, warm)
		}
	}
	add("Listening after", func(s Start) time.Duration { return s.Listening })
	add("Healthy after (startup)", func(s Start) time.Duration { return s.Healthy })
	add("Models listed after", func(s Start) time.Duration { return s.Models })
	add("First token after", func(s Start) time.Duration { return s.FirstToken })
	for _, e := range endings {
		if e.name == "http" { // it has no length
			continue
		}
		add("  "+strings.ReplaceAll(e.name, "_", " "), func(s Start) time.Duration {
			if i := slices.IndexFunc(s.Phases, func(p Phase) bool { return p.Name == e.name }); i >= 0 {
				return s.Phases[i].Took
			}
			return 0
		})
	}
	return t.String()
}

// average is in seconds, over the starts that have the time; NaN without one.
func average(starts []Start, of func(Start) time.Duration) float64 {
	sum, n := 0.0, 0
	for _, s := range starts {
		if d := of(s); d > 0 {
			sum += d.Seconds()
			n++
		}
	}
	return sum / float64(n)
}
