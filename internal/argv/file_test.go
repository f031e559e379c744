package argv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// configured reads a file of the sample's flags, and gives them to it.
func configured(t *testing.T, text, profile string) (*Flags, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	assert.Fine(t, os.WriteFile(path, []byte(text), 0o600))
	f := &Flags{Synopsis: "serve"}
	g := f.Group("all")
	g.String("model", "", "")
	g.Int("num-prompts", 1000, "")
	g.String("metric-percentiles", "99", "")
	g.Bool("find", false, "")
	g.Var(&JSON{}, "extra-body", "")
	g.Var(new(Objectives), "goodput", "")
	_ = g.SetAnnotation("goodput", Variadic, nil)
	g.Var(&Pairs{}, "header", "")
	_ = g.SetAnnotation("header", Variadic, []string{"0"})
	var tiers []string
	g.Var(List(&tiers, "tier", Text), "tier", "")
	_ = g.SetAnnotation("tier", Repeatable, nil)
	values, problems := ReadFile(path, profile)
	trouble := ""
	for _, err := range ByLine(append(problems, f.Default(values)...)) {
		trouble += "\n" + err.Error()
	}
	return f, strings.ReplaceAll(strings.TrimSpace(trouble), path, "run.yaml")
}

func TestReadFile(t *testing.T) {
	for _, c := range []struct{ name, text, profile, want string }{
		{"scalars", "model: m\nnum_prompts: 0100\nfind: true\n", "", "--model=m --num-prompts=0100 --find=true"},
		{"lists", "metric-percentiles: [50, 90]\ngoodput: [ttft:500, tpot:50]\ntier: ['a=ttft:1', 'b=ttft:2']\n", "",
			"--metric-percentiles=50,90 --goodput ttft:500 tpot:50 --tier=a=ttft:1 --tier=b=ttft:2"},
		{"words", "goodput: ttft:500 tpot:50\n", "", "--goodput ttft:500 tpot:50"},
		{"objects", "extra-body: {z: [1, null], a: {b: 2.5, c: 'x'}}\nheader: {X-A: 1, X-B: two}\n", "",
			`--extra-body={"z": [1, null], "a": {"b": 2.5, "c": "x"}} --header X-A=*** X-B=***`},
		{"a header with a blank", "header: X-Team=a b\n", "", "--header=X-Team=***"},
		{"members", "extra-body.top_k: 3\nextra-body.id: '5'\nextra-body.on: True\n" + "extra-body.l: [1, " +
			"a]\nextra-body.l+: [b, c]\n" +
			"extra-body.n:\n", "",
			`--extra-body.top_k=3 --extra-body.id="5" --extra-body.on=true --extra-body.l=[1, "a"] ` +
				`--extra-body.l+=b,c --extra-body.n=null`},
		{"numbers", "extra-body: {a: 1.0, b: 12345678901234567890123, c: 1e3, d: -0.50, e: !!str 010, f: '1.0'}\n", "",
			`--extra-body={"a": 1.0, "b": 12345678901234567890123, "c": 1e3, "d": -0.50, "e": "010", "f": "1.0"}`},
		{"a profile over the rest", "model: m\nnum-prompts: 5\nprofiles: {chat: {num-prompts: 7}, code: {model: c}}\n",
			"chat",
			"--model=m --num-prompts=7"},
		{"an alias", "model: &m x\nprofiles: {chat: {model: *m}}\n", "chat", "--model=x"},
	} {
		f, trouble := configured(t, c.text, c.profile)
		if got := strings.Join(metrics.Words(f.Settings(f.Values(), nil)), " "); got != c.want || trouble != "" {
			t.Errorf("%s: got %s (%s), want %s", c.name, got, trouble, c.want)
		}
		var again strings.Builder // what is written is read as the same
		settings := f.Settings(slices.DeleteFunc(f.Values(), func(v Value) bool { return v.Name == "header" }), nil)
		if err := WriteFile(&again, settings); err != nil || settings == nil {
			if settings != nil || again.Len() > 0 {
				t.Errorf("%s: %v, %q", c.name, err, again.String())
			}
			continue
		}
		back, trouble := configured(t, again.String(), "")
		if got := metrics.Words(back.Settings(back.Values(), nil)); !slices.Equal(got, metrics.Words(settings)) ||
			trouble != "" {
			t.Errorf("%s: written as\n%s\nread as %q (%s)", c.name, again.String(), got, trouble)
		}
	}
}

func TestReadFileRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, profile string
		want                []string
	}{
		{"not YAML", "a: [", "", []string{"run.yaml:1: not YAML: did not find expected node content"}},
		{"no mapping", "- a\n", "", []string{"run.yaml: expected flags with their values"}},
		{"nothing", "", "", []string{"run.yaml: expected flags with their values"}},
		{"two documents", "model: a\n---\nmodel: b\n", "", []string{"run.yaml: more than one document"}},
		{"too large", strings.Repeat("#", mostFile+1), "", []string{"run.yaml: more than 1024 KiB"}},
		{"all at once", "num-promps: 5\nnum-prompts: many\nmodel:\nmodel: x\nfind: {a: 1}\n", "", []string{
			`run.yaml:1: num-promps: unknown flag (did you mean num-prompts?)`,
			"run.yaml:2: --num-prompts many: expected a whole number",
			"run.yaml:3: --model: a value is missing; expected a string",
			"run.yaml:4: model is there already, in line 3; keep one",
			"run.yaml:5: --find: expected true or false, not a mapping"}},
		{"profiles that are none", "profiles: {a: 1, b: {}, b: {model: x}}\n", "b", []string{
			"run.yaml:1: profile a: expected flags with their values",
			"run.yaml:1: b is there already, in line 1; keep one"}},
		{"profiles without names", "profiles: [a]\n", "",
			[]string{"run.yaml:1: profiles: expected names with their flags"}},
		{"a list in a list", "goodput: [[a]]\n", "", []string{"run.yaml:1: goodput: expected a single value"}},
		{"unknown flags whose values are none", "promts: [[a]]\nextra-bdy: {a: 2024-01-01}\n" +
			"help: true\n<<: {a: 1}\n[a]: 1\n", "", []string{
			"run.yaml:1: promts: unknown flag", "run.yaml:2: extra-bdy: unknown flag (did you mean extra-body?)",
			"run.yaml:3: help: unknown flag; it is for the command line alone", "run.yaml:4: <<: nothing is merged",
			"run.yaml:5: expected a name, not a list"}},
		{"values that JSON has not", "extra-body:\n  a: {since: 2024-01-01}\n", "",
			[]string{"run.yaml:2: extra-body: a date, which JSON does not have"}},
		{"numbers that JSON has not", "extra-body.x: [1, .inf]\nextra-body.y: 010\nextra-body.z: !!int no\n", "",
			[]string{
				"run.yaml:1: extra-body.x: a number", "run.yaml:2: extra-body.y: a number",
				"run.yaml:3: extra-body.z: a number"}},
		{"a member twice", "extra-body:\n  a:\n    b: 1\n    b: 2\n", "",
			[]string{"run.yaml:4: extra-body: b is there already, in line 3; keep one"}},
		{"a member twice in JSON", "extra-body: '{\"b\": 1, \"b\": 2}'\n", "", []string{
			`run.yaml:1: --extra-body: the name "b" occurs more than once; keep one`}},
		{"a member twice in two places", "extra-body: {b: 1, c: {d: 2}}\nextra-body.c.d: 3\n", "", []string{
			"run.yaml:2: --extra-body.c.d is given more than once; keep one"}},
		{"a header twice", "header:\n  A: 1\n  A: 2\n", "",
			[]string{"run.yaml:3: header: A is there already, in line 2; keep one"}},
		{"a header that is a list", "header: {A: [1]}\n", "",
			[]string{"run.yaml:1: --header: expected names with single values"}},
		{"a list for JSON", "extra-body: [hunter2]\n", "",
			[]string{"run.yaml:1: --extra-body: expected JSON, not a list"}},
		{"no anchor", "model: a\nextra-body: *sk\n", "", []string{"run.yaml:2: not YAML: an alias of nothing"}},
		{"broken off", "model: 'a\nfind: true\n", "", []string{"run.yaml:3: not YAML: found unexpected end of stream"}},
		{"an alias of itself", "extra-body: &a {b: *a}\n", "",
			[]string{"run.yaml:1: extra-body: too large, or an alias of itself"}},
		{"aliases that grow",
			"extra-body:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n" +
				"  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n  d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n" +
				"  e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n", "", []string{"run.yaml:2: extra-body: too large"}},
		{"no profile chosen", "profiles:\n  chat: {model: a}\n  code: {model: b}\n", "",
			[]string{"run.yaml: choose a profile, as run.yaml#chat; it has chat, code"}},
		{"another profile", "profiles: {chat: {model: a}}\n", "chta",
			[]string{"run.yaml has no profile chta (did you mean chat?); it has chat"}},
		{"no profiles", "model: a\n", "chat", []string{"run.yaml has no profiles, so no chat"}},
	} {
		_, trouble := configured(t, c.text, c.profile)
		lines := strings.Split(trouble, "\n")
		for _, want := range c.want {
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
				t.Errorf("%s: got\n%s\nwant %s", c.name, trouble, want)
			}
		}
		assert.Equal(t, len(lines), len(c.want), "%s: problems: %s", c.name, trouble)
	}
}

// What a file names lies beside it, or else in the working directory.
func TestBeside(t *testing.T) {
	folder := t.TempDir()
	const flags = "header: {A: Bearer @key, B: '@@key', C: '@none', D: $KEY}\ndataset-path: d.json\nca-file: ca.pem\n" +
		"mix: [chat=0.7, 'none=0.2,d.json=1']\n"
	for name, text := range map[string]string{"run.yaml": flags,
		"key": "", "d.json": "", "chat.yaml": ""} {
		assert.Fine(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	values, problems := ReadFile(filepath.Join(folder, "run.yaml"), "")
	want := []string{"A=Bearer @" + filepath.Join(folder, "key"), "B=@@key", "C=@none", "D=$KEY"}
	mix := []string{filepath.Join(folder, "chat.yaml=0.7"), "none=0.2," + filepath.Join(folder, "d.json=1")}
	if len(problems) > 0 || len(values) != 4 || !slices.Equal(values[0].Texts, want) ||
		!slices.Equal(values[3].Texts, mix) ||
		values[1].Texts[0] != filepath.Join(folder, "d.json") || values[2].Texts[0] != "ca.pem" {
		t.Errorf("%v, %v", values, problems)
	}
}

func FuzzReadFile(f *testing.F) {
	for _, s := range []string{"model: a\n", "a: &a [*a]\n", "chat: {model: x}\n", "extra-body: {a: .nan}\n",
		"? [a]\n: b\n", "<<: {a: 1}\n", "!!binary a: b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flags, trouble := configured(t, text, "")
		if trouble == "" && len(flags.Values()) > 0 {
			_ = flags.Settings(flags.Values(), nil)
		}
	})
}

// Values that were given keep their blanks when they are given again, as to the runs of a series.
func TestValuesAgain(t *testing.T) {
	f, _ := configured(t, "header: [X-Team=a b, X-B=c]\n", "")
	again, _ := configured(t, "find: true\n", "")
	if p := again.Apply(f.Values()); len(p) > 0 {
		t.Fatal(p)
	}
	pairs, err := again.All().Lookup("header").Value.(*Pairs).Split("header")
	if err != nil || len(pairs) != 2 || pairs[0].Value != "a b" {
		t.Errorf("got %v, %v", pairs, err)
	}
}
