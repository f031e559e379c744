package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/tokenizer"
)

type randomCase struct {
	toyCase
	OutputLen  int             `json:"random_output_len"`
	PrefixLen  int             `json:"random_prefix_len"`
	Batch      int             `json:"random_batch_size"`
	IDPrefix   string          `json:"request_id_prefix"`
	InputLens  []int           `json:"input_lens"`
	OutputLens []int           `json:"output_lens"`
	Offsets    []int           `json:"offsets"`
	Prefix     []int           `json:"prefix_token_ids"`
	Requests   []randomRequest `json:"requests"`
	NextUint64 string          `json:"rng_check_next_uint64"`
}

type randomRequest struct {
	ID     string     `json:"request_id"`
	Input  int        `json:"prompt_len"`
	Output int        `json:"expected_output_len"`
	IDs    oneOrMore  `json:"token_ids"`
	First8 oneOrMore  `json:"first8"` // fewer of a shorter prompt
	Last8  oneOrMore  `json:"last8"`
	Sums   oneOrMores `json:"sha256"`
}

// oneOrMore is the ids of one prompt, or of each prompt of a batch; nil where the file leaves them out.
type oneOrMore [][]int

func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	var one []int
	if json.Unmarshal(b, &one) == nil {
		*o = [][]int{one}
		return nil
	}
	return json.Unmarshal(b, (*[][]int)(o))
}

type oneOrMores []string

func (o *oneOrMores) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		b = fmt.Appendf(nil, "[%s]", b)
	}
	return json.Unmarshal(b, (*[]string)(o))
}

func (c randomCase) options(t *testing.T) RandomOptions {
	ratio := rangeRatio(t, c.Ratio)
	return RandomOptions{Common: Common{Prompts: c.Prompts, IDPrefix: c.IDPrefix, Seed: c.Seed},
		InputLen: c.InputLen, OutputLen: c.OutputLen, PrefixLen: c.PrefixLen, Ratio: ratio, Batch: c.Batch}
}

func randomCases(t *testing.T) []randomCase {
	var file struct{ Cases []randomCase }
	goldenCases(t, "random_dataset.json", &file)
	return file.Cases
}

func TestRandomGolden(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, c := range randomCases(t) {
		t.Run(c.Name, c.check)
	}
}

func (c randomCase) check(t *testing.T) {
	tok := c.toy(t)
	r := must(startRandom(c.options(t), tok))(t)
	c.checkDraws(t, r)
	same(t, "length", r.flow().Len, len(c.Requests))
	got := drain(t, r.flow())
	assert.Need(t, len(got), len(c.Requests), "requests")
	for i, want := range c.Requests {
		want.check(t, got[i], func(p Turn) []int { return parseIDs(p.Text) })
	}
	same(t, "next word of the generator", fmt.Sprint(r.gen.Uint64()), c.NextUint64)
}

// checkDraws compares the three array draws and the prefix, on copies of the generators.
func (c randomCase) checkDraws(t *testing.T, r *randomPrompts) {
	t.Helper()
	array := func(d draws) []int {
		values := make([]int, c.Prompts)
		for i := range values {
			values[i] = d.next()
		}
		return values
	}
	same(t, "input lengths", array(r.inputs), c.InputLens)
	same(t, "output lengths", array(r.outputs), c.OutputLens)
	same(t, "offsets", array(r.offsets), c.Offsets)
	same(t, "prefix", append([]int{}, r.prefix...), c.Prefix)
}

func (want randomRequest) check(t *testing.T, got Conversation, ids func(Turn) []int) {
	t.Helper()
	turn := got.Turns[0]
	same(t, "request id", got.ID, want.ID)
	same(t, want.ID+" input tokens", turn.InputTokens, want.Input)
	same(t, want.ID+" output tokens", turn.MaxTokens, want.Output)
	prompts := []Turn{turn}
	if turn.Batch != nil {
		prompts = turn.Batch
	}
	assert.Need(t, len(prompts), len(want.Sums), "%s: prompts", want.ID)
	for i, p := range prompts {
		sum := sha256.Sum256([]byte(joinIDs(ids(p), ",")))
		same(t, want.ID+" checksum", hex.EncodeToString(sum[:]), want.Sums[i])
		if want.IDs != nil {
			same(t, want.ID+" ids", ids(p), want.IDs[i])
		}
		if want.First8 != nil {
			all := ids(p)
			same(t, want.ID+" first ids", all[:min(len(all), 8)], want.First8[i])
			same(t, want.ID+" last ids", all[max(0, len(all)-8):], want.Last8[i])
		}
	}
}

// With a tokenizer that loses nothing, prompts as ids are the ids behind the prompts as text.
func TestRandomAsTokenIDs(t *testing.T) {
	for _, c := range randomCases(t) {
		if c.Tokenizer != "identity" || c.Adds > 0 {
			continue // without a tokenizer no special tokens are added, so lengths differ
		}
		t.Run(c.Name, func(t *testing.T) {
			o := c.options(t)
			o.Vocabulary = Vocabulary{Size: c.Vocab, Special: c.Special}
			r := must(startRandom(o, nil))(t)
			for i, got := range drain(t, r.flow()) {
				same(t, "text", got.Turns[0].Text, "")
				c.Requests[i].check(t, got, func(p Turn) []int { return p.TokenIDs })
			}
			same(t, "next word of the generator", fmt.Sprint(r.gen.Uint64()), c.NextUint64)
		})
	}
}

// A server's tokenizer does not say how many ids it knows.
func TestRandomOfUnknownVocabulary(t *testing.T) {
	o := RandomDefaults()
	o.Prompts, o.InputLen, o.PrefixLen = 40, 50, 3
	tests := []struct {
		given    Vocabulary
		lo, hi   int
		describe string
	}{
		{Vocabulary{}, 1000, 31999, "as text of token ids 1000 to 31999 (assumed"},
		{Vocabulary{Size: 70, Special: []int{69}}, 1, 68, "as text of token ids 0 to 69 (assumed"},
	}
	for _, test := range tests {
		o.Vocabulary = test.given
		r := must(NewRandom(o, newToy(t, "identity", 0, []int{0}, 1)))(t)
		for _, c := range drain(t, r) {
			ids := parseIDs(c.Turns[0].Text)
			same(t, "tokens", len(ids), 52)
			if slices.Min(ids) < test.lo || slices.Max(ids) > test.hi {
				t.Fatalf("got ids %d, want %d to %d", ids, test.lo, test.hi)
			}
		}
		if !strings.Contains(r.About, test.describe) || !strings.Contains(r.About, "not vLLM's workload") {
			t.Errorf("got %q, want %q in it", r.About, test.describe)
		}
	}
}

func TestRandomMiss(t *testing.T) {
	for _, c := range randomCases(t) {
		if c.Prompts > 100 {
			continue // long, and with a tokenizer that misses nothing
		}
		r := must(NewRandom(c.options(t), c.toy(t)))(t)
		drain(t, r)
		want := 0
		for i, request := range c.Requests {
			want += request.Input
			for j := i * c.Batch; j < min((i+1)*c.Batch, c.Prompts); j++ {
				want -= c.PrefixLen + c.InputLens[j]
			}
		}
		same(t, c.Name+": tokens missed", r.Miss(), want)
	}
}

// Ends of lists, prefixes and retries must not let one prompt write into another.
func TestRandomPromptsShareNothing(t *testing.T) {
	o := RandomDefaults()
	o.Prompts, o.InputLen, o.PrefixLen = 3, 5, 4
	make3 := func(spoil bool) []Conversation {
		r := must(NewRandom(o, nil))(t)
		var all []Conversation
		for range 3 {
			c := must(r.Next())(t)
			kept := append([]int(nil), c.Turns[0].TokenIDs...)
			if spoil {
				clear(append(c.Turns[0].TokenIDs, 1, 2, 3))
			}
			all = append(all, Conversation{ID: c.ID, Turns: []Turn{{TokenIDs: kept}}})
		}
		return all
	}
	same(t, "prompts", make3(true), make3(false))
}

func TestRandomTokenizerErrors(t *testing.T) {
	o := RandomDefaults()
	r := must(NewRandom(o, brokenToy{toy{size: 10}}))(t)
	complains(t, failure(r.Next()), "dataset random, prompt 0", "no server")
	o.Batch = 2
	r = must(NewRandom(o, brokenToy{toy{size: 10}}))(t)
	complains(t, failure(r.Next()), "dataset random, prompt 0", "no server")
	o.PrefixLen = 1
	complains(t, failure(NewRandom(o, brokenToy{toy{size: 10}})), "dataset random, prefix", "no server")
}

// The golden file lists inputs to refuse, with the reason vLLM gives first, and inputs to accept. One of those that
// vLLM refuses is accepted on purpose: without a tokenizer, prompts are token ids.
func TestRandomRefusals(t *testing.T) {
	reasons := map[string]string{
		"total_input_below_one":            "prompts without a single token",
		"input_range_ratio_out_of_bounds":  "input range ratio",
		"output_range_ratio_out_of_bounds": "output range ratio",
		"range_ratio_dict_missing_key":     `"output" is missing`,
	}
	seen, differ := 0, 0
	for _, c := range refusals(t, "random") {
		var args struct {
			Input  int             `json:"input_len"`
			Prefix int             `json:"prefix_len"`
			Ratio  json.RawMessage `json:"range_ratio"`
			Adds   int             `json:"num_special_tokens_to_add"`
		}
		if !c.arguments(t, &args) {
			same(t, "the case without arguments", c.Case, "random no tokenizer")
			if _, err := NewRandom(RandomDefaults(), nil); err != nil {
				t.Errorf("without a tokenizer: got error %v, want none", err)
			}
			differ++
			continue
		}
		seen++
		ratio, err := ParseRangeRatio(string(args.Ratio))
		if err == nil {
			o := RandomDefaults()
			o.InputLen, o.PrefixLen, o.Ratio = args.Input, args.Prefix, ratio
			_, err = NewRandom(o, newToy(t, "identity", 100, nil, args.Adds))
		}
		switch {
		case c.Error == "" && err != nil:
			t.Errorf("%+v: got error %v, want none", args, err)
		case c.Error != "":
			words, known := reasons[c.Error]
			if !known {
				t.Fatalf("%+v: nobody knows the reason %q", args, c.Error)
			}
			complains(t, err, words)
		}
	}
	if seen != 10 || differ != 1 {
		t.Errorf("got %d inputs for random and %d that differ, want 10 and 1", seen, differ)
	}
}

func TestBlocks(t *testing.T) {
	ci.SkipUnderRace(t)
	o := RandomDefaults()
	o.Prompts, o.InputLen, o.Seed, o.IDPrefix, o.PrefixLen = 1, 12, 7, "b-", 2
	o.Ratio = RangeRatio{0.5, 0.5}
	for _, batch := range []int{1, 300} {
		o.Batch = batch
		b := must(NewBlocks(o, nil))(t)
		number := 0
		for seed := int64(7); seed < 10; seed++ {
			alone := o
			alone.Seed, alone.Prompts = seed, 1000
			r := must(NewRandom(alone, nil))(t)
			for _, want := range drain(t, r) {
				want.ID = fmt.Sprint("b-", number)
				number++
				got := must(b.Next())(t)
				same(t, "request of a block", got, want)
			}
		}
	}
}

func TestBlocksRunOutOfSeeds(t *testing.T) {
	o := RandomDefaults()
	o.InputLen, o.Seed, o.Batch = 1, math.MaxInt64, 1000
	b := must(NewBlocks(o, nil))(t)
	must(b.Next())(t)
	complains(t, failure(b.Next()), "no seeds left")
	o.Seed = -1
	complains(t, failure(NewBlocks(o, nil)), "seed -1")
}

func TestBlocksCountMisses(t *testing.T) {
	o := RandomDefaults()
	o.InputLen, o.Batch = 4, 1000
	tok := newToy(t, "grow", 997, nil, 0)
	b := must(NewBlocks(o, tok))(t)
	same(t, "length", b.Len, 0)
	last := 0
	for range 2 {
		must(b.Next())(t)
		if b.Miss() <= last {
			t.Errorf("got %d tokens missed after %d, want more", b.Miss(), last)
		}
		last = b.Miss()
	}
}

var _ tokenizer.Tokenizer = toy{}

func BenchmarkRandomAsTokenIDs(b *testing.B) {
	o := RandomDefaults()
	blocks := must(NewBlocks(o, nil))(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := blocks.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewRandom(b *testing.B) {
	o := RandomDefaults()
	o.Prompts, o.Ratio = 1_000_000, RangeRatio{0.5, 0.5}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewRandom(o, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// With whole blocks the prefixes have the asked share over all prompts, for any cache whose blocks divide them.
func TestWarmBlocks(t *testing.T) {
	for _, length := range []int{200, 600, 1000} {
		o := RandomOptions{Common: Common{Prompts: 400, Seed: 3, PromptTokenIDs: true}, InputLen: length, OutputLen: 20,
			Batch: 1, Ratio: RangeRatio{0.3, 0.3}, Warm: 1, WarmPrefix: 0.6, WarmBlock: 128}
		f := must(NewRandom(o, nil))(t)
		cached, all := 0, 0
		for range o.Prompts {
			ids := must(f.Next())(t).Turns[0].TokenIDs
			n := 0
			for n < min(len(ids), len(f.Prefix)) && ids[n] == f.Prefix[n] {
				n++
			}
			cached, all = cached+n/128*128, all+len(ids)
		}
		if share := float64(cached) / float64(all); share < 0.59 || share > 0.61 {
			t.Errorf("%d tokens: a cache of blocks has %.3f, want 0.6", length, share)
		}
	}
}

// Of the prompts of a warm cache the asked share begins with one prefix, which is the asked share of each; the lengths
// and the other prompts are those of a run without, and a run without end goes on with the same prefix.
func TestWarmPrompts(t *testing.T) {
	o := RandomOptions{Common: Common{Prompts: 2500, Seed: 3, PromptTokenIDs: true}, InputLen: 100, OutputLen: 20,
		Batch: 1, Ratio: RangeRatio{0.5, 0.5}}
	warm := o
	warm.Warm, warm.WarmPrefix = 0.3, 0.75
	plain := must(NewRandom(o, nil))(t)
	finite := must(NewRandom(warm, nil))(t)
	endless := must(NewBlocks(warm, nil))(t)
	for name, source := range map[string]Flow{"finite": finite, "endless": endless} {
		var longest []int // prefix so far
		hits := 0
		for i := range warm.Prompts {
			c := must(source.Next())(t)
			turn := c.Turns[0]
			same := turn
			if name == "finite" {
				c, _ := plain.Next()
				same = c.Turns[0]
			}
			if turn.InputTokens != len(turn.TokenIDs) || turn.InputTokens != same.InputTokens ||
				turn.MaxTokens != same.MaxTokens {
				t.Fatalf("%s %d: %d ids, %d and %d tokens, want %d and %d", name, i, len(turn.TokenIDs),
					turn.InputTokens, turn.MaxTokens, same.InputTokens, same.MaxTokens)
			}
			if run := turn.TokenIDs[1] == turn.TokenIDs[0]+1 && turn.TokenIDs[2] == turn.TokenIDs[0]+2; run ||
				slices.Equal(turn.TokenIDs, same.TokenIDs) && name == "finite" {
				continue // cold: ids in a row
			}
			hits++
			prefix := turn.TokenIDs[:turn.InputTokens*3/4]
			if n := min(len(prefix), len(longest)); !slices.Equal(prefix[:n], longest[:n]) {
				t.Fatalf("%s %d: another prefix", name, i)
			}
			if rest := turn.TokenIDs[len(prefix):]; len(rest) > 1 && rest[1] != rest[0]+1 {
				t.Errorf("%s %d: the prefix is longer than %d of %d", name, i, len(prefix), turn.InputTokens)
			}
			if len(prefix) > len(longest) {
				longest = prefix
			}
		}
		if hits < 680 || hits > 820 { // 750 and more than three standard deviations
			t.Errorf("%s: %d of 2500 prompts are warm, want 30%%", name, hits)
		}
	}
	if got, want := finite.About, "(30% of the prompts begin with a common prefix of 75%)"; !strings.Contains(got,
		want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	for _, c := range []struct {
		change func(*RandomOptions)
		want   string
	}{
		{func(o *RandomOptions) { o.Warm = 0 }, "must both be above 0"},
		{func(o *RandomOptions) { o.WarmPrefix = 1.5 }, "--random-cache-ratio 1.5 must be between 0 and 1"},
		{func(o *RandomOptions) { o.Warm = math.NaN() }, "--random-cache-hit-fraction NaN must be between 0 and 1"},
		{func(o *RandomOptions) { o.PromptTokenIDs = false }, "needs --prompt-token-ids"},
		{func(o *RandomOptions) { o.PrefixLen = 5 }, "--random-prefix-len and --random-cache-ratio: choose one"},
	} {
		bad := warm
		c.change(&bad)
		complains(t, bad.Validate(), c.want)
	}
}
