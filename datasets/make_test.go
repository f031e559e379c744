package datasets

import (
	"context"
	"strings"

	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// Data sets as tests make them: of options that are checked, with the tools at hand.

// testTools are Tools that a test has.
type testTools struct {
	toyTools
	text    Text
	streams *numpy.Streams
}

func (g testTools) Text() Text              { return g.text }
func (g testTools) Streams() *numpy.Streams { return g.streams }

// opened is the list that a kind makes of options.
func opened(ctx context.Context, k Kind, c Common, text Text, s *numpy.Streams) (Flow, error) {
	if err := k.Validate(c); err != nil {
		return Flow{}, err
	}
	return k.Open(ctx, c, testTools{toyTools{notes: new([]string)}, text, s})
}

func NewShareGPT(ctx context.Context, o ShareGPTOptions, text Text, s *numpy.Streams) (Flow, error) {
	return opened(ctx, &shareGPTKind{o}, o.Common, text, s)
}

func NewSonnet(ctx context.Context, o SonnetOptions, text Text, s *numpy.Streams) (Flow, error) {
	c := o.Common
	if !o.Rendered {
		c.Forms = AsMessages
	}
	return opened(ctx, &sonnetKind{o}, c, text, s)
}

func NewCustom(ctx context.Context, o CustomOptions, text Text, s *numpy.Streams) (Flow, error) {
	return opened(ctx, &customKind{&customFlags{o.OutputLen}}, o.Common, text, s)
}

func NewCustomImage(ctx context.Context, o CustomImageOptions, text Text, s *numpy.Streams) (Flow, error) {
	return opened(ctx, &customImageKind{&customFlags{o.OutputLen}, o.ClientSideData}, o.Common, text, s)
}

func NewSpecBench(ctx context.Context, o SpecBenchOptions, text Text, s *numpy.Streams) (Flow, error) {
	return opened(ctx, &specBenchKind{o}, o.Common, text, s)
}

func NewSpeedBench(ctx context.Context, o SpeedBenchOptions, text Text, s *numpy.Streams) (Flow, error) {
	return opened(ctx, &speedBenchKind{o}, o.Common, text, s)
}

func NewBFCL(ctx context.Context, o BFCLOptions, text Text, s *numpy.Streams) (Flow, error) {
	k := newHF()
	k.bfcl, k.flags.name, k.flags.categories = o, BFCLRepository, strings.Join(o.Categories, ",")
	return opened(ctx, k, o.Common, text, s)
}

func NewPrefixRepetition(o PrefixRepetitionOptions, tok tokenizer.Tokenizer, s *numpy.Streams) (Flow, error) {
	if err := o.Validate(); err != nil {
		return Flow{}, err
	}
	return newPrefixRepetition(o, tok, s)
}

func NewBurstGPT(o BurstGPTOptions, tok tokenizer.Tokenizer) (Flow, error) {
	if err := o.Validate(); err != nil {
		return Flow{}, err
	}
	return newBurstGPT(o, tok)
}

func NewRerank(o RerankOptions, tok tokenizer.Tokenizer) (Flow, error) {
	if err := o.Validate(); err != nil {
		return Flow{}, err
	}
	return newRerank(o, tok)
}

func NewRandomMM(o RandomMMOptions, tok tokenizer.Tokenizer) (Flow, error) {
	if err := o.Validate(); err != nil {
		return Flow{}, err
	}
	m, err := encodedMM(o, tok)
	if err != nil {
		return Flow{}, err
	}
	return m.flow(), nil
}

func encodedMM(o RandomMMOptions, tok tokenizer.Tokenizer) (*mediaPrompts, error) {
	m, err := newRandomMM(o, tok)
	if err == nil {
		m.encoder, err = media.NewEncoder(context.Background(), m.draws.Buckets)
	}
	return m, err
}

// kindOf is the kind of a name with the flags' defaults.
func kindOf[K Kind](name string) K { return Named(Kinds(&Common{}), name).(K) }

func ShareGPTDefaults() ShareGPTOptions { return ShareGPTOptions{Common: Common{Prompts: 1000}} }
func burstGPTDefaults() BurstGPTOptions { return BurstGPTOptions{Common: Common{Prompts: 1000}} }

func SonnetDefaults() SonnetOptions {
	o := kindOf[*sonnetKind]("sonnet").SonnetOptions
	o.Prompts = 1000
	return o
}

func CustomDefaults() CustomOptions {
	return CustomOptions{Common: Common{Prompts: 1000}, OutputLen: 256}
}

func customImageDefaults() CustomImageOptions {
	return CustomImageOptions{Common: Common{Prompts: 1000}, OutputLen: 256}
}

func SpecBenchDefaults() SpecBenchOptions {
	o := kindOf[*specBenchKind]("spec_bench").SpecBenchOptions
	o.Prompts = 1000
	return o
}

func SpeedBenchDefaults() SpeedBenchOptions {
	o := kindOf[*speedBenchKind]("speed_bench").SpeedBenchOptions
	o.Prompts = 1000
	return o
}

func TimedTraceDefaults() TimedTraceOptions {
	o := kindOf[*timedTraceKind]("timed_trace").TimedTraceOptions
	o.Prompts = 1000
	return o
}

func BFCLDefaults() BFCLOptions {
	o := kindOf[*hfKind]("hf").bfcl
	o.Path, o.Prompts = BFCLRepository, 1000
	return o
}

func PrefixRepetitionDefaults() PrefixRepetitionOptions {
	o := kindOf[*prefixRepetitionKind]("prefix_repetition").PrefixRepetitionOptions
	o.Prompts = 1000
	return o
}

func rerankDefaults() RerankOptions {
	return RerankOptions{RandomOptions: RandomOptions{Common: Common{Prompts: 1000}, InputLen: 1024, Batch: 1}}
}

func RandomMMDefaults() RandomMMOptions {
	return RandomMMOptions{RandomOptions: RandomDefaults(), BaseItems: 1, Limits: media.DefaultLimits(), Buckets: media.DefaultBuckets()}
}
