package simulator

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// generation is the answer to one request while it comes out of the engine.
type generation struct {
	*Server
	seq          *sequence
	prompt       []int // nil unless the answer has it
	choice       int   // in the answer to the request
	repeat       bool  // another answer to the prompt of the choice before
	prose        prose
	last         int        // token so far
	loops        bool       // it comes again and again
	logprobDraws *rand.Rand // log probabilities; separate, so that a request for them changes nothing else
	model        string     // as the request names it
	room         int        // the largest number of tokens of the answer
	thoughts     int        // of them, those of reasoning at its beginning
	id           string
	created      int64 // Unix seconds
	arrival      *arrival
}

// token is one piece of an answer.
type token struct {
	index  int // 0-based
	id     int
	text   string
	finish *string // finish reason, nil if the answer goes on
}

// generate checks the request, decides the answer's length and queues it.
func (s *Server) generate(r *http.Request, a *arrival, kind string, prompt []int, maxTokens *int,
	p sampling) (*generation, *apiError) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if header := r.Header.Get("X-Vllm-Priority"); header != "" {
		var err error
		if p.Priority, err = strconv.Atoi(header); err != nil {
			return nil, badRequest("priority", "X-Vllm-Priority %q: expected an integer.", header)
		}
	}
	if p.Priority != 0 && !s.profile.Prioritized {
		return nil, badRequest("priority", "Got priority %d but Priority scheduling is not enabled.", p.Priority)
	}
	room, err := s.outputLimit(len(prompt), maxTokens)
	if err != nil {
		return nil, err
	}
	if p.MinTokens < 0 || p.MinTokens > room {
		return nil, badRequest("min_tokens", "min_tokens must be between 0 and max_tokens=%d, got %d.", room,
			p.MinTokens)
	}
	model, adapter := s.profile.Model, ""
	if p.Model != "" && p.Model != model {
		model, adapter = p.Model, p.Model
	}
	key := fingerprint(prompt, adapter, p.Seed)
	limit, reason, text := s.answer(key, room, p)
	if name := p.constraints.name(); name != "" && a.fault.Kind != FaultWrongAnswer {
		form, err := p.constraints.text(rand.New(rand.NewPCG(s.profile.Seed, mixText(key, name))))
		if err != nil {
			return nil, badRequest("structured_outputs", "%s", err.Error())
		}
		s.compile(name)
		text.fixed, p.thinks = encode(form), false
		if limit, reason = max(1, len(text.fixed)), "stop"; limit > room {
			limit, reason = room, "length"
		}
	}
	seq := newSequence(len(prompt), limit, reason, key)
	seq.pooled, seq.priority = p.pooled, p.Priority
	s.name(seq, a, adapter+"\n"+p.salt(), prompt, func() prose {
		_, _, again := s.answer(key, room, p)
		again.fixed = text.fixed
		return again
	})
	g := &generation{
		Server:       s,
		seq:          seq,
		prose:        text,
		logprobDraws: rand.New(rand.NewPCG(s.profile.Seed+1, key)),
		model:        model,
		room:         room,
		id:           kind + s.requestID(r, key),
		created:      time.Now().Unix(),
		arrival:      a,
	}
	if p.ReturnTokenIDs {
		g.prompt = prompt
	}
	if p.thinks {
		g.thoughts = limit / 3
	}
	a.PromptTokens = len(prompt)
	if err := s.engine.submit(g.seq); err != nil {
		return nil, unavailable(err)
	}
	return g, nil
}

// name names the blocks of seq, for the prefix cache and for the log. answer makes a copy of the answer for the engine.
func (s *Server) name(seq *sequence, a *arrival, salt string, prompt []int, answer func() prose) {
	logged := s.log.w != nil && s.log.bodies == PrefixBodies
	if !s.profile.PrefixCache && !logged {
		return
	}
	names := newBlockNames(s.profile.BlockSize, salt, prompt, answer())
	if logged {
		s.log.describe(a, names)
	}
	if s.profile.PrefixCache {
		seq.names = names
	}
}

// answer draws the number of tokens behind a prompt, the finish reason, and the text.
func (s *Server) answer(key uint64, room int, p sampling) (tokens int, reason string, text prose) {
	draws := rand.New(rand.NewPCG(s.profile.Seed, key))
	tokens, reason = p.length(room, s.profile.OutputMean, draws)
	return tokens, reason, prose{draws: draws}
}

// requestID is the client's own id if it sent one.
func (s *Server) requestID(r *http.Request, key uint64) string {
	return cmp.Or(r.Header.Get("X-Request-Id"), fmt.Sprintf("%016x%016x", key, s.ids.Add(1)))
}

// each calls f with the tokens of one step at a time, as they come, until the answer is whole or f fails. It aborts the
// sequence if f fails or ctx ends first. The error is f's, ctx's or an engineError.
func (g *generation) each(ctx context.Context, f func([]token) error) error {
	var tokens []token
	for index := 0; index < g.seq.limit; {
		select {
		case n, ok := <-g.seq.out:
			if !ok {
				return g.engine.given(g.seq)
			}
			tokens = tokens[:0]
			for range n {
				tokens = append(tokens, g.token(index))
				index++
			}
			if err := f(tokens); err != nil {
				g.engine.abort(g.seq)
				return err
			}
		case <-ctx.Done():
			g.engine.abort(g.seq)
			return ctx.Err()
		}
	}
	return nil
}

func (g *generation) token(index int) token {
	id := g.prose.next()
	if f := g.arrival.fault; f.Kind == FaultLoop && index >= max(1, f.After) {
		if g.loops = g.loops || int64(g.engine.load()) >= f.Arg; g.loops {
			id = g.last
		}
	}
	g.last = id
	t := token{index: index, id: id, text: piece(id)}
	if g.suffers(FaultSplitUTF8) {
		t.text = wide.Replace(t.text)
	}
	if index == g.seq.limit-1 {
		t.finish = &g.seq.reason
	}
	return t
}

// whole waits for the complete answer.
func (g *generation) whole(ctx context.Context) ([]token, *apiError) {
	var answer []token
	err := g.each(ctx, func(tokens []token) error {
		answer = append(answer, tokens...)
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	g.arrival.OutputTokens = len(answer)
	if !g.repeat {
		g.arrival.read(g.seq.cached)
	}
	if g.choice == 0 && !g.seq.pooled {
		g.say(answer)
	}
	return answer, nil
}

// split parts tokens into those of the reasoning and those of the answer. A step that ends the reasoning may have both.
func (g *generation) split(tokens []token) (thought, said []token) {
	n := min(max(g.thoughts-tokens[0].index, 0), len(tokens))
	return tokens[:n], tokens[n:]
}

// say adds the text of tokens to the log.
func (g *generation) say(tokens []token) {
	if g.log.w == nil {
		return
	}
	_, said := g.split(tokens)
	for _, t := range said {
		g.arrival.said.WriteString(t.text)
	}
}

func textOf(tokens []token) string {
	var text strings.Builder
	for _, t := range tokens {
		text.WriteString(t.text)
	}
	return text.String()
}

func idsOf(tokens []token) []int {
	ids := make([]int, len(tokens))
	for i, t := range tokens {
		ids[i] = t.id
	}
	return ids
}

// sampling has the fields that requests for completions and for chats have in common. Parameters of the distribution of
// tokens (temperature, penalties, stop strings and the like) are accepted and ignored, since the text is invented.
type sampling struct {
	modelName
	constraints
	Stream         bool           `json:"stream"`
	StreamOptions  *streamOptions `json:"stream_options"`
	N              *int           `json:"n"`
	UseBeamSearch  bool           `json:"use_beam_search"`
	MinTokens      int            `json:"min_tokens"`
	IgnoreEOS      bool           `json:"ignore_eos"`
	Seed           int64          `json:"seed"` // asks for another answer to the same prompt
	ReturnTokenIDs bool           `json:"return_token_ids"`
	Priority       int            `json:"priority"`   // lower is more urgent
	CacheSalt      *string        `json:"cache_salt"` // requests with another one share no cache with this
	Temperature    *float64       `json:"temperature"`

	pooled bool // the prompt is read and nothing is generated
	thinks bool // the first third of the answer is reasoning
	// natural is the number of tokens after which the answer ends by itself; 0 for a draw.
	natural int
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// streamOptions are those of the request, or the defaults.
func (p sampling) streamOptions() streamOptions { return *cmp.Or(p.StreamOptions, new(streamOptions)) }

// salt is "" for none.
func (p sampling) salt() string {
	if p.CacheSalt == nil {
		return ""
	}
	return *p.CacheSalt
}

// check refuses fields that are not simulated, and invalid values.
func (p sampling) check() *apiError {
	switch {
	case p.N != nil && *p.N != 1:
		return badRequest("n", "only n=1 is simulated, got %d.", *p.N)
	case p.UseBeamSearch:
		return badRequest("use_beam_search", "beam search is not simulated")
	case p.StreamOptions != nil && !p.Stream:
		return badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	case p.Temperature != nil && *p.Temperature < 0:
		return badRequest("temperature", "temperature must be non-negative, got %v.", *p.Temperature)
	case p.CacheSalt != nil && *p.CacheSalt == "":
		return badRequest("cache_salt", "Parameter 'cache_salt' must be a non-empty string if provided.")
	}
	return nil
}

// outputLimit returns the largest number of tokens behind a prompt of that length: the request's, or the rest of the
// context.
func (s *Server) outputLimit(prompt int, maxTokens *int) (int, *apiError) {
	left := s.profile.MaxModelLen - prompt
	switch {
	case left < 1:
		return 0, badRequest("input_tokens",
			"This model's maximum context length is %d tokens. However, your request has %d "+
				"input tokens. Please reduce the length of the input messages.", s.profile.MaxModelLen, prompt)
	case maxTokens == nil:
		return left, nil
	case *maxTokens < 1:
		return 0, badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *maxTokens)
	case *maxTokens > left:
		return 0, badRequest("max_tokens",
			"'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum "+
				"context length is %d tokens and your request has %d input tokens (%d > %d - %d).",
			*maxTokens, s.profile.MaxModelLen, prompt, *maxTokens, s.profile.MaxModelLen, prompt)
	}
	return *maxTokens, nil
}

// length draws the length of an answer and its finish reason. An answer that may end by itself does so after each token
// with the same probability, which gives the many short and few long ones of real traffic.
func (p sampling) length(room, mean int, draws *rand.Rand) (tokens int, reason string) {
	if p.IgnoreEOS {
		return room, "length"
	}
	natural := max(cmp.Or(p.natural, 1+int(draws.ExpFloat64()*(float64(mean)-0.5))), p.MinTokens)
	if natural > room {
		return room, "length"
	}
	return natural, "stop"
}

// fingerprint mixes the prompt, the adapter ("" for none) and the request's own seed into the key that its draws start
// from (FNV-1a over the ids).
func fingerprint(prompt []int, adapter string, seed int64) uint64 {
	h := mixText(mix(fnvOffset, uint64(seed)), adapter)
	for _, id := range prompt {
		h = mix(h, uint64(id))
	}
	return h
}
