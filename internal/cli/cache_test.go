package cli

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/cli/prompts"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func TestCacheAlarm(t *testing.T) {
	type look struct{ queries, hits float64 }
	answers := metrics.Totals{InputTokens: 9000, CachedTokens: 8550} // count where the page does not tell
	unsaid := math.NaN()
	for _, c := range []struct {
		name  string
		looks []look
		share float64
		cold  bool
		want  string // "" for no alarm
	}{
		{"nothing found", []look{{9000, 0}}, 0, false, ""},
		{"warm", []look{{9000, 8550}}, 0, false, "knew 95% of the prompt tokens, though the prompts have no more than 0% in common; they are warm from an earlier run, or " +
			"somebody else sends them: --cache cold keeps earlier runs out"},
		{"warm all the same", []look{{9000, 8550}}, 0, true, "no more than 0% in common; somebody else seems to send prompts as well"},
		{"what they share", []look{{9000, 5900}}, 0.65, false, ""},
		{"a little more than that", []look{{9000, 7600}}, 0.65, false, ""},
		{"far more than that", []look{{9000, 7700}}, 0.65, false, "knew 86% of the prompt tokens, though the prompts have no more than 65% in common"},
		{"not known what they share", []look{{9000, 9000}}, 1, false, ""},
		{"too few to tell", []look{{999, 999}}, 0, false, ""},
		{"enough in the end", []look{{500, 500}, {500, 500}}, 0, false, "knew 100%"},
		{"over the run, not in a second", []look{{9000, 0}, {1000, 1000}}, 0, false, ""},
		{"told once", []look{{9000, 9000}, {9000, 9000}}, 0, false, "knew 100%"},
		{"told by answers alone", []look{{unsaid, unsaid}, {9000, unsaid}}, 0, false, "knew 95%"},
		{"no look", nil, 0, false, "knew 95%"},
		{"not said at first", []look{{unsaid, unsaid}, {9000, 9000}}, 0, false, "knew 100%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var alarm cacheAlarm
			var all []string
			for _, l := range c.looks {
				alarm.look(&metrics.ServerSecond{PrefixQueries: l.queries, PrefixHits: l.hits})
				if words := alarm.words(&metrics.Totals{}, c.share, c.cold); words != "" {
					all = append(all, words)
				}
			}
			if words := alarm.words(&answers, c.share, c.cold); words != "" {
				all = append(all, words)
			}
			if c.want == "" && len(all) > 0 || c.want != "" && (len(all) != 1 || !strings.Contains(all[0], c.want)) {
				t.Errorf("got %q, want %q", all, c.want)
			}
		})
	}
}

// fixed is a source of some prompts.
type fixed []datasets.Conversation

func (f *fixed) Next() (datasets.Conversation, error) {
	if len(*f) == 0 {
		return datasets.Conversation{}, io.EOF
	}
	c := (*f)[0]
	*f = (*f)[1:]
	return c, nil
}
func (f *fixed) Len() int            { return len(*f) }
func (f *fixed) Description() string { return "fixed" }

// prompt is a prompt of n token ids that no other number gives.
func prompt(number, n int) datasets.Conversation {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = number*10000 + i
	}
	return datasets.Conversation{Turns: []datasets.Turn{{TokenIDs: ids, InputTokens: n}}}
}

// What prompts have in common: what is drawn, and for a chat the server's template; everything once they are repeated.
func TestShareOfASession(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend string
		sources []*fixed
		again   bool
		want    float64
		counted int // tokens of the first prompt by the server, 0 for none
	}{
		{"nothing drawn ahead", "openai", nil, false, 1, 0},
		{"strangers", "openai", []*fixed{{prompt(1, 160), prompt(2, 160)}}, false, 0, 0},
		{"chats", "openai-chat", []*fixed{{prompt(1, 256), prompt(2, 256)}}, false, 0.25, 0},
		{"chats with a short template", "openai-chat", []*fixed{{prompt(1, 60), prompt(2, 60)}}, false, 20.0 / 160, 80},
		{"chats that were counted badly", "openai-chat", []*fixed{{prompt(1, 256), prompt(2, 256)}}, false, 0.25, 250},
		{"chats with all that was said before", "openai-chat", []*fixed{{prompt(1, 256), prompt(2, 256)}}, false, 0.25, 2000},
		{"oversampled", "openai", []*fixed{{prompt(1, 160), prompt(1, 160)}}, false, 144.0 / 320, 0},
		{"more, alike", "openai", []*fixed{{prompt(1, 160)}, {prompt(1, 160), prompt(1, 160)}}, false, 144.0 / 320, 0},
		{"repeated in another round", "openai", []*fixed{{prompt(1, 160), prompt(2, 160)}}, true, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &session{supplies: prompts.NewPrefetchers(), load: loadgen.Options{Protocol: protocol.Named(c.backend)}}
			defer s.supplies.Close()
			s.view = live.NewView(time.Now(), &s.plan)
			if c.counted > 0 {
				q := metrics.NewRequest(0)
				q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
				q.InputTokens = (*c.sources[0])[0].Turns[0].InputTokens
				eventtest.Step(s.view, event.Due, &q)
				eventtest.Step(s.view, event.Sent, &q)
				q.Add(metrics.Chunk{At: 1, Tokens: 1})
				eventtest.Step(s.view, event.Chunk, &q)
				q.InputTokens, q.InputSource, q.OutputTokens, q.Done = c.counted, metrics.TokensFromUsage, 1, 1
				eventtest.Step(s.view, event.Done, &q)
			}
			var source loadgen.Source
			n := 0
			for _, x := range c.sources {
				held := x.Len()
				supply := s.supplies.Begin(x, 1<<20)
				if err := supply.Fill(t.Context(), 0, time.Second, func(int) {}); err != nil {
					t.Fatal(err)
				}
				if source == nil {
					source, n = prompts.Repeat(supply), held
				}
			}
			for range n {
				if _, err := source.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if c.again {
				if _, err := source.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.share(); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("got %g, want %g", got, c.want)
			}
		})
	}
	if got := (&session{load: loadgen.Defaults()}).share(); got != 1 {
		t.Errorf("without supplies: got %g", got)
	}
}
