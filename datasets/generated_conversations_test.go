package datasets

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/tokenizer"
)

// Draws lie within their limits and have the mean of their distribution.
func TestSpreads(t *testing.T) {
	for _, c := range []struct {
		name        string
		s           spread
		least, most int
		mean        float64
	}{
		{"constant", spread{Distribution: "constant", Value: 7}, 7, 7, 7},
		{"uniform", spread{Distribution: "uniform", Min: 2, Max: 5}, 2, 5, 3.5},
		{"zipf", spread{Distribution: "zipf", Alpha: 3, Max: 9}, 1, 9, 1.35},
		{"poisson", spread{Distribution: "poisson", Alpha: 4}, 0, 20, 4},
		{"large poisson", spread{Distribution: "poisson", Alpha: 900}, 700, 1100, 900},
		{"lognormal by its average", spread{Distribution: "lognormal", Average: 100, MedianRatio: new(0.9)}, 10, 600,
			100},
		{"lognormal by the normal distribution behind it", spread{Distribution: "lognormal", Mean: 3, Sigma: 0.5}, 2,
			300, math.Exp(3.125)},
		{"lognormal up to a limit", spread{Distribution: "lognormal", Average: 100, Max: 100}, 1, 100, 81},
	} {
		if err := c.s.check(c.name); err != nil {
			t.Error(err)
		}
		draws, sum := rand.New(rand.NewPCG(1, 2)), 0.0
		const n = 20_000
		for range n {
			v := c.s.draw(draws)
			if sum += float64(v); v < c.least || v > c.most {
				t.Fatalf("%s: drew %d", c.name, v)
			}
		}
		if mean := sum / n; math.Abs(mean-c.mean) > 0.05*c.mean {
			t.Errorf("%s: a mean of %g, want %g", c.name, mean, c.mean)
		}
	}
}

// readGPT2 reads a tokenizer as models have it.
var readGPT2 = sync.OnceValues(func() (*tokenizer.Local, error) {
	found, err := tokenizer.Find(context.Background(),
		tokenizer.FindOptions{
			Tokenizer: filepath.Join("..", "internal", "hf", "tokenizer", "testdata", "gpt2.tokenizer.json.gz")})
	if err != nil {
		return nil, err
	}
	return tokenizer.Read(found.Files)
})

func gpt2(t *testing.T) *tokenizer.Local {
	t.Helper()
	tok := must(readGPT2())(t)
	return tok
}

// generatedIn opens a configuration beside a text of so many tokens, which are all different up to a thousand.
func generatedIn(t *testing.T, tok tokenizer.Tokenizer, config string, tokens, prompts int, seed int64) (Flow, error) {
	t.Helper()
	dir := t.TempDir()
	words := wordTokens(tok)
	var text strings.Builder
	for i := range tokens {
		text.WriteString(words[i%1000])
	}
	write(t, filepath.Join(dir, "text.txt"), text.String())
	path := filepath.Join(dir, "g.json")
	write(t, path, config)
	c := Common{Path: path, Prompts: prompts, Seed: seed, Forms: AsText, MultiTurn: MultiTurn{On: true}}
	f, _, err := openGenerated(c, toyTools{tok, new([]string)})
	return f, err
}

const generatedConfig = `{"filetype":"generate_conversations","num_conversations":5,"text_files":["text.txt"],
	"prompt_input":{"num_turns":{"distribution":"constant","value":5},"common_prefix_num_tokens":{"distribution":"constant","value":12},
		"prefix_num_tokens":{"distribution":"constant","value":20},"num_tokens":{"distribution":"uniform","min":40,"max":60}},
	"prompt_output":{"num_tokens":{"distribution":"constant","value":8}}}`

func TestGeneratedRefused(t *testing.T) {
	change := func(from, to string) string {
		if !strings.Contains(generatedConfig, from) {
			t.Fatal(from)
		}
		return strings.Replace(generatedConfig, from, to, 1)
	}
	uniform := `{"distribution":"uniform","min":40,"max":60}`
	tok := gpt2(t)
	for _, c := range []struct{ config, want string }{
		{change(`"num_conversations":5`, `"num_conversations":0`), "num_conversations 0: must be from 1 to 1048576"},
		{change(`"text.txt"`, ``), "text_files: name at least one"},
		{change(`"text.txt"`, `"none.txt"`), "none.txt"},
		{change(`"num_tokens":`+uniform, `"x":0`), "num_tokens: missing"},
		{change(uniform, `{"distribution":"uniform","min":0,"max":60}`),
			"num_tokens: uniform needs a min above 0 and a max that is not smaller"},
		{change(uniform, `{"distribution":"uniform","min":4,"max":3}`), "num_tokens: uniform needs a min"},
		{change(uniform, `{"distribution":"zipf","alpha":1}`), "num_tokens: zipf needs an alpha above 1"},
		{change(uniform, `{"distribution":"poisson"}`), "num_tokens: poisson needs an alpha above 0"},
		{change(uniform, `{"distribution":"lognormal","average":10,"median_ratio":1}`),
			"num_tokens: lognormal needs an average"},
		{change(uniform, `{"distribution":"normal"}`),
			`num_tokens: unknown distribution "normal"; use constant, uniform, zipf, poisson or lognormal`},
		{change(uniform, `{"distribution":"constant","value":1e12}`), "num_tokens: a number is out of range"},
		{change(`"value":8`, `"value":-8`), "prompt_output: a number is out of range"},
		{change(uniform, `{"distribution":"constant","value":4000}`),
			"the text files have 600 tokens, and the conversations need"},
	} {
		complains(t, failure(generatedIn(t, tok, c.config, 600, 0, 1)), c.want)
	}
	if d, err := generatedIn(t, tok, `{"filetype":"other","generate_conversations":1}`, 1, 0, 1); d.Next != nil ||
		err != nil {
		t.Errorf("another file: got %v, %v", d, err)
	}
}

// Generated conversations have the turns and lengths of the configuration, begin with one text in common, are the same
// for a seed, and repeat only where more are wanted.
func TestGenerated(t *testing.T) {
	tok := gpt2(t)
	draw := func(prompts int, seed int64) (texts []string) {
		d := must(generatedIn(t, tok, generatedConfig, 5000, prompts, seed))(t)
		for _, c := range drain(t, d) {
			if len(c.Turns) != 3 || !c.Replies || c.Session != c.ID { // 5 messages are rounded up to 6
				t.Fatalf("got %+v", c)
			}
			var all []string
			tokens := 0
			for _, turn := range sent(t, c, "answer") {
				all = append(all, saidIn(t, turn))
				if tokens = turn.InputTokens - tokens; turn.MaxTokens != 8 || tokens < 38 || tokens > 90 {
					t.Errorf("%d tokens in, %d out", tokens, turn.MaxTokens)
				}
				tokens = turn.InputTokens + turn.MaxTokens
			}
			texts = append(texts, all[2])
		}
		return texts
	}
	if _, err := generatedIn(t, tok, "\ufeff"+strings.ReplaceAll(generatedConfig, "\n", "\r\n"), 5000, 0,
		1); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
	all := draw(0, 1)
	assert.Need(t, len(all), 5, "conversations")
	for i, text := range all {
		ids := must(tok.Encode(text))(t)
		first, _ := tok.Encode(all[(i+1)%5])
		if n := common(ids, first); n < 10 || n > 14 {
			t.Errorf("conversations %d and %d begin with %d tokens in common", i, (i+1)%5, n)
		}
		if want := strconv.Itoa(i) + " is a nice number... "; strings.Count(text, want) != 3 {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if diff := cmp.Diff(all, draw(0, 1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(all, draw(0, 2)) {
		t.Error("another seed gives the same")
	}
	if more := draw(7, 1); len(more) != 7 || !cmp.Equal(more[:5], all) {
		t.Errorf("%d conversations", len(more))
	}
}
