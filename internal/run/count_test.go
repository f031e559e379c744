package run

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// A counting that ends early keeps its counts, and says why the rest is missing.
func TestCountTexts(t *testing.T) {
	lost := errors.New("connection refused")
	for _, c := range []struct {
		name    string
		count   func(ctx context.Context, n int) (int, error) // of the n-th text, from 1
		counted int
		err     error
		atMost  time.Duration
	}{
		{"all", func(context.Context, int) (int, error) { return 7, nil }, 100, nil, 0},
		{"one is refused", func(_ context.Context, n int) (int, error) {
			if n == 3 {
				return 0, lost
			}
			return 7, nil
		}, 99, lost, 0},
		{"the server is lost", func(_ context.Context, n int) (int, error) {
			if n > 40 {
				time.Sleep(time.Second)
				return 0, lost
			}
			return 7, nil
		}, 40, lost, 2 * time.Second},
		{"it hangs", func(ctx context.Context, n int) (int, error) {
			if n > 50 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 7, nil
		}, 50, errEnough, 10 * time.Second},
		{"no tokens", func(context.Context, int) (int, error) { return 0, nil }, 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(10*time.Second, func() { stop(errEnough) })
				asked := atomic.Int64{}
				all := func(yield func(metrics.Request, error) bool) {
					for i := range 103 {
						q := metrics.NewRequest(i)
						q.Done, q.OutputSource, q.Text = 0, metrics.TokensFromChunks, "x"
						switch i {
						case 5:
							q.TextPart = true
						case 6:
							q.Failure = metrics.FailedReset
						case 7:
							q.OutputSource = metrics.TokensFromUsage
						}
						if !yield(q, nil) {
							return
						}
					}
				}
				began, kept := time.Now(), map[int]int{}
				counted, err := countTexts(ctx, all,
					func(ctx context.Context, _ string) (int, error) { return c.count(ctx, int(asked.Add(1))) },
					func(index, tokens, n int) {
						if kept[index] = tokens; n != len(kept) {
							t.Errorf("%d counted, %d kept", n, len(kept))
						}
					})
				if counted != c.counted || len(kept) != counted || !errors.Is(err, c.err) ||
					time.Since(began) > c.atMost {
					t.Errorf("%d counted, %d kept, error %v after %s", counted, len(kept), err, time.Since(began))
				}
				stop(nil)
			})
		})
	}
}

// Answers that came without usage are counted by the server's tokenizer after the load.
func TestCountAnswers(t *testing.T) {
	lost := errors.New("connection to sesame refused")
	const asks = "info: 30 answers have no usage: the server's tokenizer counts them, for up to 30s; Ctrl-C stops that"
	for _, c := range []struct {
		name    string
		answer  string // of each request
		count   func(ctx context.Context, n int) (int, error)
		hurry   time.Duration // 0: before; the counting begins a second later
		want    []string
		counted int // in the journal
		took    time.Duration
	}{
		{"all", "x", func(context.Context, int) (int, error) { return 7, nil }, time.Hour, []string{
			asks, "info: the server's tokenizer counted 30 answers",
		}, 30, 0},
		{"none to count", "", nil, time.Hour, nil, 0, 0},
		{"stopped before", "x", nil, 0, nil, 0, 0},
		{"slow", "x", func(ctx context.Context, _ int) (int, error) { time.Sleep(2 * time.Second); return 7, nil },
			time.Hour, []string{
				asks, "info: counted 17 of 30 answers", "info: the server's tokenizer counted 30 answers",
			}, 30, 8 * time.Second},
		{"hurried", "x", hang, 3 * time.Second, []string{asks,
			"warn: the server's tokenizer counted 0 of 30 answers; the others count as one token per chunk: stopped"},
			0, 2 * time.Second},
		{"too slow", "x", hang, time.Hour, []string{asks,
			"warn: the server's tokenizer counted 0 of 30 answers; the others count as one token per chunk: it took " +
				"longer than 30s"}, 0, 30 * time.Second},
		{"the server is lost", "x", func(ctx context.Context, n int) (int, error) {
			if n > 8 {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				<-ctx.Done()
				return 0, lost
			}
			return 7, nil
		}, time.Hour, []string{
			asks, "warn: the server's tokenizer counted 8 of 30 answers; the others count as one token per chunk: " +
				"connection to *** refused",
		}, 8, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := make(chan int, 1)
				asked <- 0
				config := bare()
				config.Count = func(ctx context.Context, text string) (int, error) {
					n := <-asked + 1
					asked <- n
					return c.count(ctx, n)
				}
				var err error
				if config.Load.Target,
					err = target.New(target.Options{BaseURL: "http://127.0.0.1:1", APIKey: "sesame"}); err != nil {
					t.Fatal(err)
				}
				r := &Run{config: *config, start: time.Now()}
				assert.Must(r.openStream(nil))(t)
				r.patient, r.hurry = context.WithCancelCause(t.Context())
				time.AfterFunc(c.hurry, func() { r.hurry(errEnough) })
				time.Sleep(time.Second)
				for i := range 30 {
					q := metrics.NewRequest(i)
					q.Scheduled, q.Due, q.Admitted, q.Sent, q.Done = 0, 0, 0, 0, time.Second
					q.OutputTokens, q.OutputSource, q.Text = 3, metrics.TokensFromChunks, c.answer
					r.stream.Take(&event.Event{At: time.Second, Kind: event.Due, Request: &q})
					r.stream.Take(&event.Event{At: time.Second, Kind: event.Done, Request: &q})
				}
				began := time.Now()
				r.countAnswers()
				assert.Equal(t, time.Since(began), c.took, "it took")
				assert.EqualAll(t, texts(t, r), c.want, "said")
				assert.Equal(t, recounts(r), c.counted, "are counted in the journal")
			})
		})
	}
}

// Answers are counted before the report is made, which has their tokens.
func TestCountedInTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *Run
		c := small(t, metrics.Plan{}, 1)
		c.Count = func(context.Context, string) (int, error) { return 1000, nil }
		c.Drawn = func() { // the simulated server counts its answers, so that one that nothing counted is made up
			q := metrics.NewRequest(7)
			q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
			r.stream.Take(&event.Event{Kind: event.Due, Request: &q})
			q.FirstChunk, q.LastChunk, q.Done = 1000, 1000, 1000
			q.OutputTokens, q.OutputSource, q.Text = 1, metrics.TokensFromChunks, "x"
			r.stream.Take(&event.Event{At: q.Done, Kind: event.Done, Request: &q})
		}
		var err error
		if r, err = New(*c); err != nil {
			t.Fatal(err)
		}
		o := r.Do()
		r.Close()
		if o.Err != nil || o.Report.Completed != 2 || o.Report.OutputTokens != 1016 {
			t.Errorf("%d requests, %d tokens: %v", o.Report.Completed, o.Report.OutputTokens, o.Err)
		}
	})
}

func hang(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() }

// recounts is how many answers have seven tokens by the server's count in the journal.
func recounts(r *Run) (n int) {
	for e := range r.journal.Events() {
		if x, ok := e.Value.(metrics.Recount); ok && x.Tokens == 7 && x.Source == metrics.TokensFromServer {
			n++
		}
	}
	return n
}
