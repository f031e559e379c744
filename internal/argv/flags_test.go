package argv

import (
	"strings"
	"testing"
)

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
