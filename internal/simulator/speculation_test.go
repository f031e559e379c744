package simulator

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
)

// speculative is a profile whose drafts are always accepted, or never.
func speculative(tokens int, acceptance float64) Profile {
	p := round()
	p.SpecTokens, p.SpecAcceptance = tokens, acceptance
	return p
}

// Position k is accepted with the k-th power, so tokens come in the expected number a step.
func TestAcceptanceOdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := speculative(3, 0.7)
		p.MaxModelLen, p.Blocks = 8192, 512
		_, e := play(t, p, []newcomer{{prompt: 10, limit: 4000}, {at: 1, prompt: 10, limit: 4000}})
		s := e.snapshot().speculation
		if s.draftTokens != 3*s.drafts || s.drafts < 2800 || s.drafts > 3500 {
			t.Fatalf("%d draft tokens in %d drafts", s.draftTokens, s.drafts)
		}
		for position, n := range s.accepted {
			if got, want := float64(n)/float64(s.drafts), math.Pow(0.7, float64(position+1)); math.Abs(got-want) >
				0.03 {
				t.Errorf("position %d: %.3f accepted, want about %.3f", position, got, want)
			}
		}
	})
}

// The text is the same with and without, in fewer events, and the metrics page counts it.
func TestSpeculationOverHTTP(t *testing.T) {
	const body = `{"prompt":[1,2,3],"max_tokens":41,"ignore_eos":true,"stream":true,` +
		`"stream_options":{"include_usage":true}}`
	read := func(p Profile) (text, usage string, events int, page string) {
		bubble(t, p, func(c *client) {
			_, got := c.stream("/v1/completions", body)
			for _, e := range got[:len(got)-2] {
				text += at(c.parse(e.data), "choices", 0, "text")
			}
			usage, events = at(c.parse(got[len(got)-2].data), "usage", "completion_tokens"), len(got)
			_, page = c.do("GET", "/metrics", "")
		})
		return strings.ReplaceAll(text, `"`, ""), usage, events, page
	}
	plain, usage, events, page := read(round())
	if usage != "41" || events != 43 || strings.Contains(page, "spec_decode") {
		t.Errorf("without: usage %s, %d events, spec_decode in the page: %v", usage, events,
			strings.Contains(page, "spec_decode"))
	}
	text, usage, events, page := read(speculative(3, 1))
	if text != plain || usage != "41" || events != 1+10+2 {
		t.Errorf("with: usage %s, %d events, the same text: %v", usage, events, text == plain)
	}
	for _, line := range []string{
		`vllm:spec_decode_num_drafts_total{engine="0",model_name="sim-8b"} 10.0`,
		`vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="sim-8b"} 30.0`,
		`vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="sim-8b"} 30.0`,
		`vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="sim-8b",position="0"} 10.0`,
		`vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="sim-8b",position="2"} 10.0`,
		`# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, page)
		}
	}
}

// A fault comes after exactly its tokens, also where they come several at a time.
func TestFaultSplitsAStep(t *testing.T) {
	bubble(t, speculative(3, 1), func(c *client) {
		// One token, then four at once, of which one is let through.
		r := ask(t, mustDial(t, c.dial), "/v1/completions", "truncate,after=2")
		if len(r.events) != 2 || r.ends() != "whole" {
			t.Fatalf("%s with %q", r.ends(), r.events)
		}
		plain := ask(t, mustDial(t, c.dial), "/v1/completions", "")
		all := textIn(c, plain.events[0]) + textIn(c, plain.events[1])
		cut := textIn(c, r.events[0]) + textIn(c, r.events[1])
		if !strings.HasPrefix(all, cut) || len(encode(cut)) != 2 {
			t.Errorf("the cut answer is %q of %q", cut, all)
		}
	})
}

func textIn(c *client, event string) string {
	return textAt(c.parse(event), "choices", 0, "text")
}
