package loadgen

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/metrics"
)

// slowPrompt is a prompt that takes a while to make.
func slowPrompt(learn bool) datasets.Turn {
	p := datasets.Prompt{Compose: func(t *datasets.Turn, _ []string) error {
		time.Sleep(20 * time.Millisecond)
		t.Text = "made"
		return nil
	}}
	if learn {
		p.Learn = func(*datasets.Turn, int) {}
	}
	return datasets.Turn{Prompt: p}
}

// Prompts are made before they are due, unless they depend on what the server says before.
func TestPromptsAheadOfTime(t *testing.T) {
	later := func(t datasets.Turn, at time.Duration) datasets.Turn {
		t.At = at
		return t
	}
	replies := func(c datasets.Conversation) datasets.Conversation {
		c.Replies = true
		return c
	}
	short := datasets.Turn{Text: "hi"}
	for _, c := range []struct {
		name string
		of   datasets.Conversation
		late time.Duration // of its last turn
	}{
		{"one prompt", talk(slowPrompt(false)), 0},
		{"a later turn", timed(talk(short, later(slowPrompt(false), 5*time.Second))), 0},
		{"a first prompt before replies", replies(talk(slowPrompt(false))), 0},
		{"a prompt with a reply", replies(timed(talk(short, later(slowPrompt(false), 5*time.Second)))),
			20 * time.Millisecond},
		{"lengths that are learned", talk(slowPrompt(true)), 20 * time.Millisecond},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var book logbook
			s := newScripted(t, answer(time.Second))
			perform(t, s, &talks{talk(short), c.of}, &book, func(o *Options) {
				o.Schedule = every(3*time.Second, 2)
			}, nil)
			q := book.all[len(book.all)-1]
			if late := q.Sent - q.Scheduled; late != c.late || q.Encode != c.late || q.Prompt != "made" || !q.OK() {
				t.Errorf("sent %s late, %s of it encoding, %q: %s", late, q.Encode, q.Prompt, q.Error)
			}
		})
	}
}

// Bodies that are made ahead take little memory, and all of it is given back.
func TestBodiesAheadAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := datasets.Turn{Text: strings.Repeat("x", 1<<20), InputTokens: 1, MaxTokens: 8}
		var book logbook
		e := perform(t, newScripted(t, answer(0)), &prompts{n: 40, turn: &large}, &book, func(o *Options) {
			o.Schedule = every(100*time.Millisecond, 40)
		}, func(e *Engine) {
			time.AfterFunc(500*time.Millisecond, func() {
				if held := e.ahead.Load(); held < aheadBytes/2 || held > aheadBytes+2<<20 {
					t.Errorf("%d bytes are held", held)
				}
			})
		})
		if len(book.all) != 40 || e.ahead.Load() != 0 {
			t.Errorf("%d requests, and %d bytes are held at the end", len(book.all), e.ahead.Load())
		}
	})
}

// Conversations that were made ready for the plan come in their order when the plan is left.
func TestOrderAfterThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logbook
		perform(t, newScripted(t, answer(0)), &prompts{n: 9}, &book, func(o *Options) {
			o.Schedule = every(time.Minute, 9)
		}, func(e *Engine) { time.AfterFunc(30*time.Second, func() { e.SetRate(1) }) })
		ids := strings.Join(metrics.Each(book.all, func(q metrics.Request) string { return q.ID }), " ")
		if ids != "r-0 r-1 r-2 r-3 r-4 r-5 r-6 r-7 r-8" || book.all[8].Sent != 38*time.Second {
			t.Errorf("%s, the last at %s", ids, book.all[8].Sent)
		}
	})
}
