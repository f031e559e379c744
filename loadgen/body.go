package loadgen

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"

	"benchtop/datasets"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/loadgen/protocol"
)

// encoder writes the bodies of a run's requests: the protocol's for a turn, with the run's own fields and salt.
type encoder struct {
	protocol protocol.Protocol
	traits   protocol.Traits
	model    string
	// extra is set last and replaces fields of the same name in place.
	extra []protocol.Field
	salt  Salt
}

func newEncoder(o *Options) encoder {
	e := encoder{protocol: o.Protocol, traits: o.Protocol.Traits(), model: o.Model, salt: o.Salt}
	for _, f := range slices.Concat(o.Salt.fields(), o.Extra) {
		e.extra = append(e.extra, f.AsPython())
	}
	return e
}

func (e *encoder) ask(model string, turn *datasets.Turn) protocol.Ask {
	return protocol.Ask{Model: cmp.Or(model, e.model), Turn: turn, Extra: e.extra}
}

// length is the output length that the body of a turn requests, and the most that a server may read in it; see
// protocol.Ask.
func (e *encoder) length(turn *datasets.Turn) (length, most int) {
	return e.ask("", turn).Length(e.traits.LengthField)
}

// body appends the body of a request with an id for a turn to dst. A model other than "" replaces the encoder's own.
func (e *encoder) body(dst []byte, model, id string, turn *datasets.Turn) ([]byte, error) {
	salt, extra := e.salt, e.extra
	if salt.PerRequest {
		salt = salt.again()
		extra = slices.Clone(extra)
		for i, f := range salt.fields() { // they stand first
			extra[i] = f.AsPython()
		}
	}
	salted, err := salt.onto(*turn)
	if err != nil {
		return dst, err
	}
	a := e.ask(model, &salted)
	a.Extra = extra
	a.ID = id
	return e.protocol.Body(dst, a)
}

// Optional are the names of the own fields in the body of a turn that a server can do without, in its order.
func (o *Options) Optional(turn *datasets.Turn) []string {
	e := newEncoder(o)
	return protocol.Optional(e.protocol, e.ask("", turn))
}

// Body is the body of the request for a turn, without the salt and the id of a run.
func (o *Options) Body(turn *datasets.Turn) ([]byte, error) {
	e := newEncoder(o)
	e.salt = Salt{}
	return e.body(nil, "", "", turn)
}

// SaltMode is the way in which a run's requests avoid prefixes that earlier runs left in the server's cache.
type SaltMode string

const (
	// NoSalt sends the prompts as they are, as vLLM's client does.
	NoSalt SaltMode = ""
	// SaltField sends vLLM's body field cache_salt, which costs no tokens. A field of that name in Options.Extra wins.
	SaltField SaltMode = "field"
	// SaltPrefix puts a line before texts and ids before prompts of token ids. Other servers need it.
	SaltPrefix SaltMode = "prefix"
)

// Salt is different in each run. Unless it is PerRequest it is common to all requests of a run, warm-ups and probes
// included, so these still share prefixes with each other.
type Salt struct {
	Mode SaltMode
	Text string // the value of the field, or the line without its end
	IDs  []int  // the prefix of prompts of token ids
	// PerRequest gives each request another salt, so that no two share a prefix.
	PerRequest bool

	vocabulary []int // of IDs
}

// saltIDs is the number of token ids before a prompt: enough that no two runs have the same.
const saltIDs = 4

// NewSalt draws a salt, independently of the seed, since runs with one seed must differ in it. vocabulary lists the
// token ids that a prompt may hold; it may be nil where all prompts are texts.
func NewSalt(mode SaltMode, vocabulary []int) (Salt, error) {
	s := Salt{Mode: mode, vocabulary: vocabulary}.again()
	return s, s.check()
}

// again is a salt of the same kind with other contents.
func (s Salt) again() Salt {
	if s.Mode != NoSalt {
		s.Text = "run " + rand.Text()[:10] // 50 bits
	}
	if s.IDs = nil; s.Mode == SaltPrefix && len(s.vocabulary) > 0 {
		for range saltIDs {
			s.IDs = append(s.IDs, s.vocabulary[mathrand.IntN(len(s.vocabulary))])
		}
	}
	return s
}

// Line is the prefix of texts.
func (s Salt) Line() string { return s.Text + "\n" }

func (s Salt) check() error {
	switch {
	case s.Mode == NoSalt:
		return nil
	case s.Mode != SaltField && s.Mode != SaltPrefix:
		return fmt.Errorf("salt %q: use %q or %q", s.Mode, SaltField, SaltPrefix)
	case s.Text == "":
		return errors.New("salt: empty; a server refuses that, or finds every run in its cache")
	}
	return nil
}

// fields are those that the salt adds to every body, before the user's own.
func (s Salt) fields() []protocol.Field {
	if s.Mode != SaltField {
		return nil
	}
	return []protocol.Field{{Name: "cache_salt", JSON: string(pyjson.AppendString(nil, s.Text))}}
}

// Takes is an error if the turn has no place for the salt.
func (s Salt) Takes(turn datasets.Turn) error {
	_, err := s.onto(turn)
	return err
}

// onto returns a turn with the prefix before its prompt, or before each prompt of a batch.
func (s Salt) onto(turn datasets.Turn) (datasets.Turn, error) {
	if s.Mode != SaltPrefix {
		return turn, nil
	}
	if turn.Audio != nil {
		return turn, errors.New(
			"a recording cannot be made cold: the request holds no text to put before it; use --cache as-is")
	}
	if turn.TokenIDs != nil {
		if len(s.IDs) == 0 {
			return turn, errors.New(
				"a prompt of token ids cannot be made cold: no ids are known to put before it; use --cache as-is")
		}
		turn.TokenIDs = slices.Concat(s.IDs, turn.TokenIDs)
	}
	if turn.Batch != nil {
		batch := make([]datasets.Turn, len(turn.Batch))
		for i, t := range turn.Batch {
			var err error
			if batch[i], err = s.onto(t); err != nil {
				return turn, err
			}
		}
		turn.Batch = batch
	}
	if len(turn.Messages) > 0 {
		at, err := firstText(turn.Messages)
		if err != nil {
			return turn, err
		}
		line := pyjson.AppendString(nil, s.Line())
		turn.Messages = slices.Concat(turn.Messages[:at], line[1:len(line)-1], turn.Messages[at:])
	}
	if turn.TokenIDs == nil && turn.Batch == nil {
		turn.Text = s.Line() + turn.Text
	}
	return turn, nil
}

// firstText is the offset of the first text in a list of messages, behind its quote.
func firstText(messages json.RawMessage) (int, error) {
	if err := json.Unmarshal(messages, new([]map[string]json.RawMessage)); err != nil {
		return 0, fmt.Errorf("messages cannot be made cold: %w", err)
	}
	list := bytes.TrimLeft(messages, " \t\r\n")
	text := textIn(list, `"content"`)
	if text == nil {
		return 0, errors.New("messages without a text cannot be made cold; use --cache as-is")
	}
	return cap(messages) - cap(text) + len(`"`), nil // a part of the messages goes up to their capacity
}

// textIn is the first member of that name that is a text, or a content with a part that is one, in a list of objects;
// nil without one.
func textIn(list []byte, member string) []byte {
	for object := range jsonscan.Elements(list) {
		for name, value := range jsonscan.Members(object) {
			switch {
			case string(name) != member:
			case jsonscan.IsString(value):
				return value
			case value[0] == '[' && member == `"content"`:
				if text := textIn(value, `"text"`); text != nil {
					return text
				}
			}
		}
	}
	return nil
}
