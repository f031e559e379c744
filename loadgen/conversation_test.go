package loadgen

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/metrics"
)

// talks is a source of given conversations.
type talks []datasets.Conversation

func (t *talks) Next() (datasets.Conversation, error) {
	if len(*t) == 0 {
		return datasets.Conversation{}, io.EOF
	}
	c := (*t)[0]
	*t = (*t)[1:]
	return c, nil
}

// talk is a conversation of turns.
func talk(turns ...datasets.Turn) datasets.Conversation {
	c := datasets.Conversation{ID: "c", Session: "s"}
	for _, t := range turns {
		t.InputTokens, t.MaxTokens = 1, 8
		if t.Text == "" && t.Prompt.Compose == nil {
			t.Text = "hi"
		}
		c.Turns = append(c.Turns, t)
	}
	return c
}

// after is a turn that waits for others, and then for a delay.
func after(delay time.Duration, turns ...int) datasets.Turn {
	return datasets.Turn{After: append([]int{}, turns...), Delay: delay}
}

func at(at time.Duration) datasets.Turn { return datasets.Turn{At: at} }

func timed(c datasets.Conversation) datasets.Conversation {
	c.Timed = true
	return c
}

// When the turns of conversations are due, admitted and done.
func TestConversations(t *testing.T) {
	const never, s = -1, time.Second
	pause := datasets.Turn{Delay: 3 * s}
	for _, c := range []struct {
		name   string
		talks  talks
		server []script
		change func(*Options)
		want   []want
	}{
		{name: "a delay holds no slot", talks: talks{talk(pause, pause), talk(pause)},
			change: func(o *Options) { o.Limit = 1 },
			want:   []want{{0, 0, 2, ""}, {5, 5, 7, ""}, {0, 2, 4, ""}}},
		{name: "a later turn goes before a new conversation",
			talks:  talks{talk(pause, pause), talk(pause), talk(pause), talk(pause)},
			change: func(o *Options) { o.Limit = 1 },
			want:   []want{{0, 0, 2, ""}, {5, 6, 8, ""}, {0, 2, 4, ""}, {0, 4, 6, ""}, {0, 8, 10, ""}}},
		{name: "one conversation at a time", talks: talks{talk(pause, pause), talk(pause)},
			change: func(o *Options) { o.Limit, o.Active = 0, 1 },
			want:   []want{{0, 0, 2, ""}, {5, 5, 7, ""}, {0, 7, 9, ""}}},
		{name: "a closed loop of users who think", talks: talks{talk(pause, pause), talk(pause), talk(pause)},
			change: func(o *Options) { o.Limit, o.Active, o.ClosedLoop = 0, 2, true },
			want:   []want{{0, 0, 2, ""}, {5, 5, 7, ""}, {0, 0, 2, ""}, {2, 2, 4, ""}}},
		{name: "a tree", talks: talks{talk(at(0), after(s, 0), after(4*s, 0), after(s, 1, 2), after(7*s))},
			want: []want{{0, 0, 2, ""}, {3, 3, 5, ""}, {6, 6, 8, ""}, {9, 9, 11, ""}, {7, 7, 9, ""}}},
		{name: "delays from the start of a conversation that had to wait",
			talks:  talks{talk(at(0)), talk(at(0), after(7*s)), timed(talk(at(0), at(9*s)))},
			change: func(o *Options) { o.Limit, o.Active = 0, 1 },
			want:   []want{{0, 0, 2, ""}, {0, 2, 4, ""}, {9, 9, 11, ""}, {0, 11, 13, ""}, {20, 20, 22, ""}}},
		{name: "times of their own", talks: talks{timed(talk(at(0), at(1*s), at(5*s))), timed(talk(at(0), at(9*s)))},
			change: func(o *Options) { o.Schedule = every(s, 2) },
			want:   []want{{0, 0, 2, ""}, {2, 2, 4, ""}, {5, 5, 7, ""}, {1, 1, 3, ""}, {10, 10, 12, ""}}},
		{name: "a failure ends those that wait for it",
			talks: talks{talk(at(0), after(s, 0), after(2*s, 0), after(s, 1), after(s, 2))},
			server: []script{answer(2 * s), pieces(true, 0, plainAnswer("400 Bad", "application/json", "no")),
				answer(2 * s)},
			want: []want{{0, 0, 2, ""}, {3, 3, 3, metrics.FailedStatus}, {4, 4, 6, ""}, {7, 7, 9, ""}}},
		{name: "the end of the sending ends a delay", talks: talks{talk(pause, pause), talk(pause, pause)},
			change: func(o *Options) { o.Limit, o.Until = 1, 4*s },
			want:   []want{{0, 0, 2, ""}, {0, 2, 4, ""}}},
		{name: "the end of the sending cancels a turn that waits for its slot",
			talks:  talks{talk(pause, datasets.Turn{Delay: s}), talk(pause)},
			change: func(o *Options) { o.Limit, o.Until = 1, 3500*time.Millisecond },
			want:   []want{{0, 0, 2, ""}, {3, never, 3.5, metrics.Cancelled}, {0, 2, 4, ""}}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			if c.server == nil {
				c.server = []script{answer(2 * s)}
			}
			var book logbook
			e := perform(t, newScripted(t, c.server...), &c.talks, &book, c.change, nil)
			check(t, book.all, c.want)
			if e.limiter.active != 0 || e.limiter.running != 0 {
				t.Errorf("%d conversations and %d requests are under way after the run", e.limiter.active,
					e.limiter.running)
			}
		})
	}
}

// unmakeable is a prompt whose making panics.
var unmakeable = datasets.Prompt{Compose: func(*datasets.Turn, []string) error { panic("no prompt") }}

// A panic while a prompt is made fails its request alone.
func TestPanicInPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logbook
		perform(t, newScripted(t, answer(time.Second)),
			&talks{talk(datasets.Turn{}, datasets.Turn{Prompt: unmakeable}), talk(datasets.Turn{})},
			&book, nil, nil)
		if len(book.all) != 3 || book.all[1].Failure != metrics.FailedInternal ||
			!strings.HasPrefix(book.all[1].Error, "no prompt") || !book.all[2].OK() {
			t.Errorf("got %+v", book.all)
		}
	})
}

// A load is steered in the pauses of its last conversations: a pause holds the turns back, and a limit holds for them.
// The end of the sending and an abort do not wait for the pauses.
func TestSteeringInPauses(t *testing.T) {
	const s = time.Second
	pause := datasets.Turn{Delay: 3 * s}
	for _, c := range []struct {
		name  string
		steer func(*Engine)
		want  []want
		end   time.Duration
	}{
		{"nothing", func(*Engine) {}, []want{{0, 0, 2, ""}, {5, 5, 7, ""}, {0, 0, 2, ""}, {5, 5, 7, ""}}, 7 * s},
		{"a pause", func(e *Engine) { e.Pause(); time.AfterFunc(4*s, func() { e.Resume() }) },
			[]want{{0, 0, 2, ""}, {5, 7, 9, ""}, {0, 0, 2, ""}, {5, 7, 9, ""}}, 9 * s},
		{"a lower limit", func(e *Engine) { e.SetLimit(1) },
			[]want{{0, 0, 2, ""}, {5, 5, 7, ""}, {0, 0, 2, ""}, {5, 7, 9, ""}}, 9 * s},
		{"drain", func(e *Engine) { e.Drain(9 * s) }, []want{{0, 0, 2, ""}, {0, 0, 2, ""}}, 3 * s},
		{"abort", (*Engine).Abort, []want{{0, 0, 2, ""}, {0, 0, 2, ""}}, 3 * s},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var book logbook
			e := perform(t, newScripted(t, answer(2*s)), &talks{talk(pause, pause), talk(pause, pause)}, &book,
				func(o *Options) { o.Limit, o.HoldPaused = 2, true },
				func(e *Engine) {
					time.AfterFunc(3*s, func() {
						if !e.Sending() {
							t.Error("turns are still to come, and the sending is over")
						}
						c.steer(e)
					})
				})
			// Turns that are released at the same moment start in any order.
			slices.SortStableFunc(book.all, func(a, b metrics.Request) int { return a.Turn - b.Turn })
			slices.SortStableFunc(c.want, func(a, b want) int { return int(a.due - b.due) })
			slices.SortStableFunc(book.all, func(a, b metrics.Request) int { return int(a.Done - b.Done) })
			slices.SortStableFunc(c.want, func(a, b want) int { return int(a.done - b.done) })
			check(t, book.all, c.want)
			if e.Ended() != c.end || e.Sending() {
				t.Errorf("ended after %s, want %s", e.Ended(), c.end)
			}
		})
	}
}

// echo makes a prompt of the answers before it.
var echo = datasets.Prompt{Compose: func(t *datasets.Turn, answers []string) error {
	if len(answers) == 2 {
		return fmt.Errorf("no third turn")
	}
	t.Text, t.InputTokens, t.IdealTokens, t.IdealKnown = "after <"+strings.Join(answers, "|")+">", 10, 8, true
	return nil
}}

// Prompts are made of the answers before them, and requests say which they waited for.
func TestReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, pieces(true, 0, streamHead,
			chunk(sseEvent(`{"choices":[{"index":0,"text":"one","finish_reason":"stop"}]}`))+lastChunk))
		var book logbook
		c := talk(datasets.Turn{Prompt: echo}, datasets.Turn{Prompt: echo}, datasets.Turn{Prompt: echo})
		c.Replies = true
		perform(t, s, &talks{c}, &book, nil, nil)
		var got []string
		for _, q := range book.all {
			got = append(got, fmt.Sprintf("%s after %q: turn %d of %d of %s, %d of %d tokens ideal, %s", q.ID, q.Parent,
				q.Turn, q.Turns, q.Session, q.IdealTokens, q.InputTokens, q.Error))
		}
		want := []string{
			`c-turn0 after "": turn 0 of 3 of s, 8 of 10 tokens ideal, `,
			`c-turn1 after "c-turn0": turn 1 of 3 of s, 8 of 10 tokens ideal, `,
			`c-turn2 after "c-turn1": turn 2 of 3 of s, 0 of 1 tokens ideal, the prompt of turn 2 of conversation c: ` +
				`no third turn`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if len(s.bodies) != 2 || !strings.Contains(s.bodies[0], `"after <>"`) ||
			!strings.Contains(s.bodies[1], `"after <one>"`) {
			t.Errorf("sent %q", s.bodies)
		}
	})
}
