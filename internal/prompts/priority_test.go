package prompts

import (
	"encoding/json"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
)

func TestPrioritiesFlag(t *testing.T) {
	for text, want := range map[string]string{
		"0=0.5,1=0.5":  "0=0.5,1=0.5",
		" -1=3 , 10=1": "-1=3,10=1",
		"":             `"": expected PRIORITY=SHARE`,
		"0":            `"0": expected PRIORITY=SHARE`,
		"0=0":          `"0=0": expected PRIORITY=SHARE`,
		"0=-1":         `"0=-1": expected PRIORITY=SHARE`,
		"0=inf":        `"0=inf": expected PRIORITY=SHARE`,
		"0=nan":        `"0=nan": expected PRIORITY=SHARE`,
		"1.5=1":        `"1.5=1": expected PRIORITY=SHARE`,
		"0=1,0=2":      "priority 0 is given twice",
		strings.TrimSuffix(strings.Repeat("0=1,", 99), ","): "priority 0 is given twice",
	} {
		var v Priorities
		got := ""
		if err := v.Set(text); err != nil {
			got = err.Error()
		} else {
			got = v.String()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Shares are kept, a priority goes to the body or the header, and fields of the prompt stay.
func TestPrioritize(t *testing.T) {
	const n = 4000
	for _, header := range []string{"", "X-Vllm-Priority"} {
		var v Priorities
		fine(t, v.Set("0=1,7=3"))
		all := make([]datasets.Conversation, n)
		for i := range all {
			all[i].Turns = []datasets.Turn{{Text: "a", Overrides: json.RawMessage(`{"n": 2}`)}, {Text: "b"}}
		}
		x := &Supply{Flow: datasets.ListOf(all, "")}
		x.Prioritize(v, header, 5)
		urgent := 0
		for range n {
			c := must(x.Next())(t)
			first, second := &c.Turns[0], &c.Turns[1]
			assert.Need(t, first.Class, second.Class, "turns of one conversation: %s and %s", first.Class, second.Class)
			value := strings.TrimPrefix(first.Class, "priority ")
			if value == "0" {
				urgent++
			}
			body, headers := `{"n": 2, "priority": `+value+`}`, 0
			if header != "" {
				body, headers = `{"n": 2}`, 1
			}
			if string(first.Overrides) != body || len(first.Headers) != headers ||
				headers > 0 && first.Headers[0] != [2]string{header, value} {
				t.Fatalf("%s: %s, %v", header, first.Overrides, first.Headers)
			}
		}
		if string(all[0].Turns[0].Overrides) != `{"n": 2}` || all[0].Turns[0].Class != "" {
			t.Error("the prompts of the data set were changed")
		}
		if share := float64(urgent) / n; share < 0.22 || share > 0.28 {
			t.Errorf("%g of the requests have priority 0, want a quarter", share)
		}
	}
}
