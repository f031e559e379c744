package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
)

// CacheHit asks for prompts of which the server's prefix cache has a share.
type CacheHit struct {
	text  string
	Share float64 // of the prompt tokens, from 0 to 1; 0 where it is not asked for
}

const (
	cacheHitFlag = "cache-hit"
	// cacheBlock is a multiple of the blocks of prefix caches: 16 to 128 tokens in vLLM.
	cacheBlock = 128
)

func (o *CacheHit) define(f *pflag.FlagSet) {
	f.StringVar(&o.text, cacheHitFlag, "", "share of the prompt tokens that the server's prefix cache has, "+
		"such as 60%: all prompts begin with one prefix, which is sent before the run")
}

// fits reports what keeps the share from being reached.
func fits(f *pflag.FlagSet, share float64) (p usage.Problems) {
	text := func(flag string) string { return f.Lookup(flag).Value.String() }
	p.BadIf(text("cache") == "none", "--%s and --cache none: no prompt hits the cache then; leave one out",
		cacheHitFlag)
	if to := protocol.Named(text("backend")); to != nil && !to.Traits().Forms.Overlap(datasets.AsTokenIDs) {
		p.Bad("--%s: its prompts are token ids, which backend %s does not take; use --backend %s", cacheHitFlag,
			text("backend"), protocol.Names(datasets.AsTokenIDs))
	}
	length, block := number(f, "random-input-len"), cacheBlock
	if f.Changed("input-len") {
		length = number(f, "input-len")
	}
	if f.Changed("random-cache-block") {
		block = number(f, "random-cache-block")
	}
	drawn := slices.ContainsFunc([]string{"random-isl-dist", "random-mix", "random-range-ratio"}, f.Changed)
	p.BadIf(!drawn && block > 0 && float64(length/block*block) < share*float64(length), "--%s %.4g%%: too much for "+
		"prompts of %d tokens in whole blocks of %d; try longer prompts, or --random-cache-block 16 if the server's "+
		"blocks are so small", cacheHitFlag, 100*share, length, block)
	return p
}

// apply sets the flags that make such prompts, unless the user gave them.
func (o *CacheHit) apply(flags *argv.Flags) (p usage.Problems) {
	given := flags.All().Changed
	if !given(cacheHitFlag) {
		return nil
	}
	number, percent := strings.CutSuffix(o.text, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share < 1) {
		p.Bad("--%s %s: expected a share between 0 and 100%%, such as 60%%", cacheHitFlag, usage.Quote(o.text))
		return p
	}
	for _, other := range []string{"random-cache-hit-fraction", "random-cache-ratio", "random-prefix-len"} {
		p.BadIf(given(other), "--%s and --%s: choose one", cacheHitFlag, other)
	}
	if name := flags.All().Lookup("dataset-name").Value.String(); name != "random" {
		p.Bad("--%s: needs --dataset-name random, not %s", cacheHitFlag, usage.Quote(name))
	}
	p = append(p, fits(flags.All(), share)...)
	if len(p) > 0 {
		return p
	}
	o.Share = share
	return flags.Preset(argv.To("random-cache-hit-fraction", "1"),
		argv.To("random-cache-ratio", strconv.FormatFloat(share, 'g', -1, 64)), argv.To("prompt-token-ids", "true"),
		argv.To("random-cache-block", cacheBlock), argv.To("cache", "cold"))
}
