package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/export/charts"
	"benchtop/internal/cli/argv"
	"benchtop/internal/files"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// chartOptions say which pictures are written beside the result.
type chartOptions struct {
	timeline     bool
	thresholds   [2]float64 // milliseconds
	datasetStats bool
}

// pytorchVariable asks for the result in a second form, as vLLM has it.
const pytorchVariable = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT"

// draw writes what stands beside the result. What goes wrong is a warning: the result itself is safe.
// result is where the result went, "" for nowhere.
func (s *session) draw(r metrics.Report, result string) (written, warnings []string) {
	switch {
	case filepath.Base(result) != "." && result != files.Stdout: // beside it, wherever it went
	case s.files != nil:
		result = s.files.Path
	default:
		result = s.save.Place(s.plan)
	}
	stem := files.Stem(result)
	put := func(path string, content func(io.Writer) error) {
		if err := files.Write(path, content); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was not written: %s", path, err))
			return
		}
		written = append(written, path)
	}
	if s.charts.timeline {
		put(stem+files.TimelineSuffix, func(w io.Writer) error {
			segments, err := charts.Timeline(w, s.requests(), s.plan, r.Events, s.charts.thresholds)
			if err == nil && segments == 0 {
				err = errors.New("no request was ever sent, so there is nothing to draw")
			}
			return err
		})
	}
	if s.charts.datasetStats {
		put(stem+files.DatasetStatsSuffix, func(w io.Writer) error { return charts.DatasetStats(w, s.requests()) })
	}
	if os.Getenv(pytorchVariable) != "" && s.save.Asked() {
		put(stem+files.PyTorchSuffix, func(w io.Writer) error { return export.PyTorch(w, r, s.arguments) })
	}
	return written, warnings
}

// requests are those of the journal, with the counts of their tokens that came later.
func (s *session) requests() iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		_, all, err := report.Gather(s.journal.Events())
		if err != nil {
			yield(metrics.Request{}, err)
			return
		}
		all(yield)
	}
}

// arguments are all flags with their values under the names vLLM has for them.
func (o *serveOptions) arguments() (all []export.Arg) {
	o.flags.VisitAll(func(f *pflag.Flag) {
		all = append(all, export.Arg{Name: strings.ReplaceAll(f.Name, "-", "_"), Value: o.argument(f)})
	})
	return all
}

func (o *serveOptions) argument(f *pflag.Flag) any {
	switch f.Name {
	case "header":
		return argv.Secret
	case "endpoint":
		return o.server.Path()
	}
	text := f.Value.String()
	if length := o.prompts.LengthOver(f.Name); length > 0 {
		text = strconv.Itoa(length)
	}
	if !f.Changed && (f.DefValue == "" || f.DefValue == "0" && !slices.Contains(zeroByDefault, f.Name)) {
		return nil
	}
	switch f.Value.Type() {
	case "bool":
		return text == "true"
	case "int", "int64":
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	case "float64", "number":
		v, _ := strconv.ParseFloat(text, 64)
		if strings.HasPrefix(f.Name, "ramp-up") && v == math.Trunc(v) { // whole numbers to vLLM
			return int64(v)
		}
		return v
	}
	for _, v := range o.server.Secrets() {
		text = strings.ReplaceAll(text, v, argv.Secret)
	}
	return argv.HideUsers(text)
}

// zeroByDefault are vLLM's flags that are 0 and not nothing when they are not given.
var zeroByDefault = []string{"seed", "num-warmups", "ready-check-timeout-sec", "probe-request-rate", "random-prefix-len"}
