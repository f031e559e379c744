package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"benchtop/internal/hf/media"
	"benchtop/internal/hf/tokenizer"
)

// randomMMOptions describes random prompts with random images beside them.
type randomMMOptions struct {
	RandomOptions

	BaseItems  int           // how many media a request holds
	ItemsRatio float64       // how far their number strays, in [0, 1]
	Limits     media.Limits  // how many a request may hold of each modality
	Buckets    media.Buckets // their shapes
}

// Bounds on media. Those on images are what JPEG and memory can hold.
const (
	maxItems   = 1 << 16
	maxSide    = 1<<16 - 1
	maxSamples = 1 << 30 // of a request
)

// Validate reports every problem with the options.
func (o randomMMOptions) Validate() error {
	p := o.RandomOptions.problems()
	if o.Batch > 1 {
		p.add("batch size %d must be 1: chat takes one prompt a request", o.Batch)
	}
	o.checkBuckets(p)
	if !(o.ItemsRatio >= 0 && o.ItemsRatio <= 1) {
		p.add("items range ratio %v must be between 0 and 1", o.ItemsRatio)
	}
	p.between("items per request", o.BaseItems, 0, maxItems)
	if len(*p) > 0 { // the checks below need options that are right
		return p.of("random-mm")
	}
	m, err := media.NewDraws(o.BaseItems, o.ItemsRatio, o.Limits, o.Buckets)
	*p = append(*p, err)
	for _, b := range m.Buckets {
		n := min(m.Hi, m.Limits[b.Modality()])
		if samples := 3 * float64(b.Height) * float64(b.Width) * float64(b.Frames) * float64(n); samples > maxSamples {
			p.add("bucket %s: %d in a request take %.3g bytes, more than memory should be asked for; ask for fewer or "+
				"smaller ones",
				media.Buckets{b}, n, samples)
		}
	}
	return p.of("random-mm")
}

// checkBuckets looks at each bucket, also at those that are never drawn.
func (o randomMMOptions) checkBuckets(p *problems) {
	sum := 0.0
	for _, b := range o.Buckets {
		name := media.Buckets{b}.String()
		if b.Frames < 1 {
			p.add("bucket %s: the number of frames %d must be at least 1", name, b.Frames)
		} else if _, ok := o.Limits[b.Modality()]; !ok {
			p.add("bucket %s: no limit for %ss; give one, 0 for none", name, b.Modality())
		}
		if min(b.Height, b.Width) < 1 || max(b.Height, b.Width) > maxSide {
			p.add("bucket %s: height and width must be between 1 and %d", name, maxSide)
		}
		if !(b.Weight >= 0) {
			p.add("bucket %s: the weight %v must not be negative", name, b.Weight)
		}
		if b.Frames > 1 && min(b.Height, b.Width) == 1 {
			p.add("bucket %s: a video has at least 2 by 2 pixels", name)
		}
		sum += b.Weight
	}
	switch {
	case sum == 0:
		p.add("no bucket has a weight above 0")
	case math.IsInf(sum, 1):
		p.add("the weights of all buckets together must be finite")
	}
	for modality, limit := range o.Limits {
		if limit < 0 || limit > math.MaxInt32 {
			p.add("limit %d for %s must be between 0 and %d", limit, modality, math.MaxInt32)
		}
	}
}

type randomMMKind struct {
	Common
	*randomFlags
	mm              randomMMOptions
	limits, buckets string
}

func (k *randomMMKind) Define(group func(string) Flags) {
	f := group(randomHeading)
	f.IntVar(&k.mm.BaseItems, "random-mm-base-items-per-request", k.mm.BaseItems,
		"random-mm: images and videos per request")
	f.Float64Var(&k.mm.ItemsRatio, "random-mm-num-mm-items-range-ratio", k.mm.ItemsRatio,
		"random-mm: vary their number by up to this share")
	f.StringVar(&k.limits, "random-mm-limit-mm-per-prompt", k.mm.Limits.String(),
		"random-mm: maximum of each kind per request")
	f.StringVar(&k.buckets, "random-mm-bucket-config", k.mm.Buckets.String(),
		"random-mm: probability of each (height, width, frames); videos, of more than one frame, need ffmpeg")
}

func (k randomMMKind) needs() Needs {
	return Needs{Forms: k.mediaForm(), Why: imagesInMessages, Ends: true, FullLength: true, TakesInputLen: true,
		OutputLen: k.spread.outputLen(k.outputLen(k.OutputLen))}
}

// options are those of the flags. unread are the flags that cannot be read, among which that of the ratio leaves the
// options fit to be validated.
func (k randomMMKind) options() (o randomMMOptions, ratio, unread error) {
	o = k.mm
	o.RandomOptions, ratio = k.in(k.Common)
	var limits, buckets error
	o.Limits, limits = media.ParseLimits(k.limits)
	o.Buckets, buckets = media.ParseBuckets(k.buckets)
	return o, ratio,
		errors.Join(within("--random-mm-limit-mm-per-prompt", limits), within("--random-mm-bucket-config", buckets))
}

func (k randomMMKind) check() error {
	o, ratio, unread := k.options()
	if unread == nil {
		unread = o.Validate()
	}
	return errors.Join(ratio, unread)
}

func (k randomMMKind) open(_ context.Context, t Tools) (Flow, error) {
	o, ratio, unread := k.options()
	if err := errors.Join(ratio, unread); err != nil {
		return Flow{}, err
	}
	o.Vocabulary = k.vocabulary()
	t.Note(o.Lengths.Doubt())
	tok, err := t.Maker()
	if err != nil {
		return Flow{}, err
	}
	if tok == nil {
		return Flow{}, errors.New("dataset random-mm: needs a tokenizer, since chat takes text; give --tokenizer")
	}
	m, err := newRandomMM(o, tok)
	if err != nil {
		return Flow{}, err
	}
	m.encoder, err = media.NewEncoder(t.Lasting(), m.draws.Buckets)
	if err != nil {
		return Flow{},
			fmt.Errorf("dataset random-mm: --random-mm-bucket-config: %w; or set the weight of buckets with more than "+
				"one frame to 0", err)
	}
	return m.flow(), nil
}

// mediaPrompts are random prompts with random images and videos, those of vLLM's random-mm for the same seed and
// tokenizer: the same texts, and media of the same pixels. They are made as they are asked for, a few ahead of need:
// while one request is drawn after another, media of those before are encoded.
type mediaPrompts struct {
	prompts *randomPrompts
	draws   media.Draws
	chat    bool
	encoder *media.Encoder
	begun   []mmRequest // not handed on yet
	end     error       // why there are no more
}

// mmRequest is a request on its way.
type mmRequest struct {
	Conversation
	media []*media.Encoding
	size  int // of the samples of its media, in bytes
}

// newRandomMM prepares the prompts and media that o describes, without an encoder.
func newRandomMM(o randomMMOptions, tok tokenizer.Tokenizer) (*mediaPrompts, error) {
	draws, err := media.NewDraws(o.BaseItems, o.ItemsRatio, o.Limits, o.Buckets)
	if err != nil {
		return nil, inDataset("random-mm", err)
	}
	m := &mediaPrompts{draws: draws, chat: o.MultimodalChat}
	m.prompts = newRandom("random-mm", o.RandomOptions, tok)
	if tok != nil && !m.prompts.assumed {
		m.prompts.vocab.Special = tok.AddedSpecialIDs() // a wider set, which vLLM leaves out only here
	}
	return m, m.prompts.prepare()
}

// draw makes a prompt and then draws its media from the same generator; take draws the samples of each.
func (m *mediaPrompts) draw(take func(media.Bucket)) (Conversation, error) {
	c, err := m.prompts.next()
	if err == nil {
		m.draws.Request(&m.prompts.gen, take)
	}
	return c, err
}

// next makes the next request.
func (m *mediaPrompts) next() (Conversation, error) {
	m.begin()
	if len(m.begun) == 0 {
		return Conversation{}, m.end
	}
	r := m.begun[0]
	m.begun[0] = mmRequest{} // its images are large, and not ours to keep
	m.begun = m.begun[1:]
	c, err := r.finish(m.chat)
	if err != nil {
		m.begun, m.end = nil, fmt.Errorf("dataset random-mm, request %s: %w", r.ID, err)
		return Conversation{}, m.end
	}
	return c, nil
}

// begin draws requests and begins to encode their media, until enough are in work.
func (m *mediaPrompts) begin() {
	size := 0
	for _, r := range m.begun {
		size += r.size
	}
	for m.end == nil && (len(m.begun) == 0 || len(m.begun) < media.Window() && size < media.WindowBytes) {
		var r mmRequest
		r.Conversation, m.end = m.draw(func(b media.Bucket) {
			r.size += b.Size()
			r.media = append(r.media, m.encoder.Begin(b, m.prompts.gen.Fill))
		})
		if m.end == nil {
			m.begun = append(m.begun, r)
			size += r.size
		}
	}
}

// finish puts the media into the message.
func (r *mmRequest) finish(chat bool) (Conversation, error) {
	var parts [][]byte
	for _, medium := range r.media {
		part, err := medium.Part()
		if err != nil {
			return Conversation{}, err
		}
		parts = append(parts, part)
	}
	turn := &r.Turns[0]
	switch {
	case chat:
		turn.Messages = chatMessages(turn.Text, bytes.Join(parts, []byte{','}))
	case len(parts) == 1: // without a copy
		turn.Media = parts[0]
	default:
		turn.Media = bytes.Join(parts, []byte{','})
	}
	return r.Conversation, nil
}

// flow gives the requests to their end. Closing it waits for the media that are in work.
func (m *mediaPrompts) flow() Flow {
	return Flow{Next: m.next, Len: m.prompts.flow().Len, About: m.description(), Close: m.encoder.Close}
}

func (m *mediaPrompts) description() string {
	count := fmt.Sprint(m.draws.Lo)
	if m.draws.Hi > m.draws.Lo {
		count += fmt.Sprintf(" to %d", m.draws.Hi)
	}
	var shapes []string
	kind := "images"
	for _, b := range m.draws.Buckets {
		frames := ""
		if b.Frames > 1 {
			frames, kind = fmt.Sprintf(" and %d frames", b.Frames), "images or videos"
		}
		shapes = append(shapes, fmt.Sprintf("%d by %d pixels%s (%.3g %%)", b.Height, b.Width, frames, 100*b.Weight))
	}
	return fmt.Sprintf("%s, with %s random %s each of %s", m.prompts.description(), count, kind,
		strings.Join(shapes, " or "))
}
