// Package datasets is where prompts come from: synthetic ones that repeat vLLM's random dataset draw for draw, and
// recorded conversations in ShareGPT's format, sampled as vLLM samples them.
//
// A data set is opened to a Flow, which gives one Conversation after another and finally io.EOF. The package decides on
// prompts and lengths of answers; it does not know when requests are sent, the wire format, nor how answers are judged.
// Tokens are counted by the tokenizer.Counter that it is given.
package datasets

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/datasets/constraint"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/jsonscan"
)

// Conversation is one user's turns, in order; a single prompt is a conversation of one turn. The contents of its slices
// may be shared with other conversations and must not be changed.
type Conversation struct {
	ID    string // request id: a prefix and a number; "" when the dataset gives none
	Turns []Turn
	// At is when a trace says that the conversation starts, from the start of the run; 0 where the data set has no
	// times.
	At time.Duration
	// Session names the conversation for the server and for other tools; "" where it is one request, or has no name.
	Session string
	// Timed conversations start each turn at its own time.
	Timed bool
	// Replies says that prompts hold the texts of the answers before them.
	Replies bool
}

// Several reports whether the requests are turns of a conversation: also one that has a name and happens to have a
// single turn.
func (c *Conversation) Several() bool { return len(c.Turns) > 1 || c.Session != "" }

// RequestID is the id of the request of a turn. Turns of a conversation have their numbers behind its id, as vLLM's
// client has them.
func (c *Conversation) RequestID(turn int) string {
	if c.ID == "" || !c.Several() {
		return c.ID
	}
	return fmt.Sprintf("%s-turn%d", c.ID, turn)
}

// Composed are the turns of a conversation with their prompts, made one after the other without a server. For answers
// of the model stand words, as many as tokens are asked for.
func (c *Conversation) Composed() iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		var answers []string
		for i := range c.Turns {
			t := c.Turns[i]
			var err error
			if t.Prompt.Compose != nil {
				err = t.Prompt.Compose(&t, answers)
			}
			if !yield(t, err) || err != nil {
				return
			}
			if c.Replies {
				answers = append(answers, strings.TrimSuffix(strings.Repeat("answer ", max(1, t.MaxTokens)), " "))
			}
		}
	}
}

// Prompt makes the prompt of a turn when the turn is sent; the zero value where that is known before. Several
// goroutines use it at once, for different turns.
type Prompt struct {
	// Compose sets the prompt of t and its number of tokens. answers are the texts of the conversation's answers so
	// far, "" for turns that have none.
	Compose func(t *Turn, answers []string) error
	// Learn takes a turn as it was sent, and the tokens that the server counted in its prompt; nil where later prompts
	// do not depend on it.
	Learn func(sent *Turn, tokens int)
}

// Turn is one prompt. It carries text or token ids, and possibly richer forms for back ends that speak chat.
type Turn struct {
	Text        string // the prompt as text; empty when TokenIDs or Batch is set
	TokenIDs    []int  // the prompt as token ids, for completions back ends
	InputTokens int    // tokens the client believes the prompt holds: text only, media never counted
	MaxTokens   int    // output tokens asked for; 0 lets the server decide

	// Prompt makes all of the above when the turn is sent. InputTokens may be known before all the same.
	Prompt Prompt
	// After are the places of the turns whose ends this one waits for; nil for the one before, empty for the start of
	// the conversation.
	After []int
	// Delay is the time from the last of these ends, or from the start of the conversation, to the start of the turn.
	Delay time.Duration
	// At is the scheduled start from that of the conversation, in a conversation that is Timed. The turn still waits
	// for those of After.
	At time.Duration
	// IdealTokens of the prompt are in an earlier prompt or answer of the run, as its beginning: a prefix cache without
	// bounds has them. IdealKnown: they were counted, if only as 0.
	IdealTokens int
	IdealKnown  bool

	// Batch holds the prompts of a request that carries several at once, as completions and pooling endpoints take
	// them. InputTokens of the turn is then their sum.
	Batch []Turn
	// Media is a content part of the chat API (image_url or video_url) to be sent beside the text.
	Media json.RawMessage
	// Audio is a recording that a transcription back end sends as a file; nil for none. It is shared and must not be
	// changed.
	Audio *media.Audio
	// Messages is a whole chat message list, Media included. A chat back end sends it instead of Text and Media.
	Messages json.RawMessage
	// Class is the class of the request, as that of a priority; the report has figures for each. "" for none.
	Class string
	// Overrides is an object whose members replace those of the request body, also those that the user set; nil for
	// none.
	Overrides json.RawMessage
	// Judge judges the text of the answer; nil for none.
	Judge Judge
	// Headers are header fields of this request alone, names and values; those of the run with the same name give way.
	Headers [][2]string
}

// Judge judges answers. cut says that the output limit ended the answer. It is used by several goroutines at once.
type Judge interface {
	Judge(answer string, cut bool) constraint.Judgement
}

// Excerpt is the beginning and the end of the prompt as a person reads it, in at most so many bytes: of its text, its
// messages as JSON, its token ids, or the first prompt of several. It is "" for media alone.
func (t *Turn) Excerpt(most int) string {
	switch {
	case len(t.Batch) > 0:
		return t.Batch[0].Excerpt(most)
	case len(t.Messages) > 0:
		return excerpt(t.Messages, most)
	case len(t.TokenIDs) > 0:
		// few, as this comes before each request
		first := t.TokenIDs[:min(len(t.TokenIDs), 64)]
		return excerpt(fmt.Sprintf("%d token ids, first %v", len(t.TokenIDs), first), most)
	}
	return excerpt(t.Text, most)
}

func excerpt[T string | json.RawMessage](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	half := (most - len(" … ")) / 2
	return strings.ToValidUTF8(string(text[:half])+" … "+string(text[len(text)-half:]), "")
}

// AddClass puts the request into a class besides those that it has.
func (t *Turn) AddClass(name string) {
	if t.Class != "" {
		name = t.Class + ", " + name
	}
	t.Class = name
}

// AddHeader adds a header field to the request, and leaves the header of other turns alone.
func (t *Turn) AddHeader(name, value string) {
	t.Headers = append(slices.Clip(t.Headers), [2]string{name, value})
}

// AddField adds a member to the request's body. value is JSON.
func (t *Turn) AddField(name, value string) {
	body := strings.TrimSpace(string(t.Overrides))
	if body = strings.TrimSuffix(body, "}"); body == "" || body == "{" {
		body = "{"
	} else {
		body += ", "
	}
	t.Overrides = json.RawMessage(body + string(jsonscan.Quote(name)) + ": " + value + "}")
}

// Text answers questions of a data set about a text before it is sent. Its fields are safe for concurrent use.
type Text struct {
	// Counter counts tokens, special ones that the model's tokenizer adds by itself among them; nil when none is to.
	Counter tokenizer.Counter
	// Tokenizer turns text into ids and back; nil where there is none.
	Tokenizer tokenizer.Tokenizer
	// TokenizerName is the name or path of the model's tokenizer, and TokenizerClass its class in Python's
	// transformers; "" where they are not known.
	TokenizerName, TokenizerClass string
	// Template renders chats; nil where the model has none. Data sets that render ask for it only then.
	Template chattemplate.Renderer
}

// count returns the tokens of each text.
func (t Text) count(ctx context.Context, texts []string) ([]int, error) {
	counts, err := tokenizer.CountAll(ctx, t.Counter, texts)
	return counts, within("counting tokens", err)
}

// countTurns sets the input tokens of turns that a model reads as these prompts.
func (t Text) countTurns(ctx context.Context, turns []Turn, prompts []string) error {
	counts, err := t.count(ctx, prompts)
	for i, n := range counts {
		turns[i].InputTokens = n
	}
	return err
}

// countTexts sets the input tokens of turns that a model reads as their texts, where there is a counter.
func (t Text) countTexts(ctx context.Context, turns []Turn) error {
	if t.Counter == nil {
		return nil
	}
	prompts := make([]string, len(turns))
	for i := range turns {
		prompts[i] = turns[i].Text
	}
	return t.countTurns(ctx, turns, prompts)
}

// userMessage is a chat of one message that holds a text and nothing else.
func userMessage(text string) json.RawMessage {
	return fmt.Appendf(nil, `[{"role":"user","content":%s}]`, jsonscan.Quote(text))
}

// chatMessages is one user message that holds a text and, unless it is nil, a media part, or several. The members stand
// in vLLM's order, which here is another than in a message made of a bare prompt.
func chatMessages(text string, parts json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `[{"role":"user","content":[%s]}]`,
		media.AppendPart(fmt.Appendf(nil, `{"text":%s,"type":"text"}`, jsonscan.Quote(text)), parts))
}

// oversample fills a file's n requests up to want by repeating randomly chosen ones under new ids. Python's generator
// is seeded afresh for that, but only if anything has to be repeated. Ids must come out distinct: servers use them to
// tell requests apart.
func oversample(requests []Conversation, want int, seed int64, idPrefix string,
	py *numpy.Python) ([]Conversation, error) {
	n := len(requests)
	if n == 0 && want > 0 {
		return nil, fmt.Errorf("there is nothing to repeat to make %d requests", want)
	}
	if n < want {
		py.Seed(seed)
	}
	for i := n; i < want; i++ {
		again := requests[py.Choice(n)]
		again.ID = idPrefix + strconv.Itoa(i)
		requests = append(requests, again)
	}
	seen := make(map[string]bool, len(requests))
	for _, r := range requests {
		if seen[r.ID] {
			return nil, fmt.Errorf("request id %q is used twice; repeat no requests, or ask for no more than %d", r.ID,
				n)
		}
		seen[r.ID] = true
	}
	return requests, nil
}

// list makes a data set of turns picked from a file: it numbers them and repeats some if more are wanted. kind says,
// for the description, what the turns were picked from.
func (c Common) list(dataset string, turns []Turn, want int, kind string, py *numpy.Python) (Flow, error) {
	all := make([]Conversation, len(turns))
	for i, turn := range turns {
		all[i] = Conversation{ID: c.IDPrefix + strconv.Itoa(i), Turns: []Turn{turn}}
	}
	return c.listed(dataset, all, want, kind, py)
}

// listed is list for conversations that have numbers.
func (c Common) listed(dataset string, all []Conversation, want int, kind string, py *numpy.Python) (Flow, error) {
	all, about, err := c.filled(dataset, all, want, kind, py)
	return ListOf(all, about), err
}

// filled are conversations, some of them repeated where more are wanted, and a line about them.
func (c Common) filled(dataset string, all []Conversation, want int, kind string,
	py *numpy.Python) (_ []Conversation, about string, err error) {
	picked := len(all)
	if !c.NoOversample {
		if all, err = oversample(all, want, c.Seed, c.IDPrefix, py); err != nil {
			return nil, "", err
		}
	}
	about = fmt.Sprintf("%s: %d prompts of %s", dataset, picked, kind)
	if len(all) > picked {
		about += fmt.Sprintf(", repeated to make %d", len(all))
	}
	return all, about, nil
}

// pick seeds py, shuffles the rows unless that is disabled, and takes the first of them. want is how many prompts there
// are to be: as many as were asked for or, where that is less than 1, one of each row.
func pick[T any](rows []T, c Common, py *numpy.Python) (picked []T, want int) {
	py.Seed(c.Seed)
	shuffle(rows, c, py)
	if want = c.Prompts; want < 1 {
		want = len(rows)
	}
	return rows[:min(want, len(rows))], want
}

// shuffle puts rows in random order, unless that is disabled.
func shuffle[T any](rows []T, c Common, py *numpy.Python) {
	if !c.DisableShuffle {
		py.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
}
