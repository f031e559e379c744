package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

func TestParseTier(t *testing.T) {
	t.Parallel()
	gold := Tier{"gold", SLO{{TTFT, 200}, {TPOT, 20}}}
	for text, want := range map[string]Tier{
		"gold=ttft:200,tpot:20": gold, "gold=ttft:200 tpot:20": gold, " gold = ttft:200 , tpot:20 ": gold,
		"tier-2_b=e2el:0.5": {"tier-2_b", SLO{{E2EL, 0.5}}},
	} {
		got, err := ParseTier(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"gold": "expected NAME=OBJECTIVES", "Größe=ttft:1": "of ASCII", "": "expected NAME=",
		"=ttft:1": "1 to 16 letters", "a b=ttft:1": "1 to 16 letters",
		"seventeen-letters=ttft:1": "1 to 16 letters", "\x1b[31m=ttft:1": "letters",
		"gold=": "tier gold has no objectives", "gold=, ,": "no objectives",
		"gold=ttft:200,ttft:300": "tier gold: ttft is given twice",
		"gold=ttft":              "tier gold: \"ttft\": expected NAME:MILL", "gold=tttt:5": "unknown metric",
		"gold=ttft:-1": "0 or more", "gold=ttft:nan": "number of milliseconds",
	} {
		assert.Fails(t, text, assert.Failure(ParseTier(text)), want)
	}
}

func FuzzParseTier(f *testing.F) {
	for _, s := range []string{"gold=ttft:200,tpot:20", "g=ttft:1 e2el:2", "=", "a=b:c", "x=ttft:1e309"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tier, err := ParseTier(text)
		if err != nil {
			return
		}
		if again, err := ParseTier(tier.String()); err != nil || !cmp.Equal(again, tier) {
			t.Errorf("%q became %q, and that %+v, %v", text, tier, again, err)
		}
	})
}

func TestTiersUnder(t *testing.T) {
	t.Parallel()
	a, b, changed := SLO{{TTFT, 200}}, SLO{{TTFT, 900}}, SLO{{TTFT, 300}}
	p := Plan{Tiers: []Tier{{"gold", a}, {"bronze", b}}}
	if got, want := p.TiersUnder(changed), []Tier{{"gold", changed}, {"bronze", b}}; !cmp.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !cmp.Equal(p.Tiers[0].SLO, a) {
		t.Error("the plan changed")
	}
	if got := (&Plan{}).TiersUnder(changed); !cmp.Equal(got, []Tier{{SLO: changed}}) {
		t.Errorf("without tiers %+v", got)
	}
	if got := (&Plan{}).TiersUnder(nil); got != nil {
		t.Errorf("without objectives %+v", got)
	}
	assert.Complains(t, CheckTiers([]Tier{{Name: "a"}, {Name: "b"}, {Name: "a"}}), "tier a is given twice")
	assert.Complains(t, CheckTiers(make([]Tier, MostTiers+1)), "17 tiers; at most 16")
}
