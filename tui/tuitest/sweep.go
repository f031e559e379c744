package tuitest

import (
	"fmt"
	"math"
	"time"

	"benchtop/metrics/grid"
)

// Sweep is a sweep in progress: two servers by six benchmarks, two runs each, seven combinations over, one of them
// failed.
func Sweep() grid.Snapshot {
	s := grid.Snapshot{
		Title: "sweep serve · llama-3-8b", Dir: "results/2026-11-23_10-12-44", Word: "sweep", Part: "combination",
		Current: 8, CurrentRun: 1, Elapsed: 13*time.Minute + 7*time.Second,
		Left: 8 * time.Minute, LeftKnown: true,
		Server: grid.Server{State: grid.ServerReady,
			Command: "vllm serve meta-llama/Llama-3-8B --tensor-parallel-size 2 --port 8000", Since: 214 * time.Second,
			Log: []string{
				"INFO 11-23 10:22:03 [launcher.py:44] Route: /health, Methods: GET",
				"INFO:     Application startup complete.",
				"WARNING 11-23 10:23:10 [scheduler.py:310] Sequence group is preempted because there is not enough " +
					"KV cache space",
				"INFO 11-23 10:25:31 [loggers.py:122] Engine 000: Avg prompt throughput: 3120.4 tokens/s, Running: " +
					"32 reqs, Waiting: 0 reqs",
			}},
	}
	for tp := 1; tp <= 2; tp++ {
		for i, users := range []int{1, 4, 16, 32, 64, 128} {
			c := grid.Cell{Server: fmt.Sprintf("tensor_parallel_size=%d", tp),
				Bench: fmt.Sprintf("max_concurrency=%d", users), State: grid.Done}
			at := len(s.Cells)
			switch {
			case at == 3:
				c.State = grid.Failed
			case at == 0:
				c.State = grid.Found
			case at == s.Current:
				c.State = grid.Running
			case at == 10:
				c.State = grid.Linked
			case at == 11:
				c.State = grid.Skipped
			case at > s.Current:
				c.State = grid.Waiting
			}
			for run := range 2 {
				r := grid.Run{Number: run, State: c.State}
				if c.State == grid.Running && run == 0 {
					r.State = grid.Done
				}
				if r.State == grid.Done || r.State == grid.Found {
					r.Figures, r.Took = sweepFigures(tp, users, float64(i+run)), time.Duration(41+3*run)*time.Second
				}
				if c.State == grid.Failed {
					r.Trouble = "server: POST /v1/completions: 503 Service Unavailable: the engine is dead"
				}
				c.Runs = append(c.Runs, r)
			}
			s.Cells = append(s.Cells, c)
		}
	}
	return s
}

func sweepFigures(tp, users int, jitter float64) grid.Figures {
	u, gpus := float64(users), float64(tp)
	each := 70 * math.Sqrt(gpus) / (1 + u/40) * (1 - jitter/100)
	out := each * u
	return grid.Figures{
		Completed: 500, RequestThroughput: out / 128, OutputThroughput: out, TotalThroughput: 5 * out,
		MeanTTFT: 30 + 3*u, MedianTTFT: 25 + 2*u,
		P99TTFT: 40 + 9*u + jitter, MedianTPOT: 900 / each, P99TPOT: 1000 / each, P99ITL: 1600 / each,
		MedianE2EL: 128000 / each, P99E2EL: 150000 / each,
		Goodput: math.NaN(), PerUser: each, PerGPU: out / gpus,
	}
}

// SweepSearch is a search for the highest load of three tiers.
func SweepSearch() grid.Snapshot {
	s := Sweep()
	s.Title, s.Variable = "sweep serve_sla · llama-3-8b", "max_concurrency"
	s.Searches = []grid.Search{
		{Tier: "gold", Passed: 16, Failed: 24, Confidence: 0.93},
		{Tier: "silver", Passed: 64, Failed: 68, Confidence: 0.98, Over: true},
		{Tier: "bronze", Passed: 128},
	}
	return s
}

// SweepStarting has a server that starts, before anything was measured.
func SweepStarting() grid.Snapshot {
	s := Sweep()
	s.Current, s.LeftKnown, s.Elapsed = 0, false, 9*time.Second
	s.Server.State, s.Server.Since = grid.ServerStarting, 8*time.Second
	for i := range s.Cells {
		c := &s.Cells[i]
		c.State = grid.Waiting
		for k := range c.Runs {
			c.Runs[k] = grid.Run{Number: k, State: grid.Waiting}
		}
	}
	s.Cells[0].State = grid.Running
	return s
}

// SweepDone is a sweep that is over.
func SweepDone() grid.Snapshot {
	s := Sweep()
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.State == grid.Running || c.State == grid.Waiting {
			c.State = grid.Done
			for k := range c.Runs {
				c.Runs[k] = grid.Run{Number: k, State: grid.Done, Took: 40 * time.Second,
					Figures: sweepFigures(2, 16<<(i-8), float64(k))}
			}
		}
	}
	s.Current, s.Over, s.LeftKnown, s.Elapsed = -1, true, false, 22*time.Minute
	s.Summary = "9 of 11 combinations measured in 22m; 1 failed, 1 skipped"
	s.Server = grid.Server{Log: s.Server.Log}
	return s
}

// Repeats are three runs of one command, the second of which is on, against a server that was started elsewhere.
func Repeats() grid.Snapshot {
	s := Sweep()
	s.Word, s.Part, s.Dir, s.Server = "series", "load", "", grid.Server{State: grid.ServerForeign}
	runs := []grid.Run{
		{State: grid.Done, Figures: sweepFigures(1, 8, 1), Took: 62 * time.Second},
		{Number: 1, State: grid.Running, Figures: grid.Unknown()},
		{Number: 2, State: grid.Waiting, Figures: grid.Unknown()},
	}
	runs[0].Figures.PerGPU = math.NaN() // as a report tells nothing of GPUs
	s.Cells = []grid.Cell{{State: grid.Running, Runs: runs}}
	s.Current, s.CurrentRun = 0, 1
	return s
}

// Repeated are the repeats of a command, all over.
func Repeated() grid.Snapshot {
	s := Repeats()
	for i := range s.Cells[0].Runs {
		f := sweepFigures(1, 8, float64(i))
		f.PerGPU = math.NaN()
		s.Cells[0].Runs[i] = grid.Run{Number: i, State: grid.Done, Figures: f, Took: 62 * time.Second}
	}
	s.Cells[0].State, s.Current, s.Over, s.Summary = grid.Done, -1, true, "3 runs measured"
	return s
}

// Foreign is a sweep of loads against a server that was started elsewhere and has one GPU, or does not tell.
func Foreign() grid.Snapshot {
	s := Sweep()
	s.Server = grid.Server{State: grid.ServerForeign}
	s.Cells, s.Current = s.Cells[:3:3], 2
	for i := range s.Cells {
		s.Cells[i].Server = ""
	}
	return s
}

// Control is a preset with its control, both measured, on a server that was started elsewhere and whose GPUs are not
// known.
func Control() grid.Snapshot {
	s := Repeats()
	s.Part, s.Cells, s.Current, s.Over, s.Summary = "workload", nil, -1, true, "2 runs measured"
	for i, name := range []string{"prefix cache", "no prefix cache"} {
		f := sweepFigures(1, 8, 1+float64(i)/10)
		f.PerGPU = math.NaN()
		s.Cells = append(s.Cells, grid.Cell{Load: name, State: grid.Done,
			Runs: []grid.Run{{State: grid.Done, Figures: f, Took: 30 * time.Second}}})
	}
	return s
}
