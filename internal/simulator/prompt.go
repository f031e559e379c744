package simulator

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// prompt is the "prompt" field of a completion as token ids: it may be a text, a list of ids, or a list of one of these.
type prompt []int

func (p *prompt) UnmarshalJSON(raw []byte) error {
	var text string
	var ids []int
	var prompts []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*p = encode(text)
		return nil
	case json.Unmarshal(raw, &ids) == nil:
		*p = ids
		return nil
	case json.Unmarshal(raw, &prompts) != nil || prompts[0][0] != '"' && prompts[0][0] != '[':
		return errors.New("prompt: must be a text or a list of token ids")
	case len(prompts) > 1:
		return errors.New("prompt: only one prompt per request is simulated")
	}
	return p.UnmarshalJSON(prompts[0])
}

// check is an error if there are no ids, or ones that are not in the vocabulary.
func (p prompt) check(param string) *apiError {
	if len(p) == 0 {
		return badRequest(param, "The decoder prompt cannot be empty")
	}
	if id, ok := inVocabulary(p); !ok {
		return badRequest(param, "Token id %d is out of vocabulary", id)
	}
	return nil
}

// message is one turn of a chat. Fields other than these two are ignored.
type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a message's text: a text, a list of parts, which are joined, or null. A part that is an image, a video or sound is not
// read: it costs mediaTokens, as an image does in a multimodal model.
type content string

const mediaTokens = 256

// mediaText replaces such a part: bytes outside of all longer pieces, so that each is a token.
var mediaText = strings.Repeat("\x1a", mediaTokens)

func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil { // null, too, leaves it empty
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return errors.New("content: must be a text or a list of parts")
	}
	var texts []string
	for _, part := range parts {
		switch {
		case part.Type == "text" && part.Text != nil:
			texts = append(texts, *part.Text)
		case part.Type == "image_url", part.Type == "video_url", part.Type == "input_audio":
			texts = append(texts, mediaText)
		default:
			return errors.New("content: expected parts of type text, image_url, video_url or input_audio, got " + strconv.Quote(part.Type))
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// chatTokens applies the chat template to a list of messages. An answer that becomes a message keeps its tokens, so that the next
// turn finds it in the prefix cache. A list without messages, or a message without a role, is an error.
func chatTokens(messages []message, addGenerationPrompt bool) ([]int, *apiError) {
	if len(messages) == 0 {
		return nil, badRequest("messages", "messages must not be empty")
	}
	var text strings.Builder
	for i, m := range messages {
		if m.Role == "" {
			return nil, badRequest("messages", "message %d has no role", i)
		}
		text.WriteString(m.Role + ":")
		if !strings.HasPrefix(string(m.Content), " ") {
			text.WriteByte(' ')
		}
		text.WriteString(string(m.Content) + "\n")
	}
	if addGenerationPrompt {
		text.WriteString("assistant:")
	}
	return encode(text.String()), nil
}

type tokenizeRequest struct {
	named
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
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	var ids []int
	var err *apiError
	if request.Prompt != nil {
		ids = encode(*request.Prompt)
	} else if ids, err = chatTokens(request.Messages, request.AddGenerationPrompt); err != nil {
		return err
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
	named
	Tokens []int `json:"tokens"`
}

func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) *apiError {
	var request struct {
		named
		Tokens []int `json:"tokens"`
	}
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	if request.Tokens == nil {
		return badRequest("tokens", "tokens is missing")
	}
	if id, ok := inVocabulary(request.Tokens); !ok {
		return badRequest("tokens", "Token id %d is out of vocabulary", id)
	}
	writeJSON(w, http.StatusOK, map[string]string{"prompt": decode(request.Tokens)})
	return nil
}
