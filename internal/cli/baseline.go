package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"benchtop/internal/files"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/tui"
)

// baselineOptions name an older run to compare with.
type baselineOptions struct{ file string }

func (o *baselineOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.file, "baseline", "", "compare with a saved run, on the dashboard and in the report: its result (.json) or journal; a result of vllm bench gives its figures")
}

// load reads the run, nil if none was named. Of one that was cut off it is what stands before that, which env is told. Errors but
// ctx's are wrong usage.
func (o *baselineOptions) load(ctx context.Context, env *environment) (*tui.Baseline, error) {
	if o.file == "" {
		return nil, nil
	}
	env.step(stepBaseline)
	report, err := files.OrStopped(ctx, func() (metrics.Report, error) { return files.ReadReport(o.file) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && report.Completed+report.Failed > 0:
		env.warn([]string{fmt.Sprintf("--baseline: %s; it is drawn from the %d requests before that", err, report.Completed+report.Failed)})
	case err != nil:
		return nil, usage.Errorf("--baseline: %w", err)
	}
	if !report.Plan.TimedAlike() {
		env.warn([]string{fmt.Sprintf("--baseline: %s does not say that its chat streams were timed as vLLM 0.33 times them: its TTFT, TPOT and ITL may not compare",
			filepath.Base(o.file))})
	}
	env.show(filepath.Base(o.file))
	return &tui.Baseline{Name: filepath.Base(o.file), Report: &report}, nil
}
