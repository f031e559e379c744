package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestFileName(t *testing.T) {
	started := time.Date(2026, 10, 6, 10, 15, 0, 0, time.Local)
	for _, c := range []struct {
		want string
		plan metrics.Plan
	}{
		{"openai-infqps-Llama-3.1-8B-Instruct-20261006-101500.json",
			metrics.Plan{Backend: "openai", Rate: metrics.Rate(inf), ModelID: "meta-llama/Llama-3.1-8B-Instruct"}},
		{"openai-10.0qps-concurrency8-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", Rate: 10, MaxConcurrency: 8, ModelID: "M"}},
		{"H200-ramp-up-linear-1qps-10qps-concurrency8-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", Label: "H200", Rate: metrics.Rate(inf), MaxConcurrency: 8, ModelID: "org/M",
				Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 10}}},
		{"demo-ramp-up-linear-1qps-20qps-over1m-M-20261006-101500.json",
			metrics.Plan{Label: "demo", Rate: metrics.Rate(inf), ModelID: "M",
				Ramp: &metrics.Ramp{Strategy: "linear", From: 1, To: 20, Over: time.Minute}}},
		{"openai-ramp-up-exponential-0.5qps-infqps-over1h30m10s-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", ModelID: "M",
				Ramp: &metrics.Ramp{Strategy: "exponential", From: 0.5, To: inf,
					Over: time.Hour + 30*time.Minute + 10*time.Second}}},
		{"openai-stages-8-16-0.5qps-concurrency64-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", MaxConcurrency: 64, ModelID: "M",
				Stages: []metrics.Stage{{Load: metrics.Load{Value: 8}}, {Load: metrics.Load{Value: 16}},
					{Load: metrics.Load{Value: 0.5}}}}},
		{"openai-stages-1-8-64users-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", ModelID: "M", Stages: []metrics.Stage{{Load: metrics.Users.Of(1)},
				{Load: metrics.Users.Of(8)}, {Load: metrics.Users.Of(64)}}}},
		{"openai-stages-6x-1-to-32users-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", ModelID: "M",
				Stages: []metrics.Stage{{Load: metrics.Users.Of(1)}, {Load: metrics.Users.Of(2)},
					{Load: metrics.Users.Of(4)}, {Load: metrics.Users.Of(8)}, {Load: metrics.Users.Of(16)},
					{Load: metrics.Users.Of(32)}}}},
		{"openai-find-from-10qps-concurrency64-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", ModelID: "M", Rate: 10, MaxConcurrency: 64, Find: &metrics.Find{From: 10}}},
		{"openai-find-from-2users-M-20261006-101500.json",
			metrics.Plan{Backend: "openai", ModelID: "M", Rate: metrics.Rate(inf), MaxConcurrency: 2,
				Find: &metrics.Find{From: 2, Unit: metrics.Users}}},
		{"team_gpu-infqps-M-20261006-101500.json",
			metrics.Plan{Label: "team/gpu", Rate: metrics.Rate(inf), ModelID: "org/M"}},
		{"_._etc_passwd__x-0.5qps-a_b__31m-20261006-101500.json",
			metrics.Plan{Label: "../etc/passwd\n x", Rate: 0.5, ModelID: "a b\x1b[31m"}},
		{"_rf-1e-05qps-été_-20261006-101500.json",
			metrics.Plan{Label: "-rf", Rate: 1e-5, ModelID: "été\xff"}},
	} {
		c.plan.Started = started
		assert.Equal(t, FileName(c.plan), c.want, "FileName")
	}
	long := metrics.Plan{Label: strings.Repeat("é", 300), ModelID: strings.Repeat("x", 300), Started: started}
	if got := FileName(long) + "l.gz.tmp0123456789"; len(got) > 255 || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
