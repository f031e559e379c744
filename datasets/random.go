package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"benchtop/datasets/lengths"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/usage"
)

// RandomOptions describes prompts made of random tokens. Lengths are in tokens.
type RandomOptions struct {
	Common

	InputLen  int // prompt length, the prefix not counted
	OutputLen int // output length asked for, at least 1 once drawn
	PrefixLen int // tokens that all prompts begin with
	Ratio     RangeRatio
	// Lengths are drawn instead of InputLen, OutputLen and Ratio; nil to go by these.
	Lengths lengths.Mix
	Batch   int // prompts in one request; above 1 only for completions and pooling endpoints

	// Warm is the share of prompts that begin with a common prefix, which takes the share WarmPrefix of such a prompt;
	// both from 0 to 1. InputLen is then the whole length, and prompts are token ids, since a text may be tokenized
	// across the end of a prefix.
	Warm       float64
	WarmPrefix float64
	// WarmBlock makes the prefix of each prompt whole blocks of so many tokens, as prefix caches have them, so that
	// prompts have the share WarmPrefix together; 0 for the share in each.
	WarmBlock int

	// Vocabulary is used when prompts are sent as token ids; a tokenizer brings its own.
	Vocabulary Vocabulary
}

// RandomDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length.
func RandomDefaults() RandomOptions {
	return RandomOptions{Common: Common{Prompts: 1000}, InputLen: 1024, OutputLen: 128, Batch: 1}
}

// maxLen bounds each length: well above the longest contexts, and still little enough for memory.
const maxLen = lengths.Most

// Validate reports every problem with the options that can be told without a tokenizer.
func (o RandomOptions) Validate() error { return o.validate(0) }

// validate knows how many special tokens the tokenizer adds to a prompt. They are part of the input length.
func (o RandomOptions) validate(specialTokens int) error {
	p := o.problems()
	if o.Lengths != nil { // of which each is at least 1
		return p.of("random")
	}
	// vLLM looks at the shortest prompt before it looks at the ratio, so a ratio of 1 is refused for both reasons.
	length := max(0, o.InputLen-specialTokens)
	if shortest := float64(o.PrefixLen) + math.Floor(float64(length)*(1-o.Ratio.Input)); !(shortest >= 1) {
		p.add("input length %d, of which %d are special tokens, with input range ratio %v and prefix length %d "+
			"allows prompts without a single token; ask for more input tokens or a smaller ratio",
			o.InputLen, specialTokens, o.Ratio.Input, o.PrefixLen)
	}
	return p.of("random")
}

// problems are the faults that do not depend on a tokenizer.
func (o RandomOptions) problems() *problems {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("input length", o.InputLen, 0, maxLen)
	p.between("output length", o.OutputLen, 0, maxLen)
	p.between("prefix length", o.PrefixLen, 0, maxLen)
	p.between("batch size", o.Batch, 1, math.MaxInt32)
	p.seed(o.Seed, math.MaxInt64)
	p.ratio(o.Ratio)
	o.checkWarm(p)
	return p
}

func (o RandomOptions) checkWarm(p *problems) {
	share := func(flag string, value float64) {
		if !(value >= 0 && value <= 1) {
			p.add("--%s %v must be between 0 and 1", flag, value)
		}
	}
	share("random-cache-hit-fraction", o.Warm)
	share("random-cache-ratio", o.WarmPrefix)
	switch {
	case o.Warm == 0 && o.WarmPrefix == 0:
	case o.Warm == 0 || o.WarmPrefix == 0:
		p.add("--random-cache-hit-fraction and --random-cache-ratio must both be above 0")
	case !o.PromptTokenIDs:
		p.add("--random-cache-hit-fraction needs --prompt-token-ids: a text may be tokenized across the end of the " +
			"common prefix")
	case o.WarmBlock < 0 || o.WarmBlock > maxLen:
		p.add("--random-cache-block %d must be between 0 and %d", o.WarmBlock, maxLen)
	case o.PrefixLen > 0:
		p.add("--random-prefix-len and --random-cache-ratio: choose one")
	}
}

// randomFlags are those of the random family.
type randomFlags struct {
	RandomOptions
	ratio      string
	spread     spreadFlags
	noReranker bool
	vocabSize  *int
}

const randomHeading = "Data sets random, random-mm and random-rerank"

func (k *randomFlags) define(f Flags) {
	f.IntVar(&k.InputLen, "random-input-len", k.InputLen, "prompt length in tokens")
	f.IntVar(&k.OutputLen, "random-output-len", k.OutputLen, "output length in tokens")
	f.IntVar(&k.PrefixLen, "random-prefix-len", k.PrefixLen, "length of the prefix that all prompts share, in tokens")
	f.StringVar(&k.ratio, "random-range-ratio", "0.0",
		`vary lengths by up to this share; or {"input": 0.1, "output": 0.5}`)
	k.spread.define(f)
	f.Float64Var(&k.Warm, "random-cache-hit-fraction", 0,
		"random: share of the prompts that begin with a common prefix, 0 to 1; needs --random-cache-ratio and "+
			"--prompt-token-ids")
	f.Float64Var(&k.WarmPrefix, "random-cache-ratio", 0,
		"random: share of such a prompt that is the common prefix, 0 to 1; prompt lengths include it")
	f.IntVar(&k.WarmBlock, "random-cache-block", 0,
		"random: make the common prefix of each prompt whole blocks of so many tokens, with the share of "+
			"--random-cache-ratio over all prompts")
	f.IntVar(&k.Batch, "random-batch-size", k.Batch, "prompts per request, for pooling and completions")
	f.CountVar(k.vocabSize, "vocab-size", "draw token ids from a vocabulary of this size, without a tokenizer "+
		"(default: the tokenizer's, otherwise ids 1000 to 31999)")
	f.BoolVar(&k.noReranker, "no-reranker", false, "random-rerank: the model embeds query and documents separately")
}

// in are the options of the flags in a run. Where ratio or lengths cannot be read, the others are returned beside the
// error.
func (k *randomFlags) in(c Common) (o RandomOptions, err error) {
	o = k.RandomOptions
	o.Common, o.OutputLen = c, c.outputLen(o.OutputLen)
	if c.SharedInputLen > 0 {
		o.InputLen = c.SharedInputLen
	}
	o.Ratio, err = ParseRangeRatio(k.ratio)
	var spread error
	o.Lengths, spread = k.spread.lengths(o.InputLen, o.OutputLen)
	return o, errors.Join(within("--random-range-ratio "+usage.Quote(k.ratio), err), spread)
}

type randomKind struct {
	Common
	*randomFlags
}

func (k randomKind) Define(group func(string) Flags) { k.define(group(randomHeading)) }

func (k randomKind) needs() Needs {
	n := Needs{Forms: AsText | AsTokenIDs, FullLength: true, Aligned: true, TakesInputLen: true,
		OutputLen: k.spread.outputLen(k.outputLen(k.OutputLen))}
	if o, err := k.in(k.Common); err == nil && o.Lengths == nil && o.Ratio == (RangeRatio{}) {
		n.InputLen = (o.PrefixLen + o.InputLen) * o.Batch
	}
	if k.Batch > 1 {
		n.Forms, n.By = AsBatch, fmt.Sprintf("--random-batch-size %d", k.Batch)
		n.Why = "several prompts in a request are for completions and pooling endpoints"
	}
	return n
}

func (k randomKind) check() error {
	o, err := k.in(k.Common)
	return errors.Join(err, o.Validate())
}

func (k randomKind) open(_ context.Context, t Tools) (Flow, error) {
	o, err := k.in(k.Common)
	if err != nil {
		return Flow{}, err
	}
	t.Note(o.Lengths.Doubt())
	tok, vocab, err := k.maker(t)
	if err != nil {
		return Flow{}, err
	}
	if o.Vocabulary = vocab; tok != nil && o.Warm > 0 { // made as ids
		o.Vocabulary, _ = vocabularyFor(vocab, tok)
		tok = nil
	}
	if k.Endless {
		return NewBlocks(o, tok)
	}
	return NewRandom(o, tok)
}

// maker makes the text of synthetic prompts; where it is nil they are ids of the vocabulary.
func (c Common) maker(t Tools) (tok tokenizer.Tokenizer, vocab Vocabulary, err error) {
	vocab = c.vocabulary()
	if tok, err = t.Maker(); tok == nil && err == nil {
		vocab = t.TokenIDs()
	}
	return tok, vocab, err
}

// randomPrompts are made of random tokens, those of vLLM's random dataset for the same seed and tokenizer. With a
// tokenizer the prompts are text; without one they are token ids. They are made as they are asked for, a few ahead of
// need, so a large number of prompts costs neither memory nor a long wait before the first.
type randomPrompts struct {
	name    string
	o       RandomOptions
	tok     tokenizer.Tokenizer // nil: prompts are ids
	vocab   Vocabulary
	assumed bool  // the vocabulary is not known to be the model's
	ids     []int // those prompts may hold, ascending
	special int   // tokens that the tokenizer adds to each prompt, and that count as part of its length

	// Lengths and offsets of all prompts are drawn before anything else, one kind after the other. Each kind keeps the
	// generator as it stood at its beginning and draws again, prompt by prompt; gen is past all of them.
	// Those of warm come last, and say which prompts are.
	inputs, outputs, offsets, warm draws
	gen                            numpy.Generator
	// of prompt i, instead of inputs and outputs; nil to draw these
	pair func(i int) lengths.Pair

	// the beginning of all prompts, as the tokenizer gave it back, or of the warm ones, as far as they need it
	prefix []int
	ahead  fitQueue
	begun  int     // prompts that ahead has taken
	made   int     // prompts so far
	number int     // of the next request id
	miss   int     // tokens above those wanted, or below
	owed   float64 // tokens of the common prefix that prompts so far lack
}

// NewRandom prepares the prompts that o describes. tok may be nil: prompts are then ids of o.Vocabulary, sent as they
// are, and no room is left for special tokens, since a server adds none to ids. A tokenizer that does not know the size
// of its vocabulary, as a server's, makes text of ids of o.Vocabulary.
func NewRandom(o RandomOptions, tok tokenizer.Tokenizer) (Flow, error) {
	r, err := startRandom(o, tok)
	if err != nil {
		return Flow{}, err
	}
	f := r.flow()
	if tok == nil || tok.Concurrency() == 0 { // a server is not asked while it is measured
		f.More = r.more
	}
	return f, nil
}

// startRandom makes the prompts of valid options.
func startRandom(o RandomOptions, tok tokenizer.Tokenizer) (*randomPrompts, error) {
	r := newRandom("random", o, tok)
	if err := r.o.validate(r.special); err != nil {
		return nil, err
	}
	return r, r.prepare()
}

// newRandom makes prompts that are to be prepared.
func newRandom(name string, o RandomOptions, tok tokenizer.Tokenizer) *randomPrompts {
	r := &randomPrompts{name: name, o: o, tok: tok}
	r.vocab, r.assumed = vocabularyFor(o.Vocabulary, tok)
	if tok != nil {
		r.special = tok.SpecialTokensToAdd()
		r.o.Vocabulary = Vocabulary{}
	}
	return r
}

// flow gives the prompts to their end.
func (r *randomPrompts) flow() Flow {
	f := Flow{Next: r.next, Len: (r.o.Prompts-1)/r.o.Batch + 1, Miss: func() int { return r.miss },
		About: r.description()}
	if r.o.Warm == 1 {
		f.Prefix = r.prefix
	}
	return f
}

// more is random prompts without end, other ones than r's, for a load that is steered beyond them.
func (r *randomPrompts) more() (Flow, error) {
	o := r.o
	o.IDPrefix += "more-"
	o.Seed += 1 << 32 // beyond all that a plan may have
	return NewBlocks(o, r.tok)
}

// prepare lists the ids and starts.
func (r *randomPrompts) prepare() error {
	if err := r.vocab.validate(); err != nil {
		return inDataset(r.name, err)
	}
	r.ids = r.vocab.IDs()
	return r.start()
}

// another is the same prompts for another seed, whose request ids number on.
func (r *randomPrompts) another(seed int64) (*randomPrompts, error) {
	next := *r
	next.o.Seed, next.begun, next.made, next.miss = seed, 0, 0, 0
	return &next, next.start()
}

// start makes the draws that come before the first prompt.
func (r *randomPrompts) start() error {
	r.gen = *numpy.NewGenerator(uint64(r.o.Seed))
	r.ahead = fitQueue{tok: r.tok, begin: r.begin, draw: r.draw}
	r.drawLengths()
	r.offsets = drawAhead(&r.gen, 0, r.vocab.Size, r.o.Prompts)
	if r.o.Warm > 0 {
		r.owed = 0
		prefix := r.drawIDs(min(int(r.o.WarmPrefix*float64(r.longest()))+r.o.WarmBlock, r.longest()))
		if n := len(r.prefix); n < len(prefix) { // the beginning is that of the block before
			r.prefix = append(r.prefix[:n:n], prefix[n:]...)
		}
		r.warm = drawAhead(&r.gen, 0, warmParts, r.o.Prompts)
		return nil
	}
	if r.o.PrefixLen == 0 {
		return nil
	}
	prefix := r.drawIDs(r.o.PrefixLen)
	f := &tokenFit{ids: prefix, target: r.o.PrefixLen, retries: fitRetries}
	f.advance(r.tok)
	f.settle(r.tok, r.draw)
	if f.err != nil {
		return fmt.Errorf("dataset %s, prefix: %w", r.name, f.err)
	}
	r.prefix = f.ids
	return nil
}

// warmParts is how exactly the share of warm prompts is drawn.
const warmParts = 1 << 30

// drawIDs draws ids that prompts may hold.
func (r *randomPrompts) drawIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = r.ids[r.gen.Choice(len(r.ids))]
	}
	return ids
}

// draw gives an id of the whole vocabulary.
func (r *randomPrompts) draw() int { return r.vocab.First + r.gen.Choice(r.vocab.Size) }

// next makes the next request: one prompt, or as many as a batch holds.
func (r *randomPrompts) next() (Conversation, error) {
	if r.made == r.o.Prompts {
		return Conversation{}, io.EOF
	}
	request := r.prompt
	if r.o.Batch > 1 {
		request = r.batch
	}
	turn, err := request()
	r.number++
	return Conversation{ID: r.o.IDPrefix + strconv.Itoa(r.number-1), Turns: []Turn{turn}}, err
}

// batch makes one request of several prompts; the last may be short of some.
func (r *randomPrompts) batch() (Turn, error) {
	var all Turn
	for len(all.Batch) < r.o.Batch && r.made < r.o.Prompts {
		turn, err := r.prompt()
		if err != nil {
			return Turn{}, err
		}
		turn.MaxTokens = 0 // pooling generates nothing
		all.Batch = append(all.Batch, turn)
		all.InputTokens += turn.InputTokens
	}
	return all, nil
}

// begin is the next prompt as it is tried first: the prefix, then allowed ids in a row, from the prompt's offset plus
// its number on, so that equal offsets do not make equal prompts.
func (r *randomPrompts) begin() (ids []int, target int, ok bool) {
	if r.begun == r.o.Prompts {
		return nil, 0, false
	}
	length := r.inputLen()
	prefix, target := r.prefix, r.o.PrefixLen+length
	if r.o.Warm > 0 {
		if prefix = nil; float64(r.warm.next()) < r.o.Warm*warmParts {
			prefix = r.prefix[:r.warmLength(length)]
		}
		length -= len(prefix)
	}
	ids = append(make([]int, 0, len(prefix)+length), prefix...)
	ids = appendRun(ids, r.ids, r.offsets.next()+r.begun, length)
	r.begun++
	return ids, target, true
}

// warmLength is the length of the common prefix in a prompt of a length.
func (r *randomPrompts) warmLength(length int) int {
	share := r.o.WarmPrefix * float64(length)
	if r.o.WarmBlock <= 0 {
		return int(share)
	}
	r.owed += share
	blocks := min(int(r.owed), length, len(r.prefix)) / r.o.WarmBlock
	r.owed -= float64(blocks * r.o.WarmBlock)
	return blocks * r.o.WarmBlock
}

// prompt makes one prompt.
func (r *randomPrompts) prompt() (Turn, error) {
	f, err := r.ahead.next()
	if err != nil {
		return Turn{}, fmt.Errorf("dataset %s, prompt %d: %w", r.name, r.made, err)
	}
	turn := Turn{Text: f.text, InputTokens: len(f.ids), MaxTokens: r.outputLen()}
	r.made++
	r.miss += f.miss
	if r.tok == nil {
		turn.TokenIDs = f.ids
	}
	return turn, nil
}

// description is a line about the prompts, for the head of a report.
func (r *randomPrompts) description() string {
	prefix := ""
	switch {
	case r.o.PrefixLen > 0:
		prefix = fmt.Sprintf(" after a prefix of %d", r.o.PrefixLen)
	case r.o.Warm > 0:
		blocks := ""
		if r.o.WarmBlock > 0 {
			blocks = fmt.Sprintf(" on average, in whole blocks of %d tokens", r.o.WarmBlock)
		}
		prefix = fmt.Sprintf(" (%g%% of the prompts begin with a common prefix of %g%%%s)", 100*r.o.Warm,
			100*r.o.WarmPrefix, blocks)
	}
	input, output := r.spreads()
	return fmt.Sprintf("%s: %s input tokens%s%s, as %s", r.name, input, prefix, r.o.answers(output),
		formOf(r.vocab, r.tok != nil, r.assumed))
}
