package simulator

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// pooledRequest has the fields that all requests have in common that only read prompts.
type pooledRequest struct {
	modelName
	// Truncate is the number of tokens of a prompt that are read: -1 for as many as the model takes, null to refuse
	// longer prompts.
	Truncate  *int    `json:"truncate_prompt_tokens"`
	CacheSalt *string `json:"cache_salt"`
}

// poolingInput is what the engine has read for such a request.
type poolingInput struct {
	id, model string
	prompts   []prompt // as they were read
	tokens    int      // in all of them
}

// readPooled is read for such a request: as in vLLM, the error of an unknown model names no parameter.
func (s *Server) readPooled(w http.ResponseWriter, r *http.Request, v interface{ model() string }) *apiError {
	err := s.read(w, r, v)
	if err != nil {
		err.param = ""
	}
	return err
}

// pool has the engine compute every prompt, as before a first token, and returns when all are computed.
func (s *Server) pool(r *http.Request, a *arrival, kind string, request pooledRequest,
	prompts []prompt) (*poolingInput, *apiError) {
	prompts, err := s.truncate(request.Truncate, prompts)
	if err != nil {
		return nil, err
	}
	done := &poolingInput{prompts: prompts}
	reads := make([]*generation, 0, len(prompts))
	defer func() { // the rest is of no use after an error
		for _, g := range reads {
			g.engine.abort(g.seq)
		}
	}()
	for _, ids := range prompts {
		p := sampling{modelName: request.modelName, IgnoreEOS: true, CacheSalt: request.CacheSalt, pooled: true}
		g, err := s.generate(r, a, kind, ids, new(1), p)
		if err != nil {
			return nil, err
		}
		reads = append(reads, g)
		done.id, done.model = g.id, g.model
		done.tokens += len(ids)
	}
	for len(reads) > 0 {
		if _, err := reads[0].whole(r.Context()); err != nil {
			return nil, err
		}
		reads = reads[1:]
	}
	a.PromptTokens, a.OutputTokens = done.tokens, 0
	if len(prompts) > 1 {
		a.PromptBlocks = nil
	}
	return done, nil
}

// truncate cuts prompts to the tokens that are read, the last ones.
func (s *Server) truncate(limit *int, prompts []prompt) ([]prompt, *apiError) {
	most := s.profile.MaxModelLen - 1 // the engine needs room for a token
	if limit != nil && (*limit < -1 || *limit > most) {
		return nil, badRequest("truncate_prompt_tokens", "truncate_prompt_tokens must be between -1 and %d, got %d.",
			most, *limit)
	}
	cut := slices.Clone(prompts)
	for i, ids := range prompts {
		if err := ids.check("input"); err != nil {
			return nil, err
		}
		switch {
		case limit == nil:
		case *limit >= 0:
			cut[i] = ids[len(ids)-min(len(ids), max(1, *limit)):]
		default:
			cut[i] = ids[len(ids)-min(len(ids), most):]
		}
	}
	return cut, nil
}

// answer is an answer without its data.
func (p *poolingInput) answer() answer {
	return answer{
		ID: p.id, Object: "list", Created: time.Now().Unix(), Model: p.model,
		Usage: usage{PromptTokens: p.tokens, TotalTokens: p.tokens, PromptDetails: absent, CompletionDetails: absent},
	}
}

// writeBytes answers with the bytes of the vectors; described, a header has the rest of the answer.
func (p *poolingInput) writeBytes(w http.ResponseWriter, vectors [][]float32, described bool) {
	var body []byte
	var items []map[string]any
	for i, v := range vectors {
		start := len(body)
		body = append(body, bytesOf(v)...)
		items = append(items, map[string]any{
			"index": i, "embed_dtype": "float32", "endianness": "native", "start": start, "end": len(body),
			"shape": []int{len(v)},
		})
	}
	if described {
		text, err := json.Marshal(map[string]any{
			"id": p.id, "created": time.Now().Unix(), "model": p.model, "data": items,
			"usage": map[string]int{"prompt_tokens": p.tokens, "total_tokens": p.tokens},
		})
		if err != nil {
			panic(err) // texts and numbers only: a bug
		}
		w.Header().Set("Metadata", string(text))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may be gone
}

// vector is drawn from the prompt and has length 1: the same prompt has the same vector.
func vector(ids []int, size int) []float32 {
	draws := rand.New(rand.NewPCG(0, fingerprint(ids, "", 0)))
	numbers, sum := make([]float32, size), 0.0
	for i := range numbers {
		v := draws.NormFloat64()
		numbers[i], sum = float32(v), sum+v*v
	}
	length := float32(math.Sqrt(sum))
	for i := range numbers {
		numbers[i] /= length
	}
	return numbers
}

func bytesOf(vector []float32) []byte {
	var raw []byte
	for _, v := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}
