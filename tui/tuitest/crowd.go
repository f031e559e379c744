package tuitest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// Crowded is a run with as many servers, classes and engines as are kept, with names of 10,000 characters. The 40th
// server fails most, and the 30th is the slowest by its own clock.
func Crowded(s metrics.Snapshot) metrics.Snapshot {
	s = Watched(s, 0)
	s.Endpoints = nil
	plan := *s.Plan
	s.Plan = &plan
	for i := range 200 {
		plan.Servers = append(plan.Servers, fmt.Sprintf("http://10.0.0.%d:8000/%s", i, strings.Repeat("x", 10_000)))
	}
	for i := range metrics.MostEndpoints {
		var h metrics.Histogram
		h.Add(time.Duration(i+1) * time.Millisecond)
		failed := i
		if i > 40 {
			failed = 0
		}
		of := metrics.Slice{Counts: metrics.Counts{Completed: 100, Failed: failed},
			Histograms: [metrics.NumObjectives]metrics.Histogram{h}}
		s.Endpoints = append(s.Endpoints, metrics.Group{Server: i, Slice: of})
		s.Classes = append(s.Classes,
			metrics.Group{Class: fmt.Sprint("漢", strings.Repeat("class ", 2000), i), Slice: of})
	}
	s.Server = slices.Clone(s.Server)
	for k := range s.Server {
		s.Server[k].Engines = nil
		for i := range metrics.MostEngines {
			e := metrics.Engine{Server: i, Name: strings.Repeat("e", 256), Running: float64(i), Waiting: 1,
				KVUsage:      0.5,
				OutputTokens: 100}
			if i <= 30 {
				e.TTFT = metrics.ServerLatency{N: 1, Mean: time.Duration(i+1) * time.Millisecond}
			}
			s.Server[k].Engines = append(s.Server[k].Engines, e)
		}
	}
	return s
}
