package prompts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/datasets"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
)

// Supply is the prompts of a run, drawn ahead of need, as its requests send them.
type Supply struct {
	datasets.Flow
	Tokenizing *Tokenizing
	Sharing    *datasets.Sharing     // of the prompts of the run
	First      datasets.Conversation // with its first prompt made
	Notes      []string
	LeftOut    string // says how many requests --max-model-len left out, "" for none

	ahead *Prefetcher
}

// Count is the number of conversations, math.MaxInt for no end.
func (x *Supply) Count() int { return cmp.Or(x.Len, math.MaxInt) }

// shorten takes note of the requests that were left out. A trace goes on without their times, if the run goes by them.
func (x *Supply) shorten(l *limit, timed bool) error {
	_, all := x.ahead.drawn()
	note := l.note(all)
	if note == "" {
		return nil
	}
	x.Tokenizing.note(note)
	x.LeftOut = note
	if !all {
		if timed {
			return usage.Errorf("--max-model-len %d: the trace is too long to leave requests out; "+
				"add --no-self-timed, or remove them from the file", l.most)
		}
		return nil
	}
	times, now := []time.Duration(nil), time.Duration(0)
	x.Turns = 0
	for c := range x.ahead.queued {
		now = max(now, c.At) // as the trace has it
		times = append(times, now)
		x.Turns += len(c.Turns)
	}
	if x.Len = len(times); x.Turns == x.Len {
		x.Turns = 0
	}
	if x.Times == nil {
		return nil
	}
	x.Times = func() []time.Duration { return times }
	return nil
}

// Fit is an error if a backend cannot send one of the prompts drawn so far.
func (x *Supply) Fit(dataset string, to protocol.Traits) error {
	return x.check("--dataset-name "+dataset, to.Accepts)
}

// check checks the prompts drawn so far.
func (x *Supply) check(flag string, check func(*datasets.Turn) error) error {
	all := slices.Values([]datasets.Conversation{x.First})
	if x.ahead != nil {
		all = x.ahead.queued
	}
	for c := range all {
		for i := range c.Turns {
			if err := check(&c.Turns[i]); err != nil {
				return usage.Errorf("%s, prompt %s: %w", flag, c.ID, err)
			}
		}
	}
	return nil
}

// extend provides more prompts than were asked for, since the load may be steered, or go on. A data set without more is
// repeated if it may.
func (x *Supply) extend(all *Prefetchers, repeat, searching, goesOn bool) {
	again, more := &rounds{rest: x.ahead}, x.More
	switch {
	case x.Len == 0:
		return
	case more != nil:
		x.More = func() (datasets.Flow, error) {
			f, err := more()
			if err == nil {
				f.Next = all.Begin(f, moreBytes).Next
			}
			return f, err
		}
		return
	case repeat:
		x.Next = again.next // a higher rate may need more than there are
		if searching {
			x.noteRepeats("the search")
		}
	case goesOn:
		x.Next = again.first
		x.More = func() (datasets.Flow, error) { return datasets.Flow{Next: again.next, About: x.About}, nil }
	}
	if goesOn {
		x.noteRepeats("the confirmation")
	}
}

func (x *Supply) noteRepeats(who string) {
	x.Notes = append(x.Notes, fmt.Sprintf("%s repeats the data set's %d prompts; "+
		"repeated ones may hit the server's prefix cache", who, x.Len))
}
