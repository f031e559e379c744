package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"benchtop/internal/metronome"
)

// dashboardLoad asks what the dashboard costs the client that draws it.
func dashboardLoad(quick bool) table {
	const without, with = "without dashboard", "with dashboard"
	load, sending := busyLoad(quick), 4*time.Second
	if quick {
		sending = 3 * time.Second
	}
	return table{name: dashboardTables + "-load", rounds: 10,
		rows: []row{{without, measureShown(load, sending, false)}, {with, measureShown(load, sending, true)}},
		columns: []column{
			{"cpu", "CPU of the client, s", 2}, {"open", "streams open", 0}, {"p50", "sent late p50, µs", 0}, {"p90", "p90", 0}, {"p99", "p99", 0},
		},
		bars: []bar{
			{text: "CPU with dashboard ≤ 1.05 × without", row: with, column: "cpu", over: without, most: 1.05, unit: " ×", decimals: 3},
			{text: "sent late p90 with dashboard ≤ 1.10 × without", row: with, column: "p90", over: without, most: 1.10, unit: " ×", decimals: 2},
		}}
}

// measureShown measures the program as a user runs it, on a terminal of the usual size or without one.
func measureShown(load busy, sending time.Duration, shown bool) measurement {
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		program, err := l.benchtop(ctx)
		if err != nil {
			return sample{}, err
		}
		folder, err := os.MkdirTemp(l.folder, "run")
		if err != nil {
			return sample{}, err
		}
		defer os.RemoveAll(folder)
		args := load.serve(load.paced(l), sending, "--save-result", "--result-dir", folder, "--seed", fmt.Sprint(round))
		if shown {
			args = append(args, "--exit")
		} else {
			args = append(args, "--no-tui")
		}
		c := l.pinned(ctx, allButLast(), program, args...)
		c.Dir = folder
		if shown {
			v, err := view(c, usual)
			if err != nil {
				return sample{}, err
			}
			err = v.wait()
			if err != nil {
				return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(v.hear()))
			}
		} else if text, err := c.CombinedOutput(); err != nil {
			return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(text))
		}
		s, err := runFigures(folder, load.lasts(), sending)
		if err != nil {
			return sample{}, err
		}
		s.Figures["cpu"] = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		// What the server noted of this run is of no interest.
		if log, err := metronome.FetchLog(ctx, l.base); err != nil && log == nil {
			return sample{}, err
		}
		return s, nil
	}
}

// paced is the lab's server at the pace of the load.
func (b busy) paced(l *lab) string {
	gap := time.Second / time.Duration(b.perSecond)
	return metronome.Pace(l.base, gap, gap)
}

// runFigures are those of a run that is over, from when all its streams are open to when no more are sent.
func runFigures(folder string, from, to time.Duration) (sample, error) {
	j, err := journalIn(folder)
	if err != nil {
		return sample{}, err
	}
	late := j.late(from)
	if len(late) == 0 {
		return sample{}, errors.New("no request was due while all streams were open")
	}
	slices.Sort(late)
	at := func(share float64) float64 { return inMicros(late[max(0, int(math.Ceil(share*float64(len(late))))-1)]) }
	s := sample{Figures: map[string]float64{
		"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "open": float64(j.open((from + to) / 2)),
	}}
	s.note(j.failed, "requests failed")
	verdict, why, err := verdictIn(folder)
	if err != nil {
		return sample{}, err
	}
	if verdict == "limited" {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", why})
	}
	return s, nil
}

// verdictIn is what the only result in a folder says of the client.
func verdictIn(folder string) (verdict, why string, err error) {
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(found) != 1 {
		return "", "", fmt.Errorf("%d results in the folder of a run, expected one", len(found))
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return "", "", err
	}
	var result struct {
		Benchtop struct {
			Client struct {
				Verdict string
				Why     []string
			}
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return "", "", fmt.Errorf("the result of a run: %w", err)
	}
	c := &result.Benchtop.Client
	if len(c.Why) > 0 {
		why = c.Why[0]
	}
	return c.Verdict, why, nil
}

// lastOf is the end of what a program said.
func lastOf(text []byte) []byte { return text[max(0, len(text)-300):] }
