package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"benchtop/datasets/tokenizer"
)

// RandomMM is a source of random prompts with random images, those of vLLM's random-mm for the same seed and tokenizer:
// the same texts, and images of the same pixels. They are made as they are asked for, a few ahead of need.
type RandomMM struct {
	prompts *Random
	media   mediaDraws
	chat    bool
	ready   []mmRequest // encoded, not handed on yet
	end     error       // why there are no more
}

// mmRequest is a request on its way: its prompt, its media as drawn, and these as parts of a message.
type mmRequest struct {
	Conversation
	media []medium
	parts [][]byte
}

// NewRandomMM prepares the prompts and images that o describes. Prompts are text, so tok must not be nil.
func NewRandomMM(o RandomMMOptions, tok tokenizer.Tokenizer) (Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if tok == nil {
		return nil, errors.New("dataset random-mm: needs a tokenizer, since chat takes text; give --tokenizer")
	}
	return newRandomMM(o, tok)
}

// newRandomMM takes videos too. They can be drawn, but not sent.
func newRandomMM(o RandomMMOptions, tok tokenizer.Tokenizer) (*RandomMM, error) {
	p := &problems{}
	m := &RandomMM{media: newMediaDraws(o, p), chat: o.MultimodalChat}
	if err := p.of("random-mm"); err != nil {
		return nil, err
	}
	vocab, assumed := vocabularyFor(o.Vocabulary, tok)
	if tok, ok := tok.(interface{ AddedSpecialIDs() []int }); ok && !assumed {
		vocab.Special = tok.AddedSpecialIDs() // a wider set, which vLLM leaves out only here
	}
	o.RandomOptions.Vocabulary = Vocabulary{}
	m.prompts = &Random{name: "random-mm", o: o.RandomOptions, tok: tok, vocab: vocab, assumed: assumed,
		length: max(0, o.InputLen-tok.SpecialTokensToAdd())}
	return m, m.prompts.prepare()
}

// draw makes a prompt and then draws its media from the same generator.
func (m *RandomMM) draw() (mmRequest, error) {
	c, err := m.prompts.Next()
	if err != nil {
		return mmRequest{}, err
	}
	media := m.media.request(&m.prompts.gen)
	return mmRequest{c, media, make([][]byte, len(media))}, nil
}

// Next makes the next request.
func (m *RandomMM) Next() (Conversation, error) {
	if len(m.ready) == 0 && m.end == nil {
		m.fill()
	}
	if len(m.ready) == 0 {
		return Conversation{}, m.end
	}
	r := m.ready[0]
	m.ready[0] = mmRequest{} // its images are large, and not ours to keep
	m.ready = m.ready[1:]
	return r.Conversation, nil
}

// windowSamples bounds the images that are drawn and not yet encoded, in bytes.
const windowSamples = 64 << 20

// fill draws as many requests as there are processors and encodes their images, which takes most of the time, in parallel.
// What comes before a failure is handed on.
func (m *RandomMM) fill() {
	for samples := 0; len(m.ready) < runtime.GOMAXPROCS(0) && samples < windowSamples; {
		var r mmRequest
		if r, m.end = m.draw(); m.end != nil {
			break
		}
		for _, medium := range r.media {
			samples += len(medium.samples)
		}
		m.ready = append(m.ready, r)
	}
	errs := make([]error, len(m.ready))
	inParallel(runtime.GOMAXPROCS(0), len(m.ready), func(i int) bool {
		errs[i] = m.ready[i].encode(m.chat)
		return errs[i] == nil
	})
	for i, err := range errs {
		if err != nil {
			m.ready, m.end = m.ready[:i], fmt.Errorf("dataset random-mm, request %s: %w", m.ready[i].ID, err)
			return
		}
	}
}

// encode turns the media into parts of the message.
func (r *mmRequest) encode(chat bool) error {
	for i, medium := range r.media {
		var err error
		if r.parts[i], err = medium.part(); err != nil {
			return err
		}
		r.media[i].samples = nil
	}
	turn := &r.Turns[0]
	if len(r.parts) > 0 {
		turn.Media = bytes.Join(r.parts, []byte{','})
	}
	if chat {
		turn.Messages, turn.Media = chatMessages(turn.Text, turn.Media), nil
	}
	return nil
}

// Len is how many requests there are in all.
func (m *RandomMM) Len() int { return m.prompts.Len() }

// Description says in a line what the prompts are, for the head of a report.
func (m *RandomMM) Description() string {
	count := fmt.Sprint(m.media.lo)
	if m.media.hi > m.media.lo {
		count += fmt.Sprintf(" to %d", m.media.hi)
	}
	var shapes []string
	for _, b := range m.media.buckets {
		shapes = append(shapes, fmt.Sprintf("%d by %d pixels (%.3g %%)", b.Height, b.Width, 100*b.Weight))
	}
	return fmt.Sprintf("%s, with %s random images each of %s", m.prompts.Description(), count, strings.Join(shapes, " or "))
}
