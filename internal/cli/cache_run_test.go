package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// cachePrompts are in every run, of so many tokens.
const cachePrompts, cacheTokens = 24, 128

// slow is a server of a tenth of the speed: it is looked at several times while it serves cachePrompts.
func slow() simulator.Profile {
	p := simulator.Defaults()
	p.StepBase *= 10
	return p
}

// cacheRun sends the same 24 prompts as every other run with the same arguments and returns figures of its result.
func cacheRun(t *testing.T, server *virtual, args ...string) (hitRate float64, cold any, alarms []string) {
	t.Helper()
	dir := t.TempDir()
	r := server.serve(t,
		append([]string{"--random-input-len", fmt.Sprint(cacheTokens), "--random-output-len", "2", "--num-prompts",
			fmt.Sprint(cachePrompts), "--max-concurrency", "1",
			"--seed", "3", "--save-result", "--result-dir", dir}, args...)...)
	r.expect(t, session.ExitFine)
	b := resultIn(t, dir)["benchtop"].(map[string]any)
	looks, ok := b["server"].(map[string]any)
	if !ok {
		t.Fatal("nothing is known of the server")
	}
	hitRate, _ = looks["prefix_cache_hit_rate"].(float64)
	for _, e := range b["events"].([]any) {
		e := e.(map[string]any)
		if e["level"] == "warn" && strings.Contains(e["text"].(string), "prefix cache") {
			alarms = append(alarms, e["text"].(string))
		}
	}
	if said := strings.Contains(r.stdout, "Prefix cache: the server's prefix cache hit"); said != (len(alarms) > 0) {
		t.Errorf("the report tells of the alarm: %t, alarms: %q", said, alarms)
	}
	return hitRate, b["cache"], alarms
}

// cacheCase is a workload that is sent four times.
type cacheCase struct {
	name  string
	args  []string
	share float64
	vllm  bool
}

// A second run with one seed finds its prompts in the server's cache and warns; with --cache cold it does not. The
// common part of the prompts of one run is found either way, without a warning.
func TestCacheOfEarlierRuns(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, c := range []cacheCase{
		{"strangers", []string{"--vocab-size", "30000"}, 0, false},
		{"a prefix", []string{"--random-prefix-len", fmt.Sprint(cacheTokens), "--vocab-size", "30000"},
			(cachePrompts - 1.0) / cachePrompts / 2, false},
		{"chats", []string{"--backend", "openai-chat"}, 0, false},
		{"vLLM", []string{"--model", "m", "--vocab-size", "30000"}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, slow(), func(w http.ResponseWriter, r *http.Request) bool {
				models := c.vllm && r.URL.Path == "/v1/models"
				if models {
					io.WriteString(w, `{"data":[{"id":"m","owned_by":"vllm"}]}`)
				}
				return models
			}, c.runs)
		})
	}
}

func (c *cacheCase) runs(t *testing.T, server *virtual) {
	expect := func(name string, above bool, alarm int, coldWords string, args ...string) {
		t.Helper()
		rate, cold, alarms := cacheRun(t, server, slices.Concat(c.args, args)...)
		if above != (rate > c.share+0.3) || rate < c.share-0.1 {
			t.Errorf("%s: hit rate %g, of which the prompts explain %g", name, rate, c.share)
		}
		if len(alarms) != alarm {
			t.Errorf("%s: alarms %q, want %d", name, alarms, alarm)
		}
		if words, _ := cold.(string); !strings.HasPrefix(words, coldWords) || coldWords == "" && cold != nil {
			t.Errorf("%s: the plan says %v, want %q", name, cold, coldWords)
		}
	}
	words := "cold cache ("
	if c.vllm {
		words = "cold cache (cache_salt)"
	}
	expect("first", false, 0, "")
	expect("again", true, 1, "")
	before := len(server.all())
	expect("cold", false, 0, words, "--cache", "cold")
	expect("cold again", false, 0, words, "--cache", "cold")
	salts := map[any]int{}
	for _, call := range server.all()[before:] {
		salts[call.fields["cache_salt"]]++
	}
	switch {
	case c.vllm && (len(salts) != 2 || salts[nil] > 0):
		t.Errorf("got salts %v, want one for each of two runs", salts)
	case !c.vllm && (len(salts) != 1 || salts[nil] == 0):
		t.Errorf("got salts %v, want none", salts)
	}
}

// Prompts that were cut to the server's count have in common what is left of them. Here that is nearly all: another
// tokenizer made them, and the server counts four times as many tokens.
func TestShareOfCutPrompts(t *testing.T) {
	model := modelDirectory(t, "gpt2-short")
	inVirtualTime(t, slow(), nil, func(t *testing.T, server *virtual) {
		hitRate, _, alarms := cacheRun(t, server, "--tokenizer", model, "--dataset-name", "prefix_repetition",
			"--prefix-repetition-num-prefixes", "2",
			"--prefix-repetition-output-len", "2")
		if hitRate < 0.6 || len(alarms) > 0 {
			t.Errorf("hit rate %g, alarms %q", hitRate, alarms)
		}
	})
}

// A server refuses ids beyond its vocabulary, so those that make prompts cold come from the one that was named.
func TestColdCacheKeepsToTheVocabulary(t *testing.T) {
	for _, args := range [][]string{nil, {"--tokenizer", modelDirectory(t, "gpt2-short")},
		{"--dataset-name", "prefix_repetition", "--prefix-repetition-num-prefixes", "1"},
		{"--dataset-name", "timed_trace", "--dataset-path", "../../datasets/testdata/trace_small.jsonl",
			"--no-self-timed"},
		{"--dataset-name", "burstgpt", "--dataset-path", "../../datasets/testdata/burstgpt_small.csv"}} {
		server := recorded(t, nil)
		benchtop(slices.Concat([]string{"serve", "--base-url", server.url, "--num-prompts", "2", "--random-input-len",
			"9", "--random-output-len", "2", "--no-tui", "--gpu", "none",
			"--vocab-size", "50", "--cache", "cold"}, args)...).expect(t, session.ExitFine)
		sent := 0
		for _, call := range server.all() {
			ids, _ := call.fields["prompt"].([]any)
			for _, id := range ids {
				if sent++; id.(float64) >= 50 {
					t.Errorf("%q: id %v in %v", args, id, ids)
				}
			}
		}
		if sent == 0 {
			t.Errorf("%q: no ids were sent", args)
		}
	}
}

// A prompt that cannot be made cold is refused before the run, wherever it comes.
func TestColdCacheOfPicturesAlone(t *testing.T) {
	server := recorded(t, nil)
	path := filepath.Join(t.TempDir(), "pictures.jsonl")
	rows := `{"content": [{"type": "text", "text": "What is this?"}]}` + "\n" + `{"content": [{"type": "image", ` +
		`"image": "http://x.test/a.png"}]}` + "\n"
	assert.Fine(t, os.WriteFile(path, []byte(rows), 0o600))
	args := []string{"serve", "--base-url", server.url, "--no-tui", "--gpu", "none", "--backend", "openai-chat",
		"--dataset-name", "custom_image", "--dataset-path", path,
		"--tokenizer", modelDirectory(t, "gpt2-short"), "--disable-shuffle", "--num-prompts", "2",
		"--request-id-prefix", "p", "--cache", "cold"}
	benchtop(args...).expect(t, session.ExitUsage,
		"--cache cold, prompt p1: messages without a text cannot be made cold; use --cache as-is")
	for _, call := range server.all() {
		t.Errorf("was sent: %v", call.fields)
	}
}

func TestColdCacheWithASaltOfTheUsersOwn(t *testing.T) {
	benchtop("serve", "--cache", "cold", "--extra-body", `{"cache_salt": "x"}`).expect(t, session.ExitUsage,
		"--cache cold and a cache_salt in --extra-body: choose one")
}

// Later turns hit what the turns before them left in the cache, also a cold one, which is no reason for an alarm; the
// prompts of an earlier run are.
func TestCacheOfConversations(t *testing.T) {
	ci.SkipUnderRace(t)
	const own = cacheTokens / (3*cacheTokens + 2.0) // the first prompt, of both
	inVirtualTime(t, slow(), nil, func(t *testing.T, server *virtual) {
		for _, c := range []struct {
			name  string
			args  []string
			above bool
			alarm int
		}{{"first", nil, false, 0}, {"again", nil, true, 1}, {"cold", []string{"--cache", "cold"}, false, 0},
			{"cold again", []string{"--cache", "cold"}, false, 0}} {
			args := append([]string{"--backend", "openai-chat", "--multi-turn", "--multi-turn-num-turns", "2",
				"--num-prompts", fmt.Sprint(cachePrompts / 2)}, c.args...)
			rate, _, alarms := cacheRun(t, server, args...)
			if rate < own-0.1 || (rate > own+0.3) != c.above || len(alarms) != c.alarm {
				t.Errorf("%s: a hit rate of %g, alarms %q", c.name, rate, alarms)
			}
		}
	})
}
