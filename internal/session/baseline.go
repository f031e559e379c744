package session

import (
	"context"
	"fmt"
	"path/filepath"

	"benchtop/internal/files"
	"benchtop/internal/spec"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/tui"
)

// LoadBaseline reads the older run, nil if none was named. A truncated one is used up to its end, with a warning.
// Errors other than ctx's are wrong usage.
func LoadBaseline(ctx context.Context, env *Environment, o *spec.Baseline) (*tui.Baseline, error) {
	if o.File == "" {
		return nil, nil
	}
	env.Step(stepBaseline)
	report, err := files.OrStopped(ctx, func() (metrics.Report, error) { return files.ReadReport(o.File) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && report.Completed+report.Failed > 0:
		env.Warn([]string{fmt.Sprintf("--baseline: %s; only the %d requests before that are used", err,
			report.Completed+report.Failed)})
	case err != nil:
		return nil, usage.Errorf("--baseline: %w", err)
	}
	if !report.Plan.TimedAlike() {
		env.Warn([]string{fmt.Sprintf("--baseline: %s does not say that its chat streams were timed as in vLLM 0.33: "+
			"its TTFT, TPOT and ITL may not be comparable",
			filepath.Base(o.File))})
	}
	env.Show(filepath.Base(o.File))
	return &tui.Baseline{Name: filepath.Base(o.File), Report: &report}, nil
}
