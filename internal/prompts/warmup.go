package prompts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"benchtop/datasets"
	"benchtop/export"
	"benchtop/internal/hf/media"
	"benchtop/internal/server"
	"benchtop/internal/text"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// WarmUp is what is sent before a run and is in no figure. Its prompts are as long as the first of the run, whose place
// in the server's prefix cache they do not warm.
type WarmUp struct {
	Load     loadgen.Options
	First    datasets.Conversation
	Patience *server.Patience // with requests that fail, of which none is sent without patience
	Requests int
	// Calibrate sends one request where there is no other and the prompts are made by the server's counts.
	Calibrate bool
	Command   []string
	To        Reporter
}

// Do sends requests until one succeeds, if the user wants to wait for the server, and then the warm-ups, so many at a
// time. The notes are warnings.
func (w *WarmUp) Do(ctx context.Context, atOnce int) (notes []string, err error) {
	w.Load.ModelFor, w.Load.ProbeRate = nil, 0
	w.Patience.Restart() // whatever the data set took
	if w.Patience.Limit > 0 {
		if err := w.waitForAnswer(ctx); err != nil {
			return nil, err
		}
	}
	if w.First.Turns[0].Prompt.Learn != nil && w.Calibrate && w.Patience.Limit <= 0 {
		w.Requests = max(1, w.Requests)
	}
	if w.Requests > 0 {
		notes = w.warmUp(ctx, atOnce)
	}
	return notes, ctx.Err()
}

// waitForAnswer sends a request to each server until all succeed or the patience ends.
func (w *WarmUp) waitForAnswer(ctx context.Context) error {
	targets := w.Load.All()
	to := w.Load.Target.String()
	w.To.Step(StepReady)
	refused, try := false, 0
	err := w.Patience.Until(ctx, to, func(ctx context.Context) (final bool, err error) {
		done := loadgen.Try(ctx, w.Load, shuffled(w.First, try, len(targets)), 0)
		try++
		i := slices.IndexFunc(done, func(q metrics.Request) bool { return !q.OK() })
		if i < 0 {
			return true, nil
		}
		q := &done[i]
		to = targets[q.Server].String()
		if help := w.leaveOut(done); help != "" {
			refused = true
			return true, fmt.Errorf("%s rejects the requests: %s; %s", to, q.Error, help)
		}
		advice := server.Advice(q.Status, w.Load.Protocol.Traits().Name, w.Load.Target.Token() != nil)
		return false, fmt.Errorf("%s: %s%s", q.Failure, q.Error, advice)
	})
	if err != nil && !refused {
		err = fmt.Errorf("%s was not ready within %s: %w", to, w.Patience.Limit, err)
	}
	return err
}

func (w *WarmUp) warmUp(ctx context.Context, atOnce int) (notes []string) {
	w.To.Step(StepWarmups)
	w.To.Tell(fmt.Sprintf("warming up with %d requests", w.Requests))
	failed, words := 0, ""
	all := loadgen.Try(ctx, w.Load, shuffled(w.First, -1, w.Requests), atOnce)
	for _, q := range all {
		if !q.OK() {
			failed++
			words = fmt.Sprintf("%s: %s", q.Failure, q.Error)
		}
	}
	if help := w.leaveOut(all); help != "" {
		words += "; " + help
	}
	if failed > 0 && ctx.Err() == nil {
		notes = append(notes,
			fmt.Sprintf("%d of %d warm-ups failed, one with %s", failed, w.Requests, text.Clean(words)))
	}
	return notes
}

// Prime sends a prefix of prompts to each server, twice for each of some LoRA modules or else the model, so that its
// prefix cache has it. The words say how much of the second the cache had; ok is false where that is too little.
func Prime(ctx context.Context, load loadgen.Options, prefix []int, modules []string) (words string, ok bool) {
	load.ModelFor, load.ProbeRate = nil, 0
	turn := datasets.Turn{TokenIDs: prefix, InputTokens: len(prefix), MaxTokens: 1}
	turns := slices.Repeat([]datasets.Turn{turn}, len(load.All()))
	if modules = slices.Compact(slices.Sorted(slices.Values(modules))); modules == nil {
		modules = []string{load.Model}
	}
	var hits metrics.TokenShare
	for _, load.Model = range modules {
		loadgen.Try(ctx, load, turns, 0)
		for _, q := range loadgen.Try(ctx, load, turns, 0) {
			if !q.OK() {
				return fmt.Sprintf("the prefix that is to be in the cache could not be sent: %s: %s", q.Failure,
					text.Clean(q.Error)), false
			}
			hits.Join(q.Cached())
		}
	}
	const enough = 0.9 // caches have whole blocks, and compute the last token
	if hits.Requests == 0 {
		return "the prefix is sent; the answers do not say whether the cache has it, the server's counters may", true
	}
	words = fmt.Sprintf("the cache had %d of %d tokens of the prefix when it came again", hits.Tokens, hits.Of)
	return words, hits.Rate() >= enough || hits.Of-hits.Tokens <= mostBlock*hits.Requests
}

// mostBlock is the most tokens that are in the cache or not together.
const mostBlock = 128

// leaveOut says which fields the server refused in requests before the run, and how to leave them out; "" if it did
// not.
func (w *WarmUp) leaveOut(all []metrics.Request) string {
	var refused []string
	optional := w.Load.Optional(&w.First.Turns[0])
	for _, q := range all {
		refused = append(refused, metrics.RefusedFields(optional, q.Status, q.Error)...)
	}
	if refused == nil {
		return ""
	}
	refused = slices.DeleteFunc(optional, func(f string) bool { return !slices.Contains(refused, f) })
	return fmt.Sprintf("to omit %s, add %s", text.Join(refused, " and "), export.OmitFlag(refused, w.Command))
}

// shuffled are n turns as long as the first of a conversation and unlike it: its tokens or words in another order, its
// characters where there are few words, as in languages that need no blanks. Pictures are of noise and as large,
// recordings silent and nearly as long.
func shuffled(like datasets.Conversation, seed, n int) []datasets.Turn {
	turns := make([]datasets.Turn, n)
	for i := range turns {
		turns[i] = shuffledTurn(rand.New(rand.NewPCG(uint64(seed), uint64(i))), like.Turns[0])
	}
	return turns
}

func shuffledTurn(draws *rand.Rand, t datasets.Turn) datasets.Turn {
	const few = 8
	t.Batch = slices.Clone(t.Batch)
	for i := range t.Batch {
		t.Batch[i] = shuffledTurn(draws, t.Batch[i])
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
	if t.Audio != nil {
		t.Audio = media.Quiet(t.Audio.Duration, draws)
	}
	if t.Messages != nil { // which are sent instead, with the media inside
		t.Media = media.Parts(t.Messages)
	}
	t.Messages, t.Media = nil, media.Another(t.Media, draws)
	return t
}

func shuffle[T any](draws *rand.Rand, all []T) {
	draws.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
}
