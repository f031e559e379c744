package cli

import (
	"fmt"

	"benchtop/metrics"
)

// cacheAlarm notices that the server's prefix cache knows much more of the prompts than they have in common: then a run
// before this one, or somebody else, sent them already, and the server does less work than it seems to.
type cacheAlarm struct {
	queries, hits float64 // by its metrics page
	told          bool    // the page says so much
	given         bool
}

// A cache that knows cacheExcess more of the tokens than the prompts share is no coincidence, once cacheTokens were looked
// up.
const (
	cacheExcess = 0.2
	cacheTokens = 1000
)

// templateTokens are what a server's chat template may put before every prompt, at most, as far as nothing else is known: those
// of today's models take some twenty to two hundred.
const templateTokens = 256

// share is the part of the prompt tokens, from 0 to 1, that the prompts of this run have in common at most; 1 where that is
// not known.
func (s *session) share() float64 {
	template := 0.0
	if s.load.Protocol.Traits().Templates {
		template = templateTokens
		// What the server counted beyond the prompt itself is the template, if the prompt was counted well.
		if mean := s.view.TemplateTokens(); mean > 0 && s.plan.InputSource != metrics.TokensFromEstimate {
			template = min(mean, template)
		}
	}
	return s.supplies.Share(template)
}

// look takes in what the server's page says.
func (a *cacheAlarm) look(s *metrics.ServerSecond) {
	if metrics.Said(s.PrefixQueries) && metrics.Said(s.PrefixHits) {
		a.queries, a.hits, a.told = a.queries+s.PrefixQueries, a.hits+s.PrefixHits, true
	}
}

// words are the alarm, once; "" for none. Where the page does not tell of the cache, the answers may. share is the part of the
// prompt tokens, from 0 to 1, that a perfect cache would know from this run alone.
func (a *cacheAlarm) words(answers *metrics.Totals, share float64, cold bool) string {
	queries, hits := a.queries, a.hits
	if !a.told {
		queries, hits = float64(answers.InputTokens), float64(answers.CachedTokens)
	}
	if a.given || queries < cacheTokens || hits/queries < share+cacheExcess {
		return ""
	}
	a.given = true
	why := "they are warm from an earlier run, or somebody else sends them: --cache cold keeps earlier runs out"
	if cold {
		why = "somebody else seems to send prompts as well"
	}
	return fmt.Sprintf("the server's prefix cache knew %.0f%% of the prompt tokens, though the prompts have no more than %.0f%% in common; %s",
		100*hits/queries, 100*share, why)
}
