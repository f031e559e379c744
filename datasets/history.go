package datasets

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"benchtop/internal/jsonscan"
)

// recordedTurn is one turn of a conversation: a prompt, and the answer that was recorded to it.
type recordedTurn struct {
	like     Turn   // what the request has besides its prompt, as its class
	messages string // the prompt as chat messages in JSON, joined by commas
	text     string // the prompt as text
	ids      []int  // the prompt as token ids; nil where it is a text
	tokens   int    // of the prompt alone
	output   int    // tokens asked for
	reply    string // the recorded answer as a chat message in JSON, "" for none
	answer   string // the recorded answer as text
	answered []int  // the recorded answer as token ids
	// replied is the length of the recorded answer in tokens. fixed says that later prompts hold it whatever the model
	// answered, since they refer to its tool calls.
	replied int
	fixed   bool
	tools   bool // a message of the turn calls tools, or is of one
	// delay is the pause before the turn; negative for that of the run. at is its time from the start of the
	// conversation, negative for none.
	delay, at time.Duration
}

// conversationMaker makes conversations of what was said, in the form that the run's requests take.
type conversationMaker struct {
	chat     bool // as messages, else as texts or token ids
	recorded bool // answers are those of the record
	delay    func() time.Duration
	sharing  *Sharing
}

func newConversationMaker(c Common) *conversationMaker {
	k := &conversationMaker{
		chat:     c.chat(),
		recorded: c.MultiTurn.Recorded, delay: c.MultiTurn.delays(c.Seed), sharing: c.Sharing,
	}
	if k.sharing == nil {
		k.sharing = NewSharing()
	}
	return k
}

// replies describes the answers in prompts.
func (k *conversationMaker) replies() string {
	if k.recorded {
		return "recorded replies"
	}
	return "the model's replies"
}

// prompt is a turn of a prompt that has no recorded answer. One of token ids stands for such an answer.
func (k *conversationMaker) prompt(t Turn) recordedTurn {
	s := recordedTurn{like: t, text: t.Text, ids: t.TokenIDs, tokens: t.InputTokens, output: t.MaxTokens, delay: -1,
		at: -1}
	s.like.Text, s.like.TokenIDs, s.like.Messages = "", nil, nil
	switch {
	case t.TokenIDs != nil:
		// The reversed prompt is as long as wanted, when repeated, and unlike the prompt.
		for i := range t.MaxTokens {
			s.answered = append(s.answered, t.TokenIDs[len(t.TokenIDs)-1-i%len(t.TokenIDs)])
		}
		s.replied = len(s.answered)
	case k.chat && len(t.Messages) > 2:
		s.messages = strings.TrimSuffix(strings.TrimPrefix(string(t.Messages), "["), "]")
	case k.chat:
		s.messages = message("user", t.Text)
	}
	if k.recorded && t.TokenIDs == nil {
		s.answer, s.replied = standIn(t.Text, t.InputTokens, t.MaxTokens), t.MaxTokens
		s.reply = message("assistant", s.answer)
	}
	return s
}

// standIn is a text of about so many tokens, made of the words of another, whose tokens are known, in the reverse
// order. It stands for a recorded answer where there is none.
func standIn(text string, tokens, wanted int) string {
	words := strings.Fields(text)
	slices.Reverse(words)
	like := strings.Join(words, " ")
	if like == "" || tokens < 1 {
		return ""
	}
	length := int(float64(len(like)) * float64(min(wanted, maxLen)) / float64(tokens))
	like = strings.Repeat(like+" ", length/(len(like)+1)+1)
	for length > 0 && length < len(like) && !utf8.RuneStart(like[length]) {
		length++
	}
	return strings.TrimSpace(like[:min(length, len(like))])
}

// message is a chat message of text.
func message(role, text string) string {
	return fmt.Sprintf(`{"role":"%s","content":%s}`, role, jsonscan.Quote(text))
}

// conversation makes one whose prompts hold what was said before.
func (k *conversationMaker) conversation(id string, all []recordedTurn) (Conversation, error) {
	c := Conversation{ID: id, Session: id, Turns: make([]Turn, len(all)), Replies: !k.recorded && len(all) > 1}
	tokens := 0
	for i := range all {
		s := &all[i]
		if s.ids != nil && !k.recorded && len(all) > 1 {
			return c, fmt.Errorf("conversation %s: its prompts are token ids, and the model's answers are texts; "+
				"use --backend openai-chat, give --tokenizer DIRECTORY, or send recorded answers with --replies "+
				"recorded", id)
		}
		tokens += s.tokens
		t := &c.Turns[i]
		*t = s.like
		t.InputTokens, t.MaxTokens, t.Delay, t.At = tokens, s.output, k.pause(i, s), max(0, s.at)
		if k.recorded || s.fixed {
			tokens += s.replied
		} else {
			tokens += s.output
		}
		c.Timed = c.Timed || s.at >= 0
		t.Prompt.Compose = func(t *Turn, answers []string) error {
			return historyPrompt{k, all, i}.compose(t, answers)
		}
	}
	return c, nil
}

// alone makes a conversation whose prompts hold nothing of earlier turns.
func (k *conversationMaker) alone(id string, all []recordedTurn) Conversation {
	c := Conversation{ID: id, Session: id, Turns: make([]Turn, len(all))}
	for i := range all {
		s := &all[i]
		t := &c.Turns[i]
		*t = s.like
		t.TokenIDs, t.Text, t.Delay = s.ids, s.text, k.pause(i, s)
	}
	return c
}

// pause is the delay before turn i.
func (k *conversationMaker) pause(i int, s *recordedTurn) time.Duration {
	switch {
	case i == 0:
		return 0
	case s.delay >= 0:
		return s.delay
	}
	return k.delay()
}

// historyPrompt is the prompt of a turn: all that was said before it, and its own.
type historyPrompt struct {
	*conversationMaker
	all  []recordedTurn
	turn int
}

// compose makes the prompt.
func (p historyPrompt) compose(t *Turn, answers []string) error {
	switch {
	case p.all[0].ids != nil:
		for i := range p.turn {
			t.TokenIDs = append(append(t.TokenIDs, p.all[i].ids...), p.all[i].answered...)
		}
		t.TokenIDs = append(t.TokenIDs, p.all[p.turn].ids...)
	case p.chat:
		history := p.join("[", ",", answers, func(s *recordedTurn) string { return s.messages },
			func(s *recordedTurn, answer string) string {
				if s.fixed || p.recorded {
					return s.reply
				}
				return message("assistant", answer)
			})
		t.Messages = []byte(history + p.all[p.turn].messages + "]")
	default:
		t.Text = p.join("", "\n", answers, func(s *recordedTurn) string { return s.text },
			func(s *recordedTurn, answer string) string {
				if s.fixed || p.recorded {
					return s.answer
				}
				return answer
			}) + p.all[p.turn].text
	}
	return nil
}

// join is the text of all turns before. The server knows it when the answers in it are its own.
func (p historyPrompt) join(open, separator string, answers []string, prompt func(*recordedTurn) string,
	reply func(*recordedTurn, string) string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range p.turn {
		b.WriteString(prompt(&p.all[i]))
		b.WriteString(separator)
		answer := ""
		if i < len(answers) {
			answer = answers[i]
		}
		b.WriteString(reply(&p.all[i], answer))
		if i == p.turn-1 && !p.recorded && !p.all[i].fixed {
			p.sharing.Know(b.String())
		}
		b.WriteString(separator)
	}
	return b.String()
}
