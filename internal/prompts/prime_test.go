package prompts_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/datasets"
	"benchtop/internal/prompts"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/simtest"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// A prefix that was sent is in the cache; whether it is gone, or nobody says so, is told.
func TestPrime(t *testing.T) {
	for _, c := range []struct {
		words   string
		ok      bool
		arrange func(*simulator.Profile)
		tokens  int
		modules []string
	}{
		{"the cache had 992 of 1000 tokens", true, func(*simulator.Profile) {}, 1000, nil},
		{"the cache had 1984 of 2000 tokens", true, func(p *simulator.Profile) {
			p.Adapters = []simulator.Adapter{{Name: "a"}, {Name: "b"}}
		}, 1000, []string{"b", "a", "b"}},
		{"the answers do not say", true, func(p *simulator.Profile) { p.PrefixCache = false }, 1000, nil},
		{"could not be sent: ", false, func(p *simulator.Profile) { p.MaxModelLen = 500 }, 1000, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := simulator.Defaults()
			c.arrange(&p)
			dial, stop := simtest.Serve(t, p)
			defer stop()
			o := loadgen.Defaults()
			var err error
			if o.Target, err = target.New(target.Options{BaseURL: "http://simulated", Dial: dial}); err != nil {
				t.Fatal(err)
			}
			o.Model, o.Pacer, o.Timestamps = p.Model, "timer", metrics.UserStamps
			o.InputSource, o.Extra = metrics.TokensFromIDs, []protocol.Field{{Name: "ignore_eos", JSON: "true"}}
			ids := datasets.AssumedVocabulary().IDs()[:c.tokens]
			words, ok := prompts.Prime(t.Context(), o, ids, c.modules)
			if !strings.Contains(words, c.words) || ok != c.ok {
				t.Errorf("%t: %s, want %s", ok, words, c.words)
			}
		})
	}
}
