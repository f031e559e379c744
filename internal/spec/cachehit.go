package spec

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
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
	if len(p) > 0 {
		return p
	}
	o.Share = share
	return flags.Preset(argv.To("random-cache-hit-fraction", "1"),
		argv.To("random-cache-ratio", strconv.FormatFloat(share, 'g', -1, 64)), argv.To("prompt-token-ids", "true"),
		argv.To("random-cache-block", cacheBlock), argv.To("cache", "cold"))
}
