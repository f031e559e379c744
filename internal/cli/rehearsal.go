package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"benchtop/datasets"
	"benchtop/export"
	"benchtop/internal/cli/server"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// rehearse sends what comes before the run and is in no figure: requests until one succeeds, if the user wants to wait for
// the server, and warm-ups. They have prompts of their own, as long as the first of the run, whose place in the server's
// prefix cache they therefore do not warm. The notes are warnings.
func (o *serveOptions) rehearse(ctx context.Context, env *environment, load loadgen.Options, first datasets.Conversation, ready *server.Patience) (notes []string, err error) {
	load.ModelFor, load.ProbeRate = nil, 0
	ready.Restart() // whatever the data set took
	if ready.Limit > 0 {
		env.step(stepReady)
		var said error // what became of the last try that was not cut by the end of our patience
		for try := 0; ; try++ {
			limited, cancel := ready.Within(ctx)
			done := loadgen.Try(limited, load, strangers(first, try, 1), 1)
			cancel()
			if done[0].OK() {
				break
			}
			if help := o.leaveOut(&load, first, done); help != "" {
				return nil, fmt.Errorf("%s refuses the requests: %s; %s", o.server.Target, done[0].Error, help)
			}
			if done[0].Failure != metrics.Cancelled {
				said = fmt.Errorf("%s: %s", done[0].Failure, done[0].Error)
			}
			err := said
			if err == nil {
				err = fmt.Errorf("no answer within %s", ready.Limit)
			}
			if !ready.Again(ctx, o.server.Target.String(), err) {
				return nil, fmt.Errorf("%s was not ready within %s: %w", o.server.Target, ready.Limit, err)
			}
		}
	}
	if n := o.load.warmups; n > 0 {
		env.step(stepWarmups)
		env.tell(fmt.Sprintf("warming up with %d requests", n))
		failed, words := 0, ""
		all := loadgen.Try(ctx, load, strangers(first, -1, n), o.load.shape().Peak(0).Streams)
		for _, q := range all {
			if !q.OK() {
				failed++
				words = fmt.Sprintf("%s: %s", q.Failure, q.Error)
			}
		}
		if help := o.leaveOut(&load, first, all); help != "" {
			words += "; " + help
		}
		if failed > 0 && ctx.Err() == nil {
			notes = append(notes, fmt.Sprintf("%d of %d warm-ups failed, one with %s", failed, n, export.Clean(words)))
		}
	}
	env.warn(notes)
	return notes, ctx.Err()
}

// leaveOut says which fields the server refused in requests before the run, and how to leave them out; "" if it did not.
func (o *serveOptions) leaveOut(load *loadgen.Options, first datasets.Conversation, all []metrics.Request) string {
	var refused []string
	optional := load.Optional(&first.Turns[0])
	for _, q := range all {
		refused = append(refused, metrics.RefusedFields(optional, q.Status, q.Error)...)
	}
	if refused == nil {
		return ""
	}
	refused = slices.DeleteFunc(optional, func(f string) bool { return !slices.Contains(refused, f) })
	return fmt.Sprintf("to leave out %s, add %s", export.Listed(refused), export.LeaveOut(refused, o.command))
}

// strangers are n turns as long as the first of a conversation and unlike it: its tokens or words in another order, its
// characters where there are few words, as in languages that need no blanks.
func strangers(like datasets.Conversation, seed, n int) []datasets.Turn {
	turns := make([]datasets.Turn, n)
	for i := range turns {
		turns[i] = stranger(rand.New(rand.NewPCG(uint64(seed), uint64(i))), like.Turns[0])
	}
	return turns
}

func stranger(draws *rand.Rand, t datasets.Turn) datasets.Turn {
	const few = 8
	t.Batch = slices.Clone(t.Batch)
	for i := range t.Batch {
		t.Batch[i] = stranger(draws, t.Batch[i])
	}
	if t.TokenIDs != nil {
		t.TokenIDs = slices.Clone(t.TokenIDs)
		shuffle(draws, t.TokenIDs)
	} else if words := strings.Fields(t.Text); len(words) >= few {
		shuffle(draws, words)
		t.Text = strings.Join(words, " ")
	} else {
		letters := []rune(t.Text)
		shuffle(draws, letters)
		t.Text = string(letters)
	}
	t.Messages, t.Media = nil, nil
	return t
}

func shuffle[T any](draws *rand.Rand, all []T) {
	draws.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
}
