package datasets

import (
	"errors"
	"fmt"

	"benchtop/datasets/lengths"
)

// spreadFlags say how the lengths of random prompts and answers are spread, other than by a range ratio.
type spreadFlags struct{ input, output, mix string }

func (s *spreadFlags) define(f Flags) {
	f.StringVar(&s.input, "random-isl-dist", "", `distribution of prompt lengths: "normal mean=1024 std=200", `+
		`"lognormal mean=1024 std=600 max=8192", "zipf alpha=1.2 max=8192" or "uniform min=9 max=99"`)
	f.StringVar(&s.output, "random-osl-dist", "", "distribution of output lengths, in the same form")
	f.StringVar(&s.mix, "random-mix", "", `mix requests of several lengths, WEIGHT: INPUT/OUTPUT, as "60: 256/128; `+
		`40: lognormal mean=4096 std=2000 max=16384/512"`)
}

// outputLen is the length of all answers, where that of other flags is given; 0 where they differ.
func (s *spreadFlags) outputLen(others int) int {
	if s.output != "" || s.mix != "" {
		return 0
	}
	return others
}

// lengths are those of the flags, nil for none. Prompts or answers without a distribution are as long as the other
// flags say.
func (s *spreadFlags) lengths(input, output int) (lengths.Mix, error) {
	if s.mix != "" {
		mix, err := lengths.ParseMix(s.mix)
		return mix, within("--random-mix", err)
	}
	if s.input == "" && s.output == "" {
		return nil, nil
	}
	read := func(flag, text string, fixed int) (lengths.Distribution, error) {
		if text == "" {
			return lengths.Fixed(fixed), nil
		}
		d, err := lengths.Parse(text)
		return d, within(flag, err)
	}
	in, err1 := read("--random-isl-dist", s.input, input)
	out, err2 := read("--random-osl-dist", s.output, max(1, output))
	return lengths.Mix{{Weight: 1, Input: in, Output: out}}, errors.Join(err1, err2)
}

// drawLengths draws the lengths of all prompts and answers, unless they are given.
func (r *randomPrompts) drawLengths() {
	if r.o.Lengths != nil {
		pairs := r.o.Lengths.Draw(&r.gen, r.o.Prompts)
		r.pair = func(i int) lengths.Pair { return pairs[i] }
	}
	if r.pair == nil {
		r.inputs, r.outputs = drawLengths(&r.gen, max(0, r.o.InputLen-r.special), r.o.OutputLen, r.o.Ratio, r.o.Prompts)
	}
}

// longest is the length of the longest prompt.
func (r *randomPrompts) longest() int {
	if r.pair == nil {
		return int(r.inputs.hi - 1)
	}
	longest := int32(0)
	for i := range r.o.Prompts {
		longest = max(longest, r.pair(i).Input)
	}
	return int(longest)
}

// inputLen is the length of the next prompt that is begun, without prefix and special tokens. Where these take up all
// of it, 1 is left.
func (r *randomPrompts) inputLen() int {
	if r.pair == nil {
		return r.inputs.next()
	}
	least := 1
	if r.o.PrefixLen > 0 {
		least = 0
	}
	return max(least, int(r.pair(r.begun).Input)-r.special)
}

// outputLen is the length of the next answer.
func (r *randomPrompts) outputLen() int {
	if r.pair == nil {
		return r.outputs.next()
	}
	return int(r.pair(r.made).Output)
}

// spreads say how long prompts and answers are, as asked for and as drawn.
func (r *randomPrompts) spreads() (input, output string) {
	if r.pair == nil {
		return r.inputs.String(), r.outputs.String()
	}
	in, out := lengths.Summarize(r.o.Prompts, r.pair)
	if len(r.o.Lengths) > 1 {
		return fmt.Sprintf("mix of %s; drawn: %s", r.o.Lengths, in), out.String()
	}
	asked := func(d lengths.Distribution, drawn lengths.Summary) string {
		if d.Name == "" {
			return d.String()
		}
		return fmt.Sprintf("%s (drawn: %s)", d, drawn)
	}
	return asked(r.o.Lengths[0].Input, in), asked(r.o.Lengths[0].Output, out)
}
