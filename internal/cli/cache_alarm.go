package cli

import (
	"fmt"

	"benchtop/metrics"
)

// cacheAlarm notices that the server's prefix cache knows much more of the prompts than they have in common: then a run
// before this one, or somebody else, sent them already, and the server does less work than it seems to.
type cacheAlarm struct {
	queries, hits float64
	given         bool
}

// A cache that knows cacheExcess more of the tokens than the prompts share is no coincidence, once cacheTokens were looked
// up.
const (
	cacheExcess = 0.2
	cacheTokens = 5000
)

// templateTokens are what a server's chat template may put before every prompt: those of today's models take some twenty to
// two hundred, and how many is not known here.
const templateTokens = 256

// share is the part of the prompt tokens, from 0 to 1, that the prompts of this run have in common at most; 1 where that is
// not known.
func (s *session) share() float64 {
	template := 0.0
	if isChat(s.plan.Backend) {
		template = templateTokens
	}
	return s.supplies.share(template)
}

// words are the alarm, once; "" for none. share is the part of the prompt tokens, from 0 to 1, that a perfect cache would
// know from this run alone.
func (a *cacheAlarm) words(s *metrics.ServerSecond, share float64, cold bool) string {
	if a.given || !metrics.Said(s.PrefixQueries) || !metrics.Said(s.PrefixHits) {
		return ""
	}
	a.queries += s.PrefixQueries
	a.hits += s.PrefixHits
	if a.queries < cacheTokens || a.hits/a.queries < share+cacheExcess {
		return ""
	}
	a.given = true
	why := "they are warm from an earlier run, or somebody else sends them: --cache cold keeps earlier runs out"
	if cold {
		why = "somebody else seems to send prompts as well"
	}
	return fmt.Sprintf("the server's prefix cache knew %.0f%% of the prompt tokens, though the prompts have no more than %.0f%% in common; %s",
		100*a.hits/a.queries, 100*share, why)
}
