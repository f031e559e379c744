package simulator

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// embeddingRequest is a request for a vector for each of its prompts.
type embeddingRequest struct {
	pooledRequest
	Input          embeddingInput `json:"input"`
	Messages       conversations  `json:"messages"`        // in place of input
	EncodingFormat string         `json:"encoding_format"` // "float", the default, "base64", "bytes" or "bytes_only"
	Dimensions     *int           `json:"dimensions"`
	// Infinity's: what the URLs of the input lead to, "text" if the input is text
	Modality string `json:"modality"`
	// of /pooling: "embed", the default, or "classify", which gives one number
	Task string          `json:"task"`
	Data json.RawMessage `json:"data"` // of /pooling: input for a plug-in
}

// embeddingInput is the "input" field: a text, a list of token ids, a list of either, or a conversation.
type embeddingInput []prompt

func (e *embeddingInput) UnmarshalJSON(raw []byte) error {
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 && many[0][0] == '{' {
		return (*conversations)(e).UnmarshalJSON(raw)
	}
	all, err := promptsOf(raw)
	if *e = all; err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

// conversations is the "messages" field: a conversation, or a list of them, each as one prompt.
type conversations []prompt

func (c *conversations) UnmarshalJSON(raw []byte) error {
	var one []message
	var many [][]message
	err := json.Unmarshal(raw, &one)
	if err == nil {
		many = [][]message{one}
	} else if json.Unmarshal(raw, &many) != nil {
		return err
	}
	for _, messages := range many {
		ids, problem := chatTokens(messages, false)
		if problem != nil {
			return errors.New(problem.message)
		}
		*c = append(*c, ids)
	}
	return nil
}

// embeddingSize is the length of a vector.
const embeddingSize = 256

// embeddingForm is the form of an answer with vectors.
type embeddingForm struct {
	kind  string // the beginning of its id
	media bool   // the input may be URLs of media
	item  func(index int, vector any) any
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	return s.embed(w, r, a, embeddingForm{kind: "embd-", item: embeddingItem})
}

// infinityEmbeddings is the endpoint of Infinity, which reads URLs of media beside texts.
func (s *Server) infinityEmbeddings(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	return s.embed(w, r, a, embeddingForm{kind: "infinity-", media: true, item: embeddingItem})
}

func (s *Server) pooling(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	return s.embed(w, r, a, embeddingForm{kind: "pooling-", item: func(index int, vector any) any {
		return struct {
			Index  int    `json:"index"`
			Object string `json:"object"`
			Data   any    `json:"data"`
		}{index, "pooling", vector}
	}})
}

// embeddingItem describes a vector: numbers, or their bytes in base64.
func embeddingItem(index int, vector any) any {
	return struct {
		Index     int    `json:"index"`
		Object    string `json:"object"`
		Embedding any    `json:"embedding"`
	}{index, "embedding", vector}
}

// embed has the engine read the prompts and answers with a vector for each.
func (s *Server) embed(w http.ResponseWriter, r *http.Request, a *arrival, form embeddingForm) *apiError {
	var request embeddingRequest
	if err := s.readPooled(w, r, &request); err != nil {
		return err
	}
	prompts, err := request.prompts(form.media)
	if err != nil {
		return err
	}
	done, err := s.pool(r, a, form.kind, request.pooledRequest, prompts)
	if err != nil {
		return err
	}
	size := embeddingSize
	if request.Dimensions != nil {
		size = *request.Dimensions
	}
	if request.Task == "classify" {
		size = 1
	}
	var vectors [][]float32
	for _, ids := range done.prompts {
		vectors = append(vectors, vector(ids, size))
	}
	if format := request.EncodingFormat; format == "bytes" || format == "bytes_only" {
		done.writeBytes(w, vectors, format == "bytes")
		return nil
	}
	var data []any
	for i, v := range vectors {
		if request.EncodingFormat == "base64" {
			data = append(data, form.item(i, base64.StdEncoding.EncodeToString(bytesOf(v))))
		} else {
			data = append(data, form.item(i, v))
		}
	}
	answer := done.answer()
	answer.Data = data
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// prompts returns the token ids of each prompt, before truncation.
func (request *embeddingRequest) prompts(media bool) ([]prompt, *apiError) {
	switch d := request.Dimensions; {
	case request.Data != nil:
		return nil, badRequest("task", "No IOProcessor plugin installed.")
	case !slices.Contains([]string{"", "embed", "classify"}, request.Task):
		return nil, badRequest("task", "Unsupported task: %q Supported tasks: embed, classify", request.Task)
	case !slices.Contains([]string{"", "float", "base64", "bytes", "bytes_only"}, request.EncodingFormat):
		return nil, badRequest("encoding_format", "encoding_format must be float, base64, bytes or bytes_only")
	case d != nil && (*d < 1 || *d > embeddingSize):
		return nil, badRequest("dimensions", "dimensions must be between 1 and %d, got %d.", embeddingSize, *d)
	case len(request.Messages) > 0:
		return request.Messages, nil
	case len(request.Input) == 0:
		return nil, badRequest("input", "input is missing")
	case media && request.Modality != "" && request.Modality != "text":
		return request.media()
	}
	return request.Input, nil
}

// media returns the tokens of the input, each a URL.
func (request *embeddingRequest) media() (items []prompt, problem *apiError) {
	if !slices.Contains([]string{"image", "audio", "video"}, request.Modality) {
		return nil, badRequest("modality", "modality must be text, image, audio or video, got %q", request.Modality)
	}
	for _, ids := range request.Input {
		if err := ids.check("input"); err != nil {
			return nil, err
		}
		url := decode(ids)
		if scheme, _, ok := strings.Cut(url, ":"); !ok || !slices.Contains([]string{"data", "http", "https"}, scheme) {
			return nil, badRequest("input", "the input of modality %s must be URLs", request.Modality)
		}
		items = append(items, mediaIDs(url, mediaTokens))
	}
	return items, nil
}
