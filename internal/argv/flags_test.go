package argv

import (
	"errors"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// The first help of many flags has those used most, with the first clause of their texts, and how to find the others.
func TestHelpOfMany(t *testing.T) {
	g := Flags{Synopsis: "serve [flags]", Text: "what it does", Details: "the details", Most: []string{"num-prompts"},
		Synonyms: map[string][]string{"slo": {"goodput"}}}
	f := g.Group("Load")
	f.Int("num-prompts", 1000, "number of requests; as many as you like")
	f.String("goodput", "", "objectives")
	for asked, want := range map[string]struct{ shows, hides []string }{
		"--help": {[]string{"what it does", "number of requests (default 1000)", "Load"},
			[]string{"the details", "--goodput", "as many"}},
		"--help-all": {[]string{"what it does", "the details", "as many", "--goodput"}, []string{"used most"}},
		"--help=SLO": {[]string{"--goodput"}, []string{"--num-prompts", "what it does"}},
	} {
		_, _, err := g.Parse([]string{asked})
		help, ok := errors.AsType[Help](err)
		if !ok {
			t.Fatal(asked, err)
		}
		var b strings.Builder
		help.Print(&b)
		for _, s := range want.shows {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%s does not show %q:\n%s", asked, s, &b)
			}
		}
		for _, s := range want.hides {
			if strings.Contains(b.String(), s) {
				t.Errorf("%s shows %q:\n%s", asked, s, &b)
			}
		}
	}
}

// A flag of some words refuses others.
func TestOneOf(t *testing.T) {
	f := Flags{Synopsis: "x"}
	fs := f.Group("Load")
	order := fs.String("order", "random", "the order")
	OneOf(fs, "order", "random", "tile")
	_, _, err := f.Parse([]string{"--order", "til"})
	if err == nil || err.Error() != "--order til: use random or tile" || *order != "random" {
		t.Errorf("%v, order %q", err, *order)
	}
	if _, _, err := f.Parse([]string{"--order", "tile"}); err != nil || *order != "tile" {
		t.Errorf("%v, order %q", err, *order)
	}
}

// The last word becomes a name of a flag, or a word for the flag before it.
func TestCompletions(t *testing.T) {
	f := Flags{Synopsis: "x"}
	fs := f.Group("Load")
	fs.String("order", "random", "the order; or another")
	Words(fs, "order", "random", "tile", "tall")
	fs.String("others", "", "others")
	fs.Bool("switch", false, "a switch")
	fs.Bool("secret", false, "not shown")
	fs.Lookup("secret").Hidden = true
	var list []string
	fs.Var(List(&list, "word", Text), "list", "words")
	_ = fs.SetAnnotation("list", Variadic, nil)
	Words(fs, "list", "one", "two")
	for line, want := range map[string]string{
		"--o":               "--order\tthe order --others\tothers",
		"--se":              "",
		"--order ":          "random tile tall",
		"--order=ti":        "--order=tile",
		"--none=ti":         "",
		"--order t":         "tile tall",
		"--ord t":           "tile tall",
		"--order tile ":     "",
		"--others ":         "",
		"--nothing ":        "",
		"--list one t":      "two",
		"--switch --order ": "random tile tall",
		"":                  "",
	} {
		assert.Equal(t, strings.Join(f.Completions(strings.Split(line, " ")), " "), want, "%q", line)
	}
}

func TestHelpFilter(t *testing.T) {
	const text = "what it does"
	g := Flags{Synopsis: "serve [flags]", Text: "\n" + text + "\n"}
	f := g.Group("Server")
	f.String("base-url", "", "server to load")
	f.Bool("use-beam-search", false, "has no effect")
	f.Lookup("use-beam-search").Hidden = true
	f = g.Group("Load")
	f.Int("max-concurrency", 0, "most requests in flight")
	f.Int("num-prompts", 1000, "number of requests to the SERVER")

	const (
		usage  = "usage: benchtop serve [flags]"
		server = "\nServer\n"
		load   = "\nLoad\n"
	)
	for _, c := range []struct {
		filter       string
		shows, hides []string
	}{
		{"", []string{text, server, "--base-url", load, "--max-concurrency",
			"--num-prompts int       number of requests to the SERVER (default 1000)"}, []string{"beam"}},
		{"all", []string{text, server, "--base-url", "--use-beam-search", load, "--max-concurrency"}, nil},
		{"ALL", []string{text, "--use-beam-search"}, nil},
		{"server", []string{server, "--base-url", "--use-beam-search"}, []string{text, load}},
		{" Load", []string{load, "--max-concurrency", "--num-prompts"}, []string{text, server}},
		{"max_concurrency", []string{load, "--max-concurrency"}, []string{text, server, "--num-prompts"}},
		{"--base-url", []string{server, "--base-url"}, []string{load}},
		{"Request", []string{load, "--max-concurrency", "--num-prompts"}, []string{server}},
		{"to the server", []string{load, "--num-prompts"}, []string{server, "--max-concurrency"}},
		{"beam", []string{server, "--use-beam-search", "has no effect"}, []string{"--base-url", load}},
		{"max-concurency",
			[]string{"no flag mentions max-concurency (did you mean max-concurrency?)", "--help=HEADING: Server, Load"},
			[]string{text, server, load}},
		{"--", []string{"no flag mentions --"}, []string{server, load}},
		{"a\x1bb", []string{`no flag mentions "a\x1bb"`}, []string{server}},
	} {
		var b strings.Builder
		Help{c.filter, &g}.Print(&b)
		got := b.String()
		for _, s := range append(c.shows, usage) {
			if !strings.Contains(got, s) {
				t.Errorf("%q does not show %q:\n%s", c.filter, s, got)
			}
		}
		for _, s := range c.hides {
			if strings.Contains(got, s) {
				t.Errorf("%q shows %q:\n%s", c.filter, s, got)
			}
		}
	}
	if !g.groups[0].flags.Lookup("use-beam-search").Hidden {
		t.Error("help for all made a hidden flag visible for good")
	}
}
