package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// readiness is the patience with a server that is still starting: none, or until a moment.
type readiness struct {
	env   *environment
	limit time.Duration
	until time.Time
	said  []string // the kinds of errors that were told
}

func (o *serverOptions) readiness(env *environment) *readiness {
	limit := time.Duration(o.ready) * time.Second
	return &readiness{env: env, limit: limit, until: time.Now().Add(limit)}
}

// again waits before another try and reports whether there is to be one. It tells each kind of error once, at once.
func (r *readiness) again(ctx context.Context, server string, err error) bool {
	const least = 100 * time.Millisecond // for a try, which would else say only that the time is up
	left := time.Until(r.until)
	if r.limit == 0 || left < least || ctx.Err() != nil {
		return false
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the address and what to do about it: waiting may do
	}
	const most = 8 // kinds, in case a server's words are new each time
	waiting := fmt.Sprintf("waiting up to %s for %s: %s", max(left, time.Second).Round(time.Second), server, err)
	if kind := kindOfError(err); len(r.said) < most && !slices.Contains(r.said, kind) {
		r.env.tell(waiting)
		r.said = append(r.said, kind)
	} else {
		r.env.show(waiting)
	}
	select {
	case <-time.After(min(time.Second, left/2)):
	case <-ctx.Done():
	}
	return true
}

// kindOfError is an error's words without what differs each time, such as the port on this side.
func kindOfError(err error) string { return longNumbers.ReplaceAllString(err.Error(), "") }

var longNumbers = regexp.MustCompile(`[0-9]{4,}`) // longer than a status

// find reaches the server and says what its model is called, with as much patience as was asked for.
func (o *serverOptions) find(ctx context.Context, client *http.Client, ready *readiness) (m model, err error) {
	if ready.limit > 0 {
		limited, cancel := context.WithDeadline(ctx, ready.until)
		defer cancel()
		ctx = limited
	}
	for {
		if err = reach(ctx, o.target); err == nil {
			if o.model == "" {
				m, err = discover(ctx, client, o.target)
			} else {
				m, err = o.named(ctx, client)
			}
		}
		if err == nil || !ready.again(ctx, o.target.String(), err) {
			return m, err
		}
	}
}

// rehearse sends what comes before the run and is in no figure: requests until one succeeds, if the user wants to wait for
// the server, and warm-ups. They have prompts of their own, as long as the first of the run, whose place in the server's
// prefix cache they therefore do not warm. The notes are warnings.
func (o *serveOptions) rehearse(ctx context.Context, env *environment, load loadgen.Options, first datasets.Conversation, ready *readiness) (notes []string, err error) {
	load.ModelFor, load.ProbeRate = nil, 0
	ready.until = time.Now().Add(ready.limit) // whatever the data set took
	if ready.limit > 0 {
		env.step(stepReady)
		var said error // what became of the last try that was not cut by the end of our patience
		for try := 0; ; try++ {
			limited, cancel := context.WithDeadline(ctx, ready.until)
			done := loadgen.Try(limited, load, strangers(first, try, 1), 1)
			cancel()
			if done[0].OK() {
				break
			}
			if help := o.leaveOut(&load, first, done); help != "" {
				return nil, fmt.Errorf("%s refuses the requests: %s; %s", o.server.target, done[0].Error, help)
			}
			if done[0].Failure != metrics.Cancelled {
				said = fmt.Errorf("%s: %s", done[0].Failure, done[0].Error)
			}
			err := said
			if err == nil {
				err = fmt.Errorf("no answer within %s", ready.limit)
			}
			if !ready.again(ctx, o.server.target.String(), err) {
				return nil, fmt.Errorf("%s was not ready within %s: %w", o.server.target, ready.limit, err)
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
