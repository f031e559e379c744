package simulator

import "slices"

// maxLogprobs is the largest number of alternatives per token that may be asked for.
const maxLogprobs = 20

// candidate is a token for one position, with an invented log probability.
type candidate struct {
	text    string
	logprob float64
}

// candidates returns the chosen token and up to n-1 others, most probable first.
func (g *generation) candidates(t token, n int) []candidate {
	logprob := -g.logprobDraws.ExpFloat64() / 4
	odds := []candidate{{t.text, logprob}}
	others := prose{draws: g.logprobDraws}
	for len(odds) < n {
		logprob -= 1 + g.logprobDraws.Float64()
		text := piece(others.next())
		if !slices.ContainsFunc(odds, func(o candidate) bool { return o.text == text }) {
			odds = append(odds, candidate{text, logprob})
		}
	}
	return odds
}

// completionLogprobs is the logprobs object of /v1/completions, one element per token.
type completionLogprobs struct {
	TextOffset    []int                `json:"text_offset"`
	TokenLogprobs []float64            `json:"token_logprobs"`
	Tokens        []string             `json:"tokens"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
}

// completionLogprobs describes tokens that follow offset bytes of text.
func (g *generation) completionLogprobs(tokens []token, n, offset int) *completionLogprobs {
	var l completionLogprobs
	for _, t := range tokens {
		odds := g.candidates(t, n)
		top := make(map[string]float64, len(odds))
		for _, o := range odds {
			top[o.text] = o.logprob
		}
		l.TextOffset = append(l.TextOffset, offset)
		l.TokenLogprobs = append(l.TokenLogprobs, odds[0].logprob)
		l.Tokens = append(l.Tokens, t.text)
		l.TopLogprobs = append(l.TopLogprobs, top)
		offset += len(t.text)
	}
	return &l
}

// chatLogprobs is the logprobs object of /v1/chat/completions.
type chatLogprobs struct {
	Content []chatLogprob `json:"content"`
}

type chatLogprob struct {
	chatCandidate
	TopLogprobs []chatCandidate `json:"top_logprobs"`
}

type chatCandidate struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

func (g *generation) chatLogprobs(tokens []token, n int) *chatLogprobs {
	var l chatLogprobs
	for _, t := range tokens {
		top := []chatCandidate{}
		for _, o := range g.candidates(t, n) {
			candidate := chatCandidate{Token: o.text, Logprob: o.logprob}
			for _, b := range []byte(o.text) {
				candidate.Bytes = append(candidate.Bytes, int(b))
			}
			top = append(top, candidate)
		}
		l.Content = append(l.Content, chatLogprob{chatCandidate: top[0], TopLogprobs: top[:min(n, len(top))]})
	}
	return &l
}
