package simulator

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// speculative is a profile whose drafts are always accepted, or never.
func speculative(tokens int, acceptance float64) Profile {
	p := round()
	p.SpecTokens, p.SpecAcceptance = tokens, acceptance
	return p
}

// A step that accepts its whole draft brings that many tokens more at once, and costs their verification.
func TestDraftsComeTogether(t *testing.T) {
	const µs = time.Microsecond
	for _, tt := range []struct {
		name string
		p    Profile
		want []time.Duration
	}{
		// 10+10 for the prompt; then 10+1+.1·3, and the context read so far.
		{"all accepted", speculative(3, 1), []time.Duration{20000 * µs, 31400 * µs, 31400 * µs, 31400 * µs, 31400 * µs, 42804 * µs, 42804 * µs}},
		{"none accepted", speculative(3, 0), []time.Duration{20000 * µs, 31400 * µs, 42801 * µs, 54203 * µs, 65606 * µs, 77010 * µs, 88415 * µs}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, e := play(t, tt.p, []newcomer{{prompt: 100, limit: 7}})
				if !slices.Equal(got[0], tt.want) {
					t.Errorf("tokens at %v, want %v", got[0], tt.want)
				}
				if s := e.snapshot(); s.cacheUsage != 0 {
					t.Errorf("%v of the cache left behind", s.cacheUsage)
				}
			})
		})
	}
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
			if got, want := float64(n)/float64(s.drafts), math.Pow(0.7, float64(position+1)); math.Abs(got-want) > 0.03 {
				t.Errorf("position %d: %.3f accepted, want about %.3f", position, got, want)
			}
		}
	})
}

// The invariants of the scheduler hold with drafts, in a cache too small for all, up to the longest sequence there may be.
func TestSpeculationFitsTheCache(t *testing.T) {
	p := speculative(5, 0.6)
	p.MaxSequences, p.MaxModelLen, p.Blocks = 8, 256, 20
	var arrivals []newcomer
	for i := range 24 {
		arrivals = append(arrivals, newcomer{at: time.Duration(i) * time.Millisecond, prompt: 20 + i*7%90, limit: 256 - (20 + i*7%90)})
	}
	var runs [2]string
	for run := range runs {
		synctest.Test(t, func(t *testing.T) {
			tokens, e := play(t, p, arrivals)
			for i, a := range arrivals {
				if len(tokens[i]) != a.limit {
					t.Errorf("sequence %d: %d tokens, want %d", i, len(tokens[i]), a.limit)
				}
			}
			s := e.snapshot()
			if s.preemptions == 0 || s.cacheUsage != 0 || s.generationTokens != sumOfLimits(arrivals) {
				t.Errorf("%d preemptions, %v of the cache left, %d tokens", s.preemptions, s.cacheUsage, s.generationTokens)
			}
			runs[run] = fmt.Sprint(s.speculation, tokens)
		})
	}
	if runs[0] != runs[1] {
		t.Error("two runs differ")
	}
}

func sumOfLimits(arrivals []newcomer) (sum int) {
	for _, a := range arrivals {
		sum += a.limit
	}
	return sum
}

// The text is the same with and without, in fewer events, and the metrics page counts it.
func TestSpeculationOverHTTP(t *testing.T) {
	const body = `{"prompt":[1,2,3],"max_tokens":41,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
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
		t.Errorf("without: usage %s, %d events, spec_decode in the page: %v", usage, events, strings.Contains(page, "spec_decode"))
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
	return strings.Trim(at(c.parse(event), "choices", 0, "text"), `"`)
}
