package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// prompt is a prompt as token ids: a text or a list of ids.
type prompt []int

func (p *prompt) UnmarshalJSON(raw []byte) error {
	if plain, end := readIDs(raw, 0); end == len(raw) && plain != nil {
		*p = plain
		return nil
	}
	var text string
	var ids []int
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*p = encode(text)
		return nil
	case json.Unmarshal(raw, &ids) == nil:
		*p = ids
		return nil
	}
	return errors.New("prompt: must be a text or a list of token ids")
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

// prompts is the "prompt" field of a completion, each of which is answered by itself.
type prompts []prompt

func (p *prompts) UnmarshalJSON(raw []byte) (err error) {
	if *p, err = promptsOf(raw); err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	return nil
}

// promptsOf reads a text, a list of token ids, or a list of either.
func promptsOf(raw []byte) (all []prompt, err error) {
	var one prompt
	if one.UnmarshalJSON(raw) == nil {
		return []prompt{one}, nil
	}
	wrong := errors.New("must be a text, a list of token ids, or a list of either")
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return nil, wrong
	}
	for _, item := range many {
		if item[0] != '"' && item[0] != '[' || one.UnmarshalJSON(item) != nil {
			return nil, wrong
		}
		all = append(all, one)
	}
	return all, nil
}

// message is one turn of a chat. Fields other than these two are ignored.
type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a message's text: a text, a list of parts, which are joined, or null. A part that is an image, a video or
// sound costs mediaTokens, as an image does in a multimodal model.
type content string

const mediaTokens = 256

// mediaIDs are the tokens of an item that is not text. They are drawn from its bytes, so that equal items share a
// prefix and others do not, and come back from their text unchanged.
func mediaIDs(item string, n int) prompt {
	draws := rand.New(rand.NewPCG(1, mixText(fnvOffset, item)))
	ids := make(prompt, n)
	for i := range ids {
		ids[i] = firstRune + draws.IntN(vocabulary-firstRune)
	}
	return ids
}

func (c *content) UnmarshalJSON(raw []byte) error {
	return c.parse(raw, []string{"text"}, []string{"image_url", "video_url", "input_audio"})
}

// inputContent is the content of a message of the Responses API, blockContent that of the Messages API.
type inputContent content

func (c *inputContent) UnmarshalJSON(raw []byte) error {
	return (*content)(c).parse(raw, []string{"input_text", "output_text"}, []string{"input_image", "input_file"})
}

type blockContent content

func (c *blockContent) UnmarshalJSON(raw []byte) error {
	return (*content)(c).parse(raw, []string{"text"}, []string{"image", "document"})
}

// parse takes the types of parts with a text, and of those that are not read.
func (c *content) parse(raw []byte, text, media []string) error {
	var plain string
	if json.Unmarshal(raw, &plain) == nil { // null, too, leaves it empty
		*c = content(plain)
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return errors.New("content: must be a text or a list of parts")
	}
	var texts []string
	for _, raw := range parts {
		var part struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		}
		if json.Unmarshal(raw, &part) != nil {
			return errors.New("content: must be a text or a list of parts")
		}
		switch {
		case slices.Contains(text, part.Type) && part.Text != nil:
			texts = append(texts, *part.Text)
		case slices.Contains(media, part.Type):
			texts = append(texts, decode(mediaIDs(string(raw), mediaTokens)))
		default:
			return fmt.Errorf("content: expected parts of type %s, got %q",
				strings.Join(slices.Concat(text, media), ", "), part.Type)
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// chatTokens applies the chat template to a list of messages. An answer that becomes a message keeps its tokens, so
// that the next turn finds it in the prefix cache, also where the client has cut the blank at its beginning. A list
// without messages, or a message without a role, is an error.
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
		if !strings.HasPrefix(string(m.Content), " ") && !structured(m) {
			text.WriteByte(' ')
		}
		text.WriteString(string(m.Content) + "\n")
	}
	if addGenerationPrompt {
		text.WriteString("assistant:")
	}
	return encode(text.String()), nil
}

// structured reports whether a message is an answer with a constraint, such as JSON, which has no blank at its
// beginning.
func structured(m message) bool {
	return m.Role == "assistant" && m.Content != "" && letterDigits[m.Content[0]] < 0
}

type tokenizeRequest struct {
	modelName
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

func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) *apiError {
	var request struct {
		modelName
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

// prose invents an answer, token by token: words of one or two pieces that can be pronounced, and a full stop now and
// then. The words have no meaning.
type prose struct {
	draws  *rand.Rand
	inWord bool
	fixed  []int // what comes first
}

// next returns the next token's id. Its piece is plain ASCII, and encoding the whole text gives the same ids again.
func (p *prose) next() int {
	if len(p.fixed) > 0 {
		id := p.fixed[0]
		p.fixed = p.fixed[1:]
		return id
	}
	if p.inWord && p.draws.IntN(5) < 2 {
		p.inWord = false
		return firstTriple + p.syllables("vcv")
	}
	if p.inWord && p.draws.IntN(10) == 0 {
		p.inWord = false
		return '.'
	}
	p.inWord = true
	return firstBlankTriple + p.syllables("cvc")
}

// syllables draws consonants and vowels by the pattern and returns the triple's index.
func (p *prose) syllables(pattern string) int {
	const consonants, vowels = "bdfgklmnprstvw", "aeiou"
	var text [3]byte
	for i := range text {
		from := consonants
		if pattern[i] == 'v' {
			from = vowels
		}
		text[i] = from[p.draws.IntN(len(from))]
	}
	index, _ := letterIndex(string(text[:]), 3) // always found: none of these begin with z
	return index
}

// wide replaces vowels, one character for one, so that a text has characters of two, three and four bytes.
var wide = strings.NewReplacer("a", "ä", "e", "€", "i", "語", "o", "😀", "u", "ß")
