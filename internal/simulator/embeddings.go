package simulator

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// embeddingRequest is a request for a vector for each of its prompts.
type embeddingRequest struct {
	named
	Input          embeddable `json:"input"`
	EncodingFormat string     `json:"encoding_format"` // "float", the default, or "base64"
	Dimensions     *int       `json:"dimensions"`
	// Truncate is the number of tokens of a prompt that are read: -1 for as many as the model takes, null to refuse longer prompts.
	Truncate  *int    `json:"truncate_prompt_tokens"`
	CacheSalt *string `json:"cache_salt"`
}

// embeddable is the "input" field: a text, a list of token ids, or a list of either.
type embeddable []prompt

func (e *embeddable) UnmarshalJSON(raw []byte) error {
	var one prompt
	if err := one.UnmarshalJSON(raw); err == nil {
		*e = embeddable{one}
		return nil
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return errors.New("input: must be a text, a list of token ids, or a list of either")
	}
	for _, item := range many {
		if item[0] != '"' && item[0] != '[' || one.UnmarshalJSON(item) != nil {
			return errors.New("input: must be a text, a list of token ids, or a list of either")
		}
		*e = append(*e, one)
	}
	return nil
}

type embedding struct {
	Index     int    `json:"index"`
	Object    string `json:"object"`
	Embedding any    `json:"embedding"` // numbers, or their bytes in base64
}

// embeddingSize is the length of a vector.
const embeddingSize = 256

// embeddings has the engine compute every prompt, as before a first token, and answers when all are computed.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request embeddingRequest
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	prompts, err := s.checkEmbedding(&request)
	if err != nil {
		return err
	}
	size, one := embeddingSize, 1
	if request.Dimensions != nil {
		size = *request.Dimensions
	}
	answer := answer{Object: "list", Created: time.Now().Unix(), Model: s.profile.Model}
	reads := make([]*generation, 0, len(prompts))
	defer func() { // the rest is of no use after an error
		for _, g := range reads {
			g.engine.abort(g.seq)
		}
	}()
	total := 0
	var data []embedding
	for i, ids := range prompts {
		g, err := s.generate(r, a, "embd", ids, &one, sampling{IgnoreEOS: true, CacheSalt: request.CacheSalt, pooled: true})
		if err != nil {
			return err
		}
		reads = append(reads, g)
		total += len(ids)
		answer.ID = g.id
		data = append(data, embedding{Index: i, Object: "embedding", Embedding: request.vector(ids, size)})
	}
	for len(reads) > 0 {
		if _, err := reads[0].whole(r.Context()); err != nil {
			return err
		}
		reads = reads[1:]
	}
	a.PromptTokens, a.OutputTokens = total, 0
	answer.Data, answer.Usage = data, usage{PromptTokens: total, TotalTokens: total}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// checkEmbedding returns the token ids of each prompt.
func (s *Server) checkEmbedding(request *embeddingRequest) ([][]int, *apiError) {
	most := s.profile.MaxModelLen - 1 // the engine needs room for a token
	switch t, d := request.Truncate, request.Dimensions; {
	case len(request.Input) == 0:
		return nil, badRequest("input", "input is missing")
	case request.EncodingFormat != "" && request.EncodingFormat != "float" && request.EncodingFormat != "base64":
		return nil, badRequest("encoding_format", "encoding_format must be float or base64")
	case d != nil && (*d < 1 || *d > embeddingSize):
		return nil, badRequest("dimensions", "dimensions must be between 1 and %d, got %d.", embeddingSize, *d)
	case t != nil && (*t < -1 || *t > most):
		return nil, badRequest("truncate_prompt_tokens", "truncate_prompt_tokens must be between -1 and %d, got %d.", most, *t)
	}
	all := make([][]int, 0, len(request.Input))
	for _, ids := range request.Input {
		if err := ids.check("input"); err != nil {
			return nil, err
		}
		switch t := request.Truncate; {
		case t != nil && *t >= 0:
			ids = ids[len(ids)-min(len(ids), max(1, *t)):]
		case t != nil:
			ids = ids[len(ids)-min(len(ids), most):]
		}
		all = append(all, ids)
	}
	return all, nil
}

// vector is drawn from the prompt and has length 1: the same prompt has the same vector.
func (q *embeddingRequest) vector(ids []int, size int) any {
	draws := rand.New(rand.NewPCG(0, fingerprint(ids, 0)))
	numbers, sum := make([]float32, size), 0.0
	for i := range numbers {
		v := draws.NormFloat64()
		numbers[i], sum = float32(v), sum+v*v
	}
	length := float32(math.Sqrt(sum))
	for i := range numbers {
		numbers[i] /= length
	}
	if q.EncodingFormat != "base64" {
		return numbers
	}
	var raw []byte
	for _, v := range numbers {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
