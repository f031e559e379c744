package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
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

// content is a message's text: a text, a list of parts, which are joined, or null. A part that is an image, a video or sound costs
// mediaTokens, as an image does in a multimodal model.
type content string

const mediaTokens = 256

// mediaIDs are the tokens of an item that is not text. They are drawn from its bytes, so that equal items share a prefix and others do
// not, and come back from their text unchanged.
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
			return fmt.Errorf("content: expected parts of type %s, got %q", strings.Join(slices.Concat(text, media), ", "), part.Type)
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

// vocabulary is the number of token ids: 0 to vocabulary-1. It is larger than that of any model, so that prompts made of a model's
// ids are always valid.
const vocabulary = firstRune + lastRune - leastRune + 1

// The vocabulary follows a rule, without a table or file. Letters are the 25 lower-case ones without q.
//
//	id from   piece   how many
//	      0   byte         256
//	    256   " x"          25
//	    281   "xy"         625
//	    906   "xyz"      15547   of 25³: those that begin with the end of the alphabet below are left out
//	  16453   " xyz"     15547   the same, with a blank
//	  32000   "𠀀"       983040   characters from U+20000 on, which are rare in texts
//
// Encoding takes the longest piece from the left. From 906 on all pieces have three letters or are such a character, so any
// sequence of those ids comes back from its text unchanged, and random prompts keep their length. English takes a token for about
// three letters.
const (
	letters = "etaoinshrdlucmfwypvbgkjxz" // by frequency: the pieces left out are rare

	firstBlankLetter = 256
	firstPair        = firstBlankLetter + len(letters)
	firstTriple      = firstPair + len(letters)*len(letters)
	triples          = (firstRune - firstTriple) / 2
	firstBlankTriple = firstTriple + triples
	firstRune        = 32000
	leastRune        = 0x20000
	lastRune         = 0x10ffff
)

// encode returns the token ids of text. There are no special tokens. decode gives the text back, if it is valid UTF-8.
func encode(text string) []int {
	ids := make([]int, 0, len(text)/3+1)
	for len(text) > 0 {
		id, n := longestPiece(text)
		ids = append(ids, id)
		text = text[n:]
	}
	return ids
}

// longestPiece returns the id and the length in bytes of the longest piece that text begins with.
func longestPiece(text string) (id, length int) {
	if text[0] == ' ' {
		if i, ok := letterIndex(text[1:], 3); ok {
			return firstBlankTriple + i, 4
		}
		if i, ok := letterIndex(text[1:], 1); ok {
			return firstBlankLetter + i, 2
		}
		return ' ', 1
	}
	if i, ok := letterIndex(text, 3); ok {
		return firstTriple + i, 3
	}
	if i, ok := letterIndex(text, 2); ok {
		return firstPair + i, 2
	}
	if r, n := utf8.DecodeRuneInString(text); r >= leastRune {
		return firstRune + int(r) - leastRune, n
	}
	return int(text[0]), 1
}

// letterIndex reads the first n bytes of text as a number with letters for digits. It fails if they are not all letters, or
// spell a triple that the vocabulary lacks.
func letterIndex(text string, n int) (int, bool) {
	if len(text) < n {
		return 0, false
	}
	index := 0
	for i := range n {
		digit := strings.IndexByte(letters, text[i])
		if digit < 0 {
			return 0, false
		}
		index = index*len(letters) + digit
	}
	return index, n < 3 || index < triples
}

// piece returns the bytes of one id, which must be below vocabulary.
func piece(id int) string {
	switch {
	case id < firstBlankLetter:
		return string([]byte{byte(id)})
	case id < firstPair:
		return " " + spell(id-firstBlankLetter, 1)
	case id < firstTriple:
		return spell(id-firstPair, 2)
	case id < firstBlankTriple:
		return spell(id-firstTriple, 3)
	case id < firstRune:
		return " " + spell(id-firstBlankTriple, 3)
	default:
		return string(rune(leastRune + id - firstRune))
	}
}

// spell is the inverse of letterIndex.
func spell(index, n int) string {
	var text [3]byte
	for i := n - 1; i >= 0; i-- {
		text[i] = letters[index%len(letters)]
		index /= len(letters)
	}
	return string(text[:n])
}

// decode returns the text of ids, which must be in the vocabulary. Bytes that are no UTF-8 become U+FFFD.
func decode(ids []int) string {
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(piece(id))
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD")
}

// inVocabulary returns the first id that is not, and false; or true.
func inVocabulary(ids []int) (int, bool) {
	for _, id := range ids {
		if id < 0 || id >= vocabulary {
			return id, false
		}
	}
	return 0, true
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

// wide replaces vowels, so that a text has characters of two, three and four bytes.
var wide = strings.NewReplacer("a", "ä", "e", "€", "i", "語", "o", "😀", "u", "ß")

// widened returns text with its vowels replaced, one character for one.
func widened(text string) string { return wide.Replace(text) }
