package main

import (
	"context"

	"benchtop/internal/calibration"
)

// measureOwn measures our client under a load.
func measureOwn(load calibration.Load, on cores) measurement { return measureClient(load, on, false) }

// measureRaw measures the yardstick.
func measureRaw(load calibration.Load) measurement { return measureClient(load, firstCore(), true) }

func measureClient(load calibration.Load, on cores, raw bool) measurement {
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		q := clientQuestion{Server: l.base, Raw: raw, Load: load}
		q.Load.Seed = int64(round) // the same arrivals for all rows of a round
		var r calibration.Result
		if err := l.ask(ctx, on, roleClient, q, &r); err != nil {
			return sample{}, err
		}
		return figures(&r, raw), nil
	}
}
