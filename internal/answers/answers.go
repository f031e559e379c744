// Package answers sends known prompts alone before a run, then again beside its load, and compares the answers: a
// server that is right alone may be wrong under load.
//
//	New ── prompts of the seed ──▶ Alone: each twice ──▶ Beside: again and again ── metrics.AnswerCheck ──▶ the run
package answers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/internal/text"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
	"benchtop/metrics/live"
)

const (
	// outputTokens is the length of an answer.
	outputTokens = 16
	// mostShare of the tokens of the load may be those of checks.
	mostShare = 0.01
	// lookEvery is how often there is a look for a turn of the next check.
	lookEvery = 200 * time.Millisecond
	// draws keep the prompts apart from all others of the seed.
	draws = 0xa25e5
)

// Check are the known prompts of a run with their answers.
type Check struct {
	load    loadgen.Options
	turns   []datasets.Turn
	first   []metrics.Request // answers alone; failed for a prompt that is not sent any more
	alone   []metrics.AnswerCheck
	dearest int // tokens of a check
}

// New draws n prompts for a load. They are texts of words, and the same for the same seed.
func New(load loadgen.Options, n int, seed int64) *Check {
	c := &Check{load: load, first: make([]metrics.Request, n)}
	c.load.KeepText, c.load.KeepTokens, c.load.Salt.PerRequest = true, true, false
	random := rand.New(rand.NewPCG(uint64(seed), draws))
	for range n {
		list := metrics.Each(random.Perm(len(words))[:6], func(i int) string { return words[i] })
		c.turns = append(c.turns, datasets.Turn{
			Text:      fmt.Sprintf("%d. Sort by the alphabet: %s.", random.IntN(1000), strings.Join(list, ", ")),
			MaxTokens: outputTokens,
		})
	}
	return c
}

// words are usual ones that differ early.
var words = strings.Fields("apple bridge candle desert engine forest garden hammer island jacket kitchen ladder " +
	"market needle orange pencil quartz river silver table umbrella valley window yellow zebra anchor bottle cloud " +
	"dragon eagle feather glass honey iron jungle king lemon mirror night ocean paper queen rain stone tiger uncle " +
	"violin water")

// Alone sends each prompt twice, one request at a time, and shows how many are done. The note says why there are fewer
// answers than prompts, "" if there are all.
func (c *Check) Alone(ctx context.Context, show func(done, total int)) (note string) {
	if q := c.begin(ctx); !q.OK() {
		return fmt.Sprintf("no answer is checked: the first known prompt failed with %s: %s", q.Failure,
			text.Clean(q.Error))
	}
	n, failed, words := len(c.turns), 0, ""
	for i := range 2 * n {
		at := i % n
		switch {
		case i == 0: // it was sent
		case i < n:
			c.first[at] = c.send(ctx, at)
		case !c.first[at].OK():
			continue
		}
		q := c.first[at]
		if i >= n {
			q = c.send(ctx, at)
		}
		check := c.compare(at, &q)
		check.At, check.Alone = 0, 1+i/n
		if i < n {
			check.By = ""
		}
		if !q.OK() {
			failed, words = failed+1, fmt.Sprintf("%s: %s", q.Failure, q.Error)
		}
		c.alone = append(c.alone, check)
		show(i+1, 2*n)
	}
	for _, a := range c.alone { // none that differs from itself tells anything
		if a.Alone == 2 && (a.Changed || a.Failure != "") {
			c.first[a.Prompt].Failure = metrics.FailedInternal
		}
	}
	if failed > 0 && ctx.Err() == nil {
		note = fmt.Sprintf("%d of %d known prompts failed before the run, one with %s", failed, 2*n, text.Clean(words))
	}
	return note
}

// begin sends the first prompt. Servers that refuse some fields get fewer, until it has an answer.
func (c *Check) begin(ctx context.Context) *metrics.Request {
	q, fields := &c.first[0], c.load.Protocol.Traits().Tokens
	greedy := []protocol.Field{{Name: "temperature", JSON: "0"}}
	for _, some := range [][]protocol.Field{append(fields, greedy...), greedy, nil} {
		c.ask(some)
		if *q = c.send(ctx, 0); q.OK() || q.Status/100 != 4 {
			break
		}
	}
	return q
}

// ask has the requests carry some fields instead of the user's, beside a length of their own.
func (c *Check) ask(fields []protocol.Field) {
	traits := c.load.Protocol.Traits()
	own := map[string]json.RawMessage{traits.LengthField: fmt.Append(nil, outputTokens)}
	for _, f := range c.load.Extra {
		if f.Name == "n" {
			own["n"] = json.RawMessage("1")
		}
	}
	for _, f := range fields {
		own[f.Name] = json.RawMessage(f.JSON)
	}
	overrides, _ := json.Marshal(own) // all are JSON
	for i := range c.turns {
		c.turns[i].Overrides = overrides
	}
}

// send sends a prompt, always to the same of several servers.
func (c *Check) send(ctx context.Context, prompt int) metrics.Request {
	load, all := c.load, c.load.All()
	load.Servers = loadgen.Servers{}
	load.Add(all[prompt%len(all)])
	q := loadgen.Try(ctx, load, c.turns[prompt:prompt+1], 1)[0]
	if q.OK() {
		c.dearest = max(c.dearest, q.InputTokens+q.OutputTokens)
	}
	return q
}

// Beside tells of the checks alone, and then sends prompts one at a time until ctx ends: the next one when all tokens
// of such checks, its own among them, are at most a hundredth of those that the load has had by then. None starts once
// over is closed. What is in flight at the end is cut, and not counted.
func (c *Check) Beside(ctx context.Context, over <-chan struct{}, start time.Time, view *live.View,
	tell func(metrics.AnswerCheck)) {
	for _, a := range c.alone {
		tell(a)
	}
	var steady []int
	for i := range c.first {
		if c.first[i].OK() {
			steady = append(steady, i)
		}
	}
	if len(steady) == 0 {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	c.load.Start = start
	spent := 0
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-look.C:
		}
		had := view.Totals()
		if float64(spent+c.dearest) > mostShare*float64(had.InputTokens+had.OutputTokens) {
			continue
		}
		prompt, flying := steady[n%len(steady)], view.InFlight()
		q := c.send(ctx, prompt)
		if q.Failure == metrics.Cancelled {
			return
		}
		check := c.compare(prompt, &q)
		check.InFlight = flying
		spent += cmp.Or(check.Tokens, c.dearest) // what a failed one cost is not known
		tell(check)
		n++
	}
}

// compare compares an answer with the first one to the same prompt.
func (c *Check) compare(prompt int, q *metrics.Request) metrics.AnswerCheck {
	first := &c.first[prompt]
	a := metrics.AnswerCheck{At: max(0, q.Done), Prompt: prompt, Failure: q.Failure, TPOT: metrics.Never,
		Before: metrics.Unsaid(), Now: metrics.Unsaid()}
	if !q.OK() {
		return a
	}
	a.Tokens = q.InputTokens + q.OutputTokens
	if t := q.TPOT(); t > 0 {
		a.TPOT = max(time.Microsecond, t.Truncate(time.Microsecond)) // as the journal has it
	}
	was, is := first.Tokens, q.Tokens
	switch {
	case len(was) == 0 || len(is) == 0 || (was[0].ID < 0) != (is[0].ID < 0):
		a.By, was, is = metrics.ByText, characters(first.Text), characters(q.Text)
	case was[0].ID < 0:
		a.By = metrics.ByTokens
	default:
		a.By = metrics.ByTokenIDs
	}
	both := min(len(was), len(is))
	for a.Common < both && was[a.Common].Is(is[a.Common]) {
		a.Common++
	}
	a.Of = max(len(was), len(is))
	if a.Changed = a.Common < a.Of; a.Common < both {
		a.Before, a.Now = was[a.Common].Logprob, is[a.Common].Logprob
	}
	return a
}

// characters are those of a text in place of tokens.
func characters(text string) (all []metrics.OutputToken) {
	for _, r := range text {
		all = append(all, metrics.OutputToken{ID: int(r), Logprob: metrics.Unsaid()})
	}
	return all
}
