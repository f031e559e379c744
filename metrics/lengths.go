package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AnswerLengths compare answers with the lengths that their requests asked for.
type AnswerLengths struct {
	// Judged are the successes that asked for a length and whose tokens the server counted. The counts of a tokenizer
	// or of chunks are not exact enough.
	Judged          int
	Shorter, Longer LengthGap
	// Prompts are the successes whose prompts both data set and server counted; of Cut ones the server counted less
	// than 95 % of the tokens.
	Prompts, Cut int
}

// LengthGap sums up the answers of another length than asked for.
type LengthGap struct {
	Count int
	// Tokens and Asked are the medians of the answers' lengths and of those asked for, in tokens; 0 where there are
	// none.
	Tokens, Asked float64
	// Stopped and Limited are those with a finish reason of "stop" and of "length", of which Filled left no room in the
	// model's context.
	Stopped, Limited, Filled int
	// AllAsked is the length that all of them asked for, 0 where they differ.
	AllAsked int
}

// notableLengths is the share of answers from which on their lengths affect TPOT and tokens/s.
const notableLengths = 0.05

func notable(count, judged int) bool {
	return count > 0 && float64(count) >= notableLengths*float64(judged)
}

// Describe returns the remarks on the lengths, a sentence without its full stop for each direction that is notable.
func (l *AnswerLengths) Describe(p *Plan) (words []string) {
	if notable(l.Shorter.Count, l.Judged) {
		words = append(words, l.Shorter.shorter(p, l.Judged))
	}
	if notable(l.Longer.Count, l.Judged) {
		words = append(words, l.Longer.longer(p, l.Judged))
	}
	return words
}

func (g *LengthGap) shorter(p *Plan, judged int) string {
	text := fmt.Sprintf("%d of %d answers are shorter than requested (median %s of %s tokens): "+
		"TPOT and tokens/s are those of shorter answers", g.Count, judged, tokens(g.Tokens), tokens(g.Asked))
	switch {
	case 2*g.Stopped > g.Count && !p.IgnoreEOS:
		text += "; most have finish_reason stop; --ignore-eos requests the full length, if the server supports it"
	case 2*g.Stopped > g.Count:
		text += "; most have finish_reason stop in spite of ignore_eos"
	case 2*g.Filled > g.Count:
		text += fmt.Sprintf("; most end where prompt and answer fill the model's context of %d tokens", p.Context)
	case 2*g.Limited > g.Count && p.Context > 0:
		text += fmt.Sprintf("; most have finish_reason length: the server has a limit of its own, "+
			"below the model's context of %d tokens", p.Context)
	case 2*g.Limited > g.Count:
		text += "; most have finish_reason length: the server has a limit of its own"
	}
	return text
}

func (g *LengthGap) longer(p *Plan, judged int) string {
	field := "max_tokens"
	if p.Backend == "openai-chat" {
		field = "max_completion_tokens"
	}
	text := fmt.Sprintf("%d of %d answers are longer than requested (median %s tokens, requested %s): "+
		"the server seems to ignore %s", g.Count, judged, tokens(g.Tokens), tokens(g.Asked), field)
	named := func(arg string) bool { return strings.Contains(arg, "max_tokens") }
	if field != "max_tokens" && g.AllAsked > 0 && !slices.ContainsFunc(p.Command, named) {
		text += fmt.Sprintf("; --extra-body.max_tokens %d sends the older name as well", g.AllAsked)
	}
	return text
}

func tokens(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// LengthAccumulator accumulates AnswerLengths.
type LengthAccumulator struct {
	judged          int
	prompts, cut    int
	shorter, longer gapAccumulator
}

type gapAccumulator struct {
	LengthGap
	tokens, asked Sample
	logged        bool
}

// Add takes a successful request to a model with a context of so many tokens, 0 if that is not known. A transcription
// is as long as the speech, whatever length was asked for, and the length asked for a list of prompts is that of one
// answer.
func (t *LengthAccumulator) Add(q *Request, context int) {
	if q.InputSource == TokensFromUsage && q.DatasetTokens > 0 {
		t.prompts++
		t.cut += one(float64(q.InputTokens) < (1-notableLengths)*float64(q.DatasetTokens))
	}
	if q.MaxTokens <= 0 || q.Audio > 0 || q.Inputs > 1 || q.OutputSource != TokensFromUsage &&
		q.OutputSource != TokensFromIDs {
		return
	}
	t.judged++
	switch {
	case q.OutputTokens < q.MaxTokens:
		t.shorter.add(q, context)
	case q.OutputTokens > q.MaxTokens:
		t.longer.add(q, context)
	}
}

func (g *gapAccumulator) add(q *Request, context int) {
	g.Count++
	g.tokens.Add(float64(q.OutputTokens))
	g.asked.Add(float64(q.MaxTokens))
	switch q.Finish {
	case "stop":
		g.Stopped++
	case "length":
		g.Limited++
		if context > 0 && q.InputTokens+q.OutputTokens >= context-1 {
			g.Filled++
		}
	}
}

// Lengths are those of the answers so far.
func (t *LengthAccumulator) Lengths() AnswerLengths {
	return AnswerLengths{Judged: t.judged, Shorter: t.shorter.gap(), Longer: t.longer.gap(), Prompts: t.prompts,
		Cut: t.cut}
}

func (g *gapAccumulator) gap() LengthGap {
	// Whole numbers have medians of halves; statistics are in thousandths of a token.
	median := func(s *Sample) float64 { return math.Round(2*s.Statistic(nil).Median/1000) / 2 }
	gap := g.LengthGap
	gap.Tokens, gap.Asked = median(&g.tokens), median(&g.asked)
	if len(g.asked.sorted().values) == 1 {
		gap.AllAsked = int(gap.Asked)
	}
	return gap
}

// lengthsEvery is the number of answers between two checks during a run.
const lengthsEvery = 20

// Events are new log entries about the lengths, during a run only about more than one answer.
func (t *LengthAccumulator) Events(p *Plan, at time.Duration, over bool) (events []LogEntry) {
	news := func(g *gapAccumulator, words func(*LengthGap, *Plan, int) string) {
		if g.logged || !notable(g.Count, t.judged) || !over && (g.Count < 2 || t.judged%lengthsEvery != 0) {
			return
		}
		g.logged = true
		gap := g.gap()
		events = append(events, LogEntry{At: at, Level: Warn, Text: words(&gap, p, t.judged)})
	}
	news(&t.shorter, (*LengthGap).shorter)
	news(&t.longer, (*LengthGap).longer)
	return events
}
