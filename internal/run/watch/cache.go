package watch

import (
	"fmt"

	"benchtop/metrics"
	"benchtop/metrics/live"
)

// Cache notices that the server's prefix cache knows much more of the prompts than they have in common: then a run before this
// one, or another client, sent them already, and the server does less work than it seems to.
type Cache struct {
	View *live.View
	// Share is the part of the prompt tokens, from 0 to 1, that the prompts of this run have in common at most if the server puts
	// so many tokens of a template before each; 1 where that is not known.
	Share func(templateTokens float64) float64
	// Templates: the server puts a template before each prompt. Counted: the prompts' own tokens were counted well.
	Templates, Counted bool
	// Cold: prompts are kept apart from those of earlier runs.
	Cold bool

	queries, hits float64 // by the server's metrics page
	said          bool    // the page has them
	warned        bool
}

// A cache that knows cacheExcess more of the tokens than the prompts share is no coincidence, once cacheTokens were looked
// up.
const (
	cacheExcess = 0.2
	cacheTokens = 1000
)

// mostTemplate are the tokens that a server's chat template may put before every prompt, as far as nothing else is known: those of
// today's models take some twenty to two hundred.
const mostTemplate = 256

// share is the part of the prompt tokens that a perfect cache would know from this run alone.
func (c *Cache) share() float64 {
	template := 0.0
	if c.Templates {
		template = mostTemplate
		// The template is the rest of the server's count, if the prompt was counted well.
		if mean := c.View.TemplateTokens(); mean > 0 && c.Counted {
			template = min(mean, template)
		}
	}
	return c.Share(template)
}

// add takes in what the server's page says.
func (c *Cache) add(s *metrics.ServerSecond) {
	if metrics.Said(s.PrefixQueries) && metrics.Said(s.PrefixHits) {
		c.queries, c.hits, c.said = c.queries+s.PrefixQueries, c.hits+s.PrefixHits, true
	}
}

// warn tells, once, that the cache knows too much.
func (c *Cache) warn(tell Tell) {
	totals := c.View.Totals()
	if text := c.warning(&totals, c.share()); text != "" {
		tell.mark(metrics.Warn, text, metrics.CacheMark)
	}
}

// warning is "" for none. Where the page does not tell of the cache, the answers may.
func (c *Cache) warning(answers *metrics.Totals, share float64) string {
	queries, hits := c.queries, c.hits
	if !c.said {
		queries, hits = float64(answers.InputTokens), float64(answers.CachedTokens)
	}
	if c.warned || queries < cacheTokens || hits/queries < share+cacheExcess {
		return ""
	}
	c.warned = true
	why := "they are warm from an earlier run, or somebody else sends them: --cache cold keeps earlier runs out"
	if c.Cold {
		why = "somebody else seems to send prompts as well"
	}
	return fmt.Sprintf("the server's prefix cache knew %.0f%% of the prompt tokens, though the prompts have no more than %.0f%% in common; %s",
		100*hits/queries, 100*share, why)
}
