package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/metrics"
	"benchtop/tui"
)

// baselineOptions name an older run to compare with.
type baselineOptions struct{ file string }

func (o *baselineOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.file, "baseline", "", "draw a saved run behind this one: its result (.json) or journal; a result of vllm bench gives its figures")
}

// load reads the run, nil if none was named.
func (o *baselineOptions) load() (*tui.Baseline, error) {
	if o.file == "" {
		return nil, nil
	}
	report, err := savedReport(o.file)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return &tui.Baseline{Name: filepath.Base(o.file), Report: &report}, nil
}

// savedReport computes the report of a saved run from its journal; without one, what its result says has to do.
func savedReport(file string) (metrics.Report, error) {
	path, err := journalOf(file)
	if errors.Is(err, errIsDirectory) {
		return metrics.Report{}, err
	}
	if err != nil || strings.HasSuffix(file, soFar+".json") { // whose journal goes on to the end of the run
		return export.ReadResult(file)
	}
	run, requests, err := readJournal(path)
	if err != nil {
		return metrics.Report{}, err
	}
	return metrics.Summarize(requests, run)
}
