package argv

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/assert"
	"benchtop/internal/secret"
	"benchtop/metrics"
)

// Values read what the help shows, and refuse the rest.
func TestValues(t *testing.T) {
	rate, objectives, numbers, seconds := Rate(1), Objectives{}, []int{}, Seconds(0)
	var words []string
	list := List(&numbers, "n", strconv.Atoi)
	for _, c := range []struct {
		flag        pflag.Value
		kind        string
		set         []string
		shown, fail string // fail is refused and changes nothing
	}{
		{&rate, "number", []string{"inf", "2.5"}, "2.5", "NaN"},
		{&rate, "number", []string{"inf"}, "inf", "fast"},
		{&seconds, "seconds", []string{"2m", "0.5"}, "500ms", "1e300"},
		{&seconds, "seconds", []string{"5", "30s"}, "30s", "NaN"},
		{&objectives, "name:ms", []string{"ttft:500", "tpot:50", "ttft:200"}, "ttft:200 tpot:50", "ttft"},
		{list, "n", []string{"3", "4"}, "3 4", "x"},
		{List(&words, "text", Text), "text", []string{"", "a b"}, " a b", ""},
		{&Pairs{}, "key=value", []string{"a=1", "b"}, "a=1 b", ""},
	} {
		for _, s := range c.set {
			if err := c.flag.Set(s); err != nil {
				t.Errorf("%s %q: %v", c.kind, s, err)
			}
		}
		if c.fail != "" && c.flag.Set(c.fail) == nil {
			t.Errorf("%s takes %q", c.kind, c.fail)
		}
		if c.flag.String() != c.shown || c.flag.Type() != c.kind {
			t.Errorf("%s is shown as %q, want %q of type %s", c.flag.Type(), c.flag, c.shown, c.kind)
		}
		if again, ok := c.flag.(interface{ Reset() }); ok {
			again.Reset()
			if left := strings.Trim(c.flag.String(), " "); left != "" {
				t.Errorf("%s keeps %q after a reset", c.kind, left)
			}
		}
	}
}

// Pairs are cut at the first =; an error names the place of an item and never its text.
func TestPairs(t *testing.T) {
	var p Pairs
	for _, s := range []string{"old=1", "older"} {
		_ = p.Set(s)
	}
	p.Reset()
	for _, s := range []string{" Key = a=b ", "X-Empty="} {
		_ = p.Set(s)
	}
	all, err := p.Split("header")
	if want := []metrics.Pair{{Key: "Key", Value: "a=b"}, {Key: "X-Empty"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v; want %v", all, err, want)
	}
	assert.Equal(t, len(p.Ever), 4, "the replaced items are forgotten: %q", p.Ever)
	_ = p.Set("canary")
	_ = p.Set("=canary")
	_, err = p.Split("header")
	if err == nil || err.Error() != "--header: item 3 is not KEY=VALUE\n--header: item 4 is not KEY=VALUE" {
		t.Errorf("got %v", err)
	}
}

// A command line that is shown has neither headers nor passwords, and the shell reads it as it was.
func TestShown(t *testing.T) {
	args := []string{"serve", "--header", "Key=canary", "--header=Token=can=ary", "--base-url",
		"https://me:canary@host:1/v1", "--label", "it's", "--stages", ""}
	safe := secret.HideWords(args, []string{"Key=canary", "Token=can=ary", ""})
	const want = `benchtop serve --header 'Key=***' '--header=Token=***' --base-url 'https://***@host:1/v1' --label ` +
		`'it'\''s' --stages ''`
	if got := strings.Join(ShellWords(safe), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	assert.Equal(t, args[2], "Key=canary", "the command line itself is changed")
}

// Flags without effect are taken and named, with the reason, if they are given.
func TestInert(t *testing.T) {
	var f Flags
	DefineInert(f.Group("No effect"), f.All())
	if rest, _, err := f.Parse([]string{"--trust-remote-code", "--tokenizer-mode", "slow", "x"}); err != nil ||
		!slices.Equal(rest, []string{"x"}) {
		t.Fatalf("%q, %v", rest, err)
	}
	notes := InertNotes(f.All())
	const first, second = "--tokenizer-mode has no effect: ",
		"--trust-remote-code has no effect: remote code is never run"
	if len(notes) != 2 || !strings.HasPrefix(notes[0], first) || notes[1] != second {
		t.Errorf("notes %q", notes)
	}
	seen := 0
	f.VisitAll(func(*pflag.Flag) { seen++ })
	assert.Equal(t, seen, len(inertFlags), "flags")
}
