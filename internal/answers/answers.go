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
	"net/http"
	"slices"
	"strconv"
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
	// A prompt may take leastPatience, or slower times as long as others do.
	leastPatience, slower = time.Minute, 10
)

// Check are the known prompts of a run with their answers.
type Check struct {
	load    loadgen.Options
	models  []string // LoRA modules, which take turns; none for that of the load
	turns   []datasets.Turn
	fields  []protocol.Field  // that are asked for; a server that refuses some gets fewer
	first   []metrics.Request // answers alone
	alone   []metrics.AnswerCheck
	steady  []int // prompts with the same answer twice alone
	sampled bool  // the server refuses to be greedy
	dearest int   // tokens of a check
	longest time.Duration
}

// greedy comes first of the fields, so that it is the last one to be given up.
var greedy = protocol.Field{Name: "temperature", JSON: "0"}

// New draws n prompts for a load, each to one of the models, if there are any. They are texts of words, and the same
// for the same seed.
func New(load loadgen.Options, models []string, n int, seed int64) *Check {
	c := &Check{load: load, models: models, first: make([]metrics.Request, n)}
	c.load.KeepText, c.load.KeepTokens, c.load.Salt.PerRequest = true, true, false
	c.load.Extra = kept(load.Extra)
	c.fields = append([]protocol.Field{greedy}, load.Protocol.Traits().Tokens...)
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

// drawing are fields of a body that say how an answer is drawn and where it ends.
var drawing = strings.Fields("temperature top_p top_k min_p typical_p seed presence_penalty frequency_penalty " +
	"repetition_penalty repeat_penalty logit_bias length_penalty use_beam_search n best_of min_tokens stop " +
	"stop_token_ids")

// kept are the user's fields of a body without those of drawing, and with the length of known answers. Those of null
// stay, as they leave out what a server refuses.
func kept(fields []protocol.Field) (out []protocol.Field) {
	for _, f := range fields {
		var options map[string]json.RawMessage // Ollama's
		switch {
		case f.JSON == "null":
		case slices.Contains(protocol.LengthFields, f.Name):
			f.JSON = strconv.Itoa(outputTokens)
		case slices.Contains(drawing, f.Name):
			continue
		case f.Name == "options" && json.Unmarshal([]byte(f.JSON), &options) == nil:
			var inner []protocol.Field
			for name, value := range options {
				inner = append(inner, protocol.Field{Name: name, JSON: string(value)})
			}
			f.JSON = object(kept(inner))
		}
		out = append(out, f)
	}
	return out
}

func object(fields []protocol.Field) string {
	all := map[string]json.RawMessage{}
	for _, f := range fields {
		all[f.Name] = json.RawMessage(f.JSON)
	}
	text, _ := json.Marshal(all) // all are JSON
	return string(text)
}

// words are usual ones that differ early.
var words = strings.Fields("apple bridge candle desert engine forest garden hammer island jacket kitchen ladder " +
	"market needle orange pencil quartz river silver table umbrella valley window yellow zebra anchor bottle cloud " +
	"dragon eagle feather glass honey iron jungle king lemon mirror night ocean paper queen rain stone tiger uncle " +
	"violin water")

// Alone sends each prompt twice, one request at a time, and shows how many are done. The note says why there are fewer
// answers than prompts, "" if there are all, or if ctx has ended.
func (c *Check) Alone(ctx context.Context, show func(done, total int)) (note string) {
	n, failed, answered, words := len(c.turns), 0, 0, ""
	for i := 0; i < 2*n && ctx.Err() == nil; i++ {
		at := i % n
		var q metrics.Request
		switch {
		case i < n:
			c.first[at] = c.begin(ctx, at)
			q = c.first[at]
		case !c.first[at].OK():
			continue
		default:
			q = c.send(ctx, at, 0)
		}
		check := c.compare(at, &q)
		check.At, check.Alone = 0, 1+i/n
		switch {
		case !q.OK():
			failed, words = failed+1, cmp.Or(words, fmt.Sprintf("%s: %s", q.Failure, text.Clean(q.Error)))
		case i < n:
			answered, check.By = answered+1, ""
		case check.By != "" && !check.Changed: // one that differs from itself tells nothing
			c.steady = append(c.steady, at)
		}
		c.alone = append(c.alone, check)
		show(i+1, 2*n)
		if answered == 0 && (faulty(&q) || failed > 1 && q.Failure == metrics.FailedTimeout) { // so fare the others
			break
		}
	}
	switch {
	case failed == 0 || ctx.Err() != nil:
		return ""
	case answered == 0:
		return "no answer is checked: no known prompt was answered, the first failed with " + words
	}
	return fmt.Sprintf("%s with known prompts failed before the run, the first with %s", text.Count(failed, "request"),
		words)
}

// begin sends a prompt for the first time. A server that refuses fields gets fewer of them from then on, the one that
// it names first.
func (c *Check) begin(ctx context.Context, prompt int) (q metrics.Request) {
	for fields := c.fields; ; {
		c.turns[prompt].Overrides = json.RawMessage(object(fields))
		if q = c.send(ctx, prompt, 0); q.OK() {
			c.fields, c.sampled = fields, !slices.Contains(fields, greedy)
			return q
		}
		i := refused(&q, fields)
		if i < 0 {
			return q
		}
		fields = slices.Delete(slices.Clone(fields), i, i+1)
	}
}

// refused is the index of the field that a server refuses: the one that it names, else the last; -1 for none.
func refused(q *metrics.Request, fields []protocol.Field) int {
	if !faulty(q) && q.Status != http.StatusInternalServerError {
		return -1
	}
	for i, f := range slices.Backward(fields) {
		if strings.Contains(q.Error, f.Name) {
			return i
		}
	}
	if faulty(q) {
		return len(fields) - 1
	}
	return -1
}

// faulty reports whether the server finds fault with the request, rather than with itself or the moment.
func faulty(q *metrics.Request) bool {
	return q.Status == http.StatusBadRequest || q.Status == http.StatusUnprocessableEntity
}

// send sends a prompt, always to the same of several servers and models. usual is what requests of the load take, 0
// for none.
func (c *Check) send(ctx context.Context, prompt int, usual time.Duration) metrics.Request {
	load, all := c.load, c.load.All()
	load.Servers = loadgen.Servers{}
	load.Add(all[prompt%len(all)])
	if n := len(c.models); n > 0 {
		load.Model = c.models[prompt/len(all)%n]
	}
	load.RequestTimeout = c.patience(usual)
	q := loadgen.Try(ctx, load, c.turns[prompt:prompt+1], 1)[0]
	if q.OK() {
		c.dearest, c.longest = max(c.dearest, q.InputTokens+q.OutputTokens), max(c.longest, q.E2EL())
	}
	return q
}

// patience is how long a known prompt may take, with what requests of the load take.
func (c *Check) patience(usual time.Duration) time.Duration {
	return min(c.load.RequestTimeout, max(leastPatience, slower*max(usual, c.longest)))
}

// Beside tells of the checks alone, and then sends prompts one at a time until ctx ends: the next one when all tokens
// of such checks, its own among them, are at most a hundredth of those that the load has had by then. None starts once
// over is closed. What is in flight at the end is cut, and not counted.
func (c *Check) Beside(ctx context.Context, over <-chan struct{}, start time.Time, view *live.View,
	tell func(metrics.AnswerCheck)) {
	for _, a := range c.alone {
		tell(a)
	}
	if len(c.steady) == 0 {
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
		prompt, flying := c.steady[n%len(c.steady)], view.InFlight()
		load := view.Recent()
		q := c.send(ctx, prompt, load.Histograms[metrics.E2EL].Quantile(0.5))
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
	a := metrics.AnswerCheck{At: max(0, q.Done), Prompt: prompt, Failure: q.Failure, Sampled: c.sampled,
		TPOT: metrics.Never, Before: metrics.Unsaid(), Now: metrics.Unsaid()}
	if !q.OK() {
		a.Error = q.Error
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
	if a.Of = max(len(was), len(is)); a.Of == 0 {
		a.By = "" // two empty ones tell nothing
	}
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
