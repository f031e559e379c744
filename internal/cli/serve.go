package cli

import (
	"context"

	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/telemetry"
)

func runServe(env *session.Environment, args []string) int {
	o := spec.New()
	err := o.Parse(args)
	env.Warn(o.Warnings)
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	if o.DryRun {
		return env.Failed(session.UntilStopped(func(ctx context.Context) error { return env.DryRun(ctx, o) }))
	}
	env.Divert(&o.Report)
	if o.Series.Many() {
		o.Save.Unasked = env.SavesUnasked()
		return runPoints(env, o)
	}
	if err := env.Look(o); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	telemetry.TuneMemory()
	return env.Perform(&o.Screen, session.StepsOf(o),
		func(ctx context.Context) (*session.Run, error) { return session.Prepare(ctx, env, o) })
}
