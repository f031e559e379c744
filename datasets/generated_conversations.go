package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/tokenizer"
)

// generation describes synthetic conversations: the configuration file of vLLM's benchmark of multi-turn chats.
type generation struct {
	FileType      string   `json:"filetype"`
	Conversations int      `json:"num_conversations"`
	TextFiles     []string `json:"text_files"`
	Input         struct {
		Turns        *spread `json:"num_turns"` // messages of both roles
		CommonPrefix *spread `json:"common_prefix_num_tokens"`
		Prefix       *spread `json:"prefix_num_tokens"`
		Tokens       *spread `json:"num_tokens"`
	} `json:"prompt_input"`
	Output struct {
		Tokens *spread `json:"num_tokens"`
	} `json:"prompt_output"`
}

// spread is a distribution of a configuration file.
type spread struct {
	Distribution         string
	Value, Min, Max      float64
	Alpha                float64
	Average, Mean, Sigma float64
	MedianRatio          *float64 `json:"median_ratio"`
}

const (
	generatedType = "generate_conversations"
	// mostConfiguration bounds the file, mostGenerated the conversations.
	mostConfiguration = 1 << 20
	mostGenerated     = 1 << 20
)

// check reports what the parameters lack.
func (s *spread) check(name string) error {
	bad := func(format string, a ...any) error { return fmt.Errorf("%s: "+format, append([]any{name}, a...)...) }
	switch {
	case s == nil:
		return bad("missing")
	case s.Max < 0 || s.Max > maxLen || s.Value < 0 || s.Value > maxLen || s.Average > maxLen:
		return bad("a number is out of range; the most is %d", maxLen)
	}
	switch s.Distribution {
	case "constant":
		return nil
	case "uniform":
		if !(s.Min > 0 && s.Max >= s.Min) {
			return bad("uniform needs a min above 0 and a max that is not smaller")
		}
	case "zipf":
		if !(s.Alpha > 1) {
			return bad("zipf needs an alpha above 1")
		}
	case "poisson":
		if !(s.Alpha > 0 && s.Alpha <= maxLen) {
			return bad("poisson needs an alpha above 0")
		}
	case "lognormal":
		ratio := s.ratio()
		if !(s.Average >= 1 && ratio > 0 && ratio < 1) && !(s.Mean > 0 && s.Sigma >= 0) {
			return bad("lognormal needs an average of at least 1 and a median_ratio between 0 and 1, or mean and " +
				"sigma of the normal distribution behind it")
		}
	default:
		return bad("unknown distribution %s; use constant, uniform, zipf, poisson or lognormal",
			textfile.Quote(s.Distribution))
	}
	return nil
}

func (s *spread) ratio() float64 {
	if s.MedianRatio == nil {
		return 0.85
	}
	return *s.MedianRatio
}

// draw is one number, at least 0 and at most the longest length.
func (s *spread) draw(draws *rand.Rand) int {
	if s == nil {
		return 0
	}
	var v float64
	switch s.Distribution {
	case "constant":
		v = s.Value
	case "uniform":
		v = math.Floor(s.Min + draws.Float64()*(s.Max-s.Min+1))
	case "zipf":
		v = float64(rand.NewZipf(draws, s.Alpha, 1, maxLen).Uint64() + 1)
	case "poisson":
		v = poisson(draws, s.Alpha)
	case "lognormal":
		mu, sigma := s.Mean, s.Sigma
		if s.Average >= 1 {
			median := s.ratio() * s.Average
			mu, sigma = math.Log(median), math.Sqrt(2*math.Log(s.Average/median))
		}
		v = math.Round(math.Exp(mu + sigma*draws.NormFloat64()))
	}
	if s.Max > 0 {
		v = min(v, s.Max)
	}
	return int(min(max(v, 0), maxLen))
}

// poisson draws by Knuth's product of uniforms, and by the normal distribution where that is close.
func poisson(draws *rand.Rand, mean float64) float64 {
	if mean > 500 {
		return math.Round(mean + math.Sqrt(mean)*draws.NormFloat64())
	}
	n, product := 0.0, draws.Float64()
	for limit := math.Exp(-mean); product > limit; product *= draws.Float64() {
		n++
	}
	return n
}

// openGenerated makes the conversations of a configuration file; is is false where the file is none.
func openGenerated(c Common, t Tools) (f Flow, is bool, err error) {
	g, err := readGeneration(c.Path)
	if g == nil || err != nil {
		return f, false, err
	}
	tok := t.Local()
	if tok == nil {
		return f, false,
			errors.New("conversations of text files need a tokenizer on this machine; give the model's with " +
				"--tokenizer DIRECTORY")
	}
	m, err := g.maker(filepath.Dir(c.Path), tok)
	if err != nil {
		return f, false, err
	}
	n := c.Prompts
	if n < 1 {
		n = g.Conversations
	}
	k, draws := newConversationMaker(c), rand.New(rand.NewPCG(uint64(c.Seed), conversationSeed))
	list := make([]Conversation, 0, min(n, g.Conversations))
	for i := range min(n, g.Conversations) {
		turns, err := m.conversation(i, draws)
		if err != nil {
			return f, false, err
		}
		conversation, err := k.conversation(c.IDPrefix+strconv.Itoa(i), turns)
		if err != nil {
			return f, false, err
		}
		list = append(list, conversation)
	}
	f, err = c.listConversations("custom", list, n,
		fmt.Sprintf("generated conversations of %s, %s", c.Path, k.replies()), t.Streams().Python)
	return f, true, err
}

// readGeneration reads a configuration; nil where the file is something else.
func readGeneration(path string) (*generation, error) {
	file, err := textfile.Open(path, conversationForm)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > mostConfiguration {
		return nil, err
	}
	data, err := io.ReadAll(file)
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err != nil || !bytes.Contains(data, []byte(generatedType)) || !json.Valid(data) {
		return nil, err
	}
	g := &generation{}
	if err := json.Unmarshal(data, g); err != nil || g.FileType != generatedType {
		return nil, err
	}
	problems := []error{g.Input.Turns.check("num_turns"), g.Input.Prefix.check("prefix_num_tokens"),
		g.Input.Tokens.check("num_tokens"), g.Output.Tokens.check("prompt_output")}
	if g.Input.CommonPrefix != nil {
		problems = append(problems, g.Input.CommonPrefix.check("common_prefix_num_tokens"))
	}
	if g.Conversations < 1 || g.Conversations > mostGenerated {
		problems = append(problems,
			fmt.Errorf("num_conversations %d: must be from 1 to %d", g.Conversations, mostGenerated))
	}
	if len(g.TextFiles) == 0 {
		problems = append(problems, errors.New("text_files: name at least one"))
	}
	return g, errors.Join(problems...)
}

// generator cuts conversations out of a text.
type generator struct {
	*generation
	tok    tokenizer.Tokenizer
	text   []int // of all files
	common string
	base   int // where the next conversation begins
}

func (g *generation) maker(dir string, tok tokenizer.Tokenizer) (*generator, error) {
	m := &generator{generation: g, tok: tok}
	for _, name := range g.TextFiles {
		if !filepath.IsAbs(name) {
			if _, err := os.Stat(name); err != nil {
				name = filepath.Join(dir, name)
			}
		}
		ids, err := textfile.Read(name, "a text", func(r io.Reader) ([]int, error) { return readTokens(r, tok) })
		if err != nil {
			return nil, textfile.At(name, err)
		}
		m.text = append(m.text, ids...)
	}
	prefix := g.Input.CommonPrefix.draw(rand.New(rand.NewPCG(0, conversationSeed)))
	if m.base = prefix; prefix > 2 {
		text, err := m.cut(0, prefix-2)
		if err != nil {
			return nil, err
		}
		m.common = text + "."
	}
	return m, nil
}

// cut is the text of so many tokens from a place on.
func (m *generator) cut(from, n int) (string, error) {
	if from < 0 || n < 0 || from+n > len(m.text) {
		return "", fmt.Errorf("the text files have %d tokens, and the conversations need %d or more; add text, or ask "+
			"for fewer or shorter conversations", len(m.text), from+n)
	}
	return m.tok.Decode(m.text[from : from+n])
}

// conversation makes conversation c, with the words of vLLM's benchmark before each piece of text.
func (m *generator) conversation(c int, draws *rand.Rand) (turns []recordedTurn, err error) {
	messages := min(max(2, m.Input.Turns.draw(draws)), 2*mostTurns)
	messages += messages % 2
	longest, lengths := 0, make([]int, messages/2)
	for i := range lengths {
		lengths[i] = max(1, m.Input.Tokens.draw(draws))
		longest = max(longest, lengths[i])
	}
	const ask = "Please rewrite the following text and add more content: "
	asked, err := m.tok.Encode(ask)
	if err != nil {
		return nil, err
	}
	from := m.base
	for i, wanted := range lengths {
		text, own := "", ""
		if i == 0 {
			text = m.common
			if n := m.Input.Prefix.draw(draws); n > 0 {
				piece, err := m.cut(m.base, n)
				if err != nil {
					return nil, err
				}
				own, from = fmt.Sprintf("%d, ", c)+piece, m.base+n
				m.base = from
			}
		}
		text += fmt.Sprintf("%d is a nice number... ", c)
		used, err := m.tok.Encode(text)
		if err != nil {
			return nil, err
		}
		rest, err := m.cut(from+2*i*longest, max(0, wanted-len(used)-len(asked)))
		if err != nil {
			return nil, err
		}
		text += own + ask + rest
		ids, err := m.tok.Encode(text)
		if err != nil {
			return nil, err
		}
		output := max(1, m.Output.Tokens.draw(draws))
		answer, err := m.cut(0, min(output, len(m.text)))
		if err != nil {
			return nil, err
		}
		turns = append(turns, recordedTurn{
			messages: message("user", text), text: text, tokens: len(ids), output: output, delay: -1, at: -1,
			answer: answer, reply: message("assistant", answer), replied: output,
		})
	}
	m.base += messages
	return turns, nil
}
