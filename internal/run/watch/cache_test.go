package watch

import (
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func TestCacheAlarm(t *testing.T) {
	type look struct{ queries, hits float64 }
	// count where the page does not tell
	answers := metrics.Counts{InputTokens: 20_000, Cached: metrics.TokenShare{Requests: 9, Of: 9000, Tokens: 8550}}
	unsaid := math.NaN()
	for _, c := range []struct {
		name  string
		looks []look
		share float64
		cold  bool
		want  string // "" for no alarm
	}{
		{"nothing found", []look{{9000, 0}}, 0, false, ""},
		{"warm", []look{{9000, 8550}}, 0, false,
			"hit 95% of the first 9000 prompt tokens, although prompts share at most 0%; an earlier run warmed it, " +
				"or another client sends them; --cache cold excludes earlier runs"},
		{"warm all the same", []look{{9000, 8550}}, 0, true,
			"share at most 0%; another client seems to send prompts too"},
		{"what they share", []look{{9000, 5900}}, 0.65, false, ""},
		{"a little more than that", []look{{9000, 7600}}, 0.65, false, ""},
		{"far more than that", []look{{9000, 7700}}, 0.65, false,
			"hit 86% of the first 9000 prompt tokens, although prompts share at most 65%"},
		{"not known what they share", []look{{9000, 9000}}, 1, false, ""},
		{"too few to tell", []look{{999, 999}}, 0, false, ""},
		{"enough in the end", []look{{500, 500}, {500, 500}}, 0, false, "hit 100%"},
		{"over the run, not in a second", []look{{9000, 0}, {1000, 1000}}, 0, false, ""},
		{"told once", []look{{9000, 9000}, {9000, 9000}}, 0, false, "hit 100%"},
		{"told by answers alone", []look{{unsaid, unsaid}, {9000, unsaid}}, 0, false, "hit 95%"},
		{"no look", nil, 0, false, "hit 95%"},
		{"not said at first", []look{{unsaid, unsaid}, {9000, 9000}}, 0, false, "hit 100%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			alarm := Cache{Cold: c.cold}
			var all []string
			for _, l := range c.looks {
				alarm.add(&metrics.ServerSecond{PrefixQueries: l.queries, PrefixHits: l.hits})
				if words := alarm.warning(&metrics.Counts{}, c.share); words != "" {
					all = append(all, words)
				}
			}
			if words := alarm.warning(&answers, c.share); words != "" {
				all = append(all, words)
			}
			if c.want == "" && len(all) > 0 || c.want != "" && (len(all) != 1 || !strings.Contains(all[0], c.want)) {
				t.Errorf("got %q, want %q", all, c.want)
			}
		})
	}
}

// The template of a chat is what the server counted beyond the prompt, at most what templates of today's models take.
func TestTemplateTokens(t *testing.T) {
	for _, c := range []struct {
		name            string
		templates       bool
		prompt, counted int // tokens of the first prompt, and by the server, 0 for none
		badly           bool
		want            float64
	}{
		{"no chat", false, 160, 0, false, 0},
		{"not counted", true, 256, 0, false, metrics.MostTemplate},
		{"a short template", true, 60, 80, false, 20},
		{"an estimate", true, 60, 80, true, metrics.MostTemplate},
		{"counted badly", true, 256, 250, false, metrics.MostTemplate},
		{"all that was said before", true, 256, 2000, false, metrics.MostTemplate},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := live.NewView(time.Now(), &metrics.Plan{})
			if c.counted > 0 {
				q := metrics.NewRequest(0)
				q.Scheduled, q.Due, q.Admitted, q.Sent, q.InputTokens = 0, 0, 0, 0, c.prompt
				eventtest.Step(view, event.Due, &q)
				eventtest.Step(view, event.Sent, &q)
				q.Add(metrics.Chunk{At: 1, Tokens: 1})
				eventtest.Step(view, event.Chunk, &q)
				q.InputTokens, q.InputSource, q.OutputTokens, q.Done = c.counted, metrics.TokensFromUsage, 1, 1
				eventtest.Step(view, event.Done, &q)
			}
			cache := Cache{View: view, Templates: c.templates, Counted: !c.badly,
				Share: func(template float64) float64 { return template }}
			if got := cache.share(); got != c.want {
				t.Errorf("got %g, want %g", got, c.want)
			}
		})
	}
}

// A warm cache is told in the log, once, whether the server's page or its answers tell of it.
func TestCacheInTheLog(t *testing.T) {
	for _, page := range []bool{true, false} {
		w := newWatched()
		cache := &Cache{View: w.view, Share: func(float64) float64 { return 0.1 }}
		if page {
			cache.add(&metrics.ServerSecond{PrefixQueries: 2000, PrefixHits: 1800})
		} else {
			cached(w.view)
		}
		for range 2 {
			cache.warn(w.stream.Tell)
		}
		events := w.run(t).Events
		if len(events) != 1 || events[0].Mark != metrics.CacheMark || events[0].Level != metrics.Warn ||
			!strings.Contains(events[0].Text, " hit 90% ") {
			t.Errorf("by the page %t: %+v", page, events)
		}
	}
}

// cached is an answer whose prompt the server knew but for a tenth.
func cached(view *live.View) {
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	eventtest.Step(view, event.Due, &q)
	eventtest.Step(view, event.Sent, &q)
	q.InputTokens, q.CachedTokens, q.CachedKnown, q.InputSource, q.Done = 2000, 1800, true, metrics.TokensFromUsage, 1
	eventtest.Step(view, event.Done, &q)
}
