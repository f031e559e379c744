package loadgen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/metrics"
)

func turns(n int) []datasets.Turn {
	all := make([]datasets.Turn, n)
	for i := range all {
		all[i] = datasets.Turn{Text: "hi", InputTokens: 3, MaxTokens: 8}
	}
	return all
}

// At most so many are in flight, all are sent like measured requests, and each has its outcome.
func TestTry(t *testing.T) {
	sec := time.Second
	for _, c := range []struct {
		name   string
		n, at  int
		server script
		ctx    time.Duration // it ends then; 0 for never
		want   []want
		words  string // in the error of the last
		dials  int
	}{
		{name: "one by one", n: 3, at: 1, server: answer(sec),
			want: []want{{0, 0, 1, ""}, {0, 1, 2, ""}, {0, 2, 3, ""}}, dials: 1},
		{name: "two at once", n: 3, at: 2, server: answer(sec),
			want: []want{{0, 0, 1, ""}, {0, 0, 1, ""}, {0, 1, 2, ""}}, dials: 2},
		{name: "all at once", n: 3, at: 0, server: answer(sec),
			want: []want{{0, 0, 1, ""}, {0, 0, 1, ""}, {0, 0, 1, ""}}, dials: 3},
		{name: "more slots than turns", n: 1, at: 9, server: answer(sec), want: []want{{0, 0, 1, ""}}, dials: 1},
		{name: "none", n: 0, at: 1, server: answer(sec)},
		{name: "refused", n: 1, at: 1,
			server: pieces(true, 0, plainAnswer("503 Busy", "text/plain", "loading the model")),
			want:   []want{{0, 0, 0, metrics.FailedStatus}}, words: "loading the model", dials: 1},
		{name: "cut", n: 3, at: 1, server: answer(2 * sec), ctx: 3 * sec, dials: 1,
			words: "given up: context deadline exceeded",
			want:  []want{{0, 0, 2, ""}, {0, 2, 3, metrics.Cancelled}, {0, -1, 3, metrics.Cancelled}}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, c.server)
			ctx := t.Context()
			if c.ctx > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.ctx)
				defer cancel()
			}
			o := Defaults()
			o.Target, o.Model, o.InputSource = s.target(), "base", metrics.TokensFromEstimate
			o.ModelFor, o.ProbeRate, o.ClosedLoop = func(int) string { return "lora" }, 5, true
			all := Try(ctx, o, turns(c.n), c.at)
			// The number of concurrent turns is fixed, not their order.
			slices.SortFunc(all, func(a, b metrics.Request) int { return int(a.Done - b.Done) })
			check(t, all, c.want)
			if c.n > 0 && !strings.Contains(all[c.n-1].Error, c.words) {
				t.Errorf("%q, want %q", all[c.n-1].Error, c.words)
			}
			for _, q := range all {
				if q.Scheduled != 0 || q.InputTokens != 3 || q.InputSource != metrics.TokensFromEstimate ||
					q.MaxTokens != 8 || q.ID != "" {
					t.Errorf("%+v", q)
				}
			}
			assert.Equal(t, s.dials, c.dials, "dials")
			s.close()
			for i, body := range s.bodies {
				if !strings.Contains(body, `"model": "base"`) || s.ids[i] != "" {
					t.Errorf("request id %q, body %s", s.ids[i], body)
				}
			}
		})
	}
}

// A context that ended before, and options that cannot be used, send nothing and give the reason.
func TestTryNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(time.Second))
		o := Defaults()
		o.Target = s.target()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("no more time"))
		for _, q := range Try(ctx, o, turns(2), 0) {
			if q.Failure != metrics.Cancelled || q.Error != "given up: no more time" || q.Sent != metrics.Never ||
				q.Admitted != metrics.Never || q.Done != 0 {
				t.Errorf("%+v", q)
			}
		}
		o.Target = nil
		for i, q := range Try(t.Context(), o, turns(2), 0) {
			if q.Failure != metrics.FailedInternal || !strings.Contains(q.Error, "no target") || q.Index != i ||
				q.Done != 0 {
				t.Errorf("%+v", q)
			}
		}
		assert.Equal(t, s.dials, 0, "dials")
		s.close()
	})
}
