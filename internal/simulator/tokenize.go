package simulator

import "net/http"

type tokenizeRequest struct {
	Model               string    `json:"model"`
	Prompt              *string   `json:"prompt"`
	Messages            []message `json:"messages"`
	AddGenerationPrompt bool      `json:"add_generation_prompt"` // default true
	ReturnTokenStrs     bool      `json:"return_token_strs"`
	// add_special_tokens is accepted and changes nothing: the vocabulary has none.
}

type tokenizeAnswer struct {
	Count       int      `json:"count"`
	MaxModelLen int      `json:"max_model_len"`
	Tokens      []int    `json:"tokens"`
	TokenStrs   []string `json:"token_strs"`
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) *apiError {
	request := tokenizeRequest{AddGenerationPrompt: true}
	if err := readJSON(w, r, &request); err != nil {
		return err
	}
	if err := s.knows(request.Model); err != nil {
		return err
	}
	var ids []int
	switch {
	case request.Prompt != nil:
		ids = encode(*request.Prompt)
	default:
		var err *apiError
		if ids, err = chatTokens(request.Messages, request.AddGenerationPrompt); err != nil {
			return err
		}
	}
	answer := tokenizeAnswer{Count: len(ids), MaxModelLen: s.profile.MaxModelLen, Tokens: ids}
	if request.ReturnTokenStrs {
		answer.TokenStrs = make([]string, len(ids))
		for i, id := range ids {
			answer.TokenStrs[i] = piece(id)
		}
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

type detokenizeRequest struct {
	Model  string `json:"model"`
	Tokens []int  `json:"tokens"`
}

type detokenizeAnswer struct {
	Prompt string `json:"prompt"`
}

func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) *apiError {
	var request detokenizeRequest
	if err := readJSON(w, r, &request); err != nil {
		return err
	}
	if err := s.knows(request.Model); err != nil {
		return err
	}
	if request.Tokens == nil {
		return badRequest("tokens", "tokens is missing")
	}
	if id, ok := inVocabulary(request.Tokens); !ok {
		return badRequest("tokens", "Token id %d is out of vocabulary", id)
	}
	writeJSON(w, http.StatusOK, detokenizeAnswer{Prompt: decode(request.Tokens)})
	return nil
}
