package argv

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"

	"github.com/spf13/pflag"
)

// sampleFlags are flags of every kind.
type sampleFlags struct {
	fs              *pflag.FlagSet
	rate            Rate
	label           string
	goodput, header wordsFlag
	body            JSON
	result          bool
}

// wordsFlag takes words in a row.
type wordsFlag []string

func (v *wordsFlag) String() string { return strings.Join(*v, " ") }
func (v *wordsFlag) Type() string   { return "word" }
func (v *wordsFlag) Reset()         { *v = wordsFlag{} }

func (v *wordsFlag) Set(s string) error {
	if s == "bad" {
		return errors.New("a bad word")
	}
	*v = append(*v, s)
	return nil
}

func newSampleFlags() *sampleFlags {
	s := &sampleFlags{fs: pflag.NewFlagSet("", pflag.ContinueOnError), rate: Rate(math.Inf(1)),
		goodput: wordsFlag{"x:9"}}
	s.fs.Var(&s.rate, "request-rate", "")
	s.fs.Int("num-prompts", 1000, "")
	s.fs.Int("num-warmups", 0, "")
	s.fs.StringVar(&s.label, "label", "", "")
	s.fs.Var(&s.goodput, "goodput", "")
	s.fs.Var(&s.header, "header", "")
	s.fs.BoolVar(&s.result, "save-result", false, "")
	s.fs.Bool("save-detailed", false, "")
	s.fs.Var(&s.body, "extra-body", "")
	_ = s.fs.SetAnnotation("goodput", Variadic, nil)
	_ = s.fs.SetAnnotation("header", Variadic, []string{"0"})
	return s
}

// outcome writes what a command line set, as the tables below do.
func (s *sampleFlags) outcome(rest []string) string {
	var out []string
	words := func(all []string) string {
		var q []string
		for _, w := range all {
			q = append(q, strconv.Quote(w))
		}
		return "[" + strings.Join(q, ", ") + "]"
	}
	for _, name := range []string{"request-rate", "num-prompts", "num-warmups", "label", "goodput", "header",
		"save-result", "save-detailed", "extra-body"} {
		f := s.fs.Lookup(name)
		switch value := f.Value.String(); {
		case !f.Changed || name == "request-rate" && value == f.DefValue:
		case name == "goodput":
			out = append(out, "goodput="+words(s.goodput))
		case name == "header":
			out = append(out, "header="+words(s.header))
		case name == "label", name == "request-rate":
			out = append(out, name+"="+strconv.Quote(value))
		case f.NoOptDefVal != "" && value == "true":
			out = append(out, name)
		case f.NoOptDefVal != "":
		default:
			out = append(out, name+"="+value)
		}
	}
	if len(rest) > 0 {
		out = append(out, "rest="+words(rest))
	}
	return strings.Join(out, " ")
}

func words(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

// These flags have the same meaning for Python's argparse, with which vLLM's client reads its command line. The
// outcomes are those of Python 3.11. Arguments are separated by |.
func TestLikeArgparse(t *testing.T) {
	for _, c := range assert.Golden[[2]string](t, "testdata/argparse.jsonl") {
		args, want := c[0], c[1]
		s := newSampleFlags()
		rest, _, err := parse(s.fs, words(args), nil)
		got := s.outcome(rest)
		if err != nil {
			got = "error"
		}
		assert.Equal(t, got, want, "%s: (%v)", args, err)
	}
}

// Beyond argparse are underscores, members of JSON, and more helpful errors. fails is the beginning of the error.
func TestBeyondArgparse(t *testing.T) {
	for _, c := range append(assert.Golden[[3]string](t, "testdata/beyond_argparse.jsonl"), [][3]string{
		{"--num-prompts=" + strings.Repeat("9", 5000), "",
			"--num-prompts " + strings.Repeat("9", 100) + "…: expected a whole number"},
		{"--" + strings.Repeat("é", 5000) + "=1", "", "--" + strings.Repeat("é", 50) + "…: unknown flag"},
	}...) {
		args, want, fails := c[0], c[1], c[2]
		s := newSampleFlags()
		rest, _, err := parse(s.fs, words(args), nil)
		got := s.outcome(rest)
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.HasPrefix(err.Error(), fails)) {
			t.Errorf("%.80s: error\n%v\nwant\n%s", args, err, fails)
		}
		assert.Equal(t, got, want, "%.80s", args)
	}
}

func TestHelpAsked(t *testing.T) {
	for _, c := range []struct {
		args string
		asks bool
		word string
	}{
		{"--help", true, ""},
		{"-h", true, ""},
		{"--help=all", true, "all"},
		{"--help=extra_body", true, "extra_body"},
		{"--hel", true, ""},
		{"--nope|-h", true, ""},
		{"--num-prompts|x|--help=", true, ""},
		{"--label|--help", true, ""},
		{"--goodput|a|-h", true, ""},
		{"--label=--help", false, ""},
		{"--|--help", false, ""},
		{"--he", false, ""},
		{"help", false, ""},
	} {
		_, _, err := parse(newSampleFlags().fs, words(c.args), nil)
		var asked Help
		if is := errors.As(err, &asked); is != c.asks || asked.Word != c.word {
			t.Errorf("%s: asks %v for %q (%v), want %v for %q", c.args, is, asked.Word, err, c.asks, c.word)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"--label|a|--num-prompts|3", ""},
		{"--num-prompts|3|--num_prompts|4|--num-p=5", "--num-prompts is given more than once; the last one applies"},
		{"--label|a|--goodput|a|--label|a|--goodput|b",
			"--goodput is given more than once; the last one applies|--label is given more than once; the last one " +
				"applies"},
		{"--save-result|--save-result", "--save-result is given more than once; the last one applies"},
		{"--extra-body.a|1|--extra-body.b|1|--extra-body.c.d|1|--extra-body.c.e|1", ""},
		{"--extra-body.a+|1|--extra-body.a+|2", ""},
		{"--extra-body.a.b|1|--extra-body.a.b|1|--extra-body.a.b|2",
			"--extra-body.a.b is given more than once; the last one applies"},
		{"--extra-body.a|1|--extra-body.a+|2", "--extra-body.a is given more than once; the last one applies"},
		{"--extra-body.a|[1]|--extra-body.a|[2]", "--extra-body.a is given more than once; the last one applies"},
		{"--extra-body.a|1|--extra-body|{\"a\": {}}", "--extra-body.a is given more than once; the last one applies"},
		{"--extra-body|{\"a\":1}|--extra-body|{\"b\":1}", "--extra-body is given more than once; the last one applies"},
		{"--extra-body|{\"a\":1,\"b\":2,\"a\":3}",
			`--extra-body: the name "a" occurs more than once; the last one applies`},
		{"--extra-body.x|{\"a\":1,\"a\":3}",
			`--extra-body.x: the name "a" occurs more than once; the last one applies`},
		{"--extra-body.a|True|--extra-body.b|None|--extra-body.c|true",
			"--extra-body.a: True is sent as a string; in JSON it is true|--extra-body.b: None is sent as a string; " +
				"in JSON it is null"},
		{"--extra-body.a+|{\"b\":1,\"b\":1}", ""},
		{"--extra-body.a|[a-z]+|--extra-body.b|{{ x }}", ""},
		{"--extra-body.a|{ \"b\": 1",
			"--extra-body.a: sent as a string, since it is not JSON (character 8, at \"1\": " +
				"unexpected end of JSON input)"},
	} {
		_, warnings, err := parse(newSampleFlags().fs, words(c.args), nil)
		if got := strings.Join(warnings, "|"); got != c.want || err != nil {
			t.Errorf("%s: %s (%v), want %s", c.args, got, err, c.want)
		}
	}
}

// A flag that may be given again keeps what it has.
func TestRepeatable(t *testing.T) {
	s := newSampleFlags()
	_ = s.fs.SetAnnotation("header", Repeatable, nil)
	_, warnings, err := parse(s.fs, words("--header|a|b|--header|c|--header"), nil)
	if !slices.Equal(s.header, wordsFlag{"a", "b", "c"}) || warnings != nil || err != nil {
		t.Errorf("%q, warnings %q, error %v; want a, b and c, and nothing else", s.header, warnings, err)
	}
}

func FuzzArgv(f *testing.F) {
	f.Add("--request-rate\x00inf\x00--goodput\x00ttft:1\x00tpot:2\x00--\x00x")
	f.Add("--num_prompts=\x00--save\x00-h")
	f.Add("--extra-body.a.b\x003\x00--extra-body.c+\x00X,Y\x00--extra-body={\"a\":[1]}" +
		"\x00--extra-body.a+=\x00--extra-body.")
	f.Add("--header\x00--metadata\x00a=b\x00--label\x00-x\x00-1\x00--save-result\x00true\x00--extra-body..\x00-5s")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		// Nothing is lost: what is neither in a flag nor in the rest is in the problems.
		s := newSampleFlags()
		rest, _, err := parse(s.fs, args, nil)
		given := 0
		s.fs.VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				given++
			}
		})
		if err == nil && given == 0 && len(rest) != len(args) &&
			!(slices.Contains(args, "--") && len(rest) == len(args)-1) {
			t.Errorf("of %q only %q is left, and no error", args, rest)
		}
		if s.body.String() != "" {
			if _, _, err := readJSON(s.body.String()); err != nil {
				t.Errorf("%q: %v", s.body.String(), err)
			}
		}
	})
}

// Words of any length give an answer at once.
func TestHugeArguments(t *testing.T) {
	huge := strings.Repeat("ab-", 1<<16)
	for _, args := range [][]string{
		{"--" + huge, huge}, {"-" + huge}, {"--label", huge}, {"--num-prompts", huge}, {"--extra-body." + huge, huge},
		{"--extra-body", huge}, {"--extra-body." + strings.Repeat("a.", 1<<16) + "b", "1"},
		{"--extra-body", strings.Repeat("[", 1<<17)}, {"--extra-body.a", strings.Repeat("[", 1<<20)},
	} {
		if _, _, err := parse(newSampleFlags().fs, args, nil); err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.20s: an error of %d bytes", fmt.Sprint(args), len(err.Error()))
		}
	}
	many := slices.Repeat([]string{"--extra-body.a+", "x", "--extra-body", "{}", "--extra-body.a", "y"}, 10_000)
	if _, warnings, err := parse(newSampleFlags().fs, many, nil); err != nil || len(warnings) != 2 {
		t.Errorf("%d warnings, %v; want 2", len(warnings), err)
	}
}

// A flag of one letter is its long name, with its value behind it or joined.
func TestShort(t *testing.T) {
	for _, args := range [][]string{{"-e", "x"}, {"-e=x"}, {"-ex"}, {"--experiment", "x"}} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		name := fs.StringP("experiment", "e", "", "")
		if _, _, err := parse(fs, args, nil); err != nil || *name != "x" {
			t.Errorf("%q: %q, %v", args, *name, err)
		}
		if _, _, err := parse(fs, []string{"-é"}, nil); err == nil {
			t.Error("-é is taken")
		}
	}
}

// A name that begins one of vLLM's flags alone is that flag, whatever flags there are besides; one that begins several,
// or only flags that vLLM does not have, is looked for among all.
func TestAbbreviations(t *testing.T) {
	fs := pflag.NewFlagSet("serve [flags]", pflag.ContinueOnError)
	for _, name := range append(flagsOfVLLM("serve"), "request-ratio", "goodput-of", "find", "find-steps", "no-screen",
		"burst") {
		if name != "help" && name != "burstiness" { // one of vLLM's that is missing here
			fs.String(name, "", "")
		}
	}
	for name, want := range map[string]string{
		"request-r": "request-rate", "good": "goodput", "goodput-": "goodput-of", "find": "find", "find-": "find-steps",
		"no_st": "no-stream",
		"no_sc": "no-screen", "request": "", "fin": "", "burst": "burst", "bursti": "", "nothing": "", "": "",
	} {
		f, err := Find(fs, name)
		if got := ""; (want == "") != (err != nil) || f != nil && f.Name != want {
			if f != nil {
				got = f.Name
			}
			t.Errorf("--%s is %q, error %v; want %q", name, got, err, want)
		}
	}
	if _, err := Find(fs, "hel"); !errors.As(err, new(Help)) {
		t.Errorf("--hel: %v, want the help", err)
	}
	if names := flagsOfVLLM("demo [flags]"); names != nil {
		t.Errorf("flags of vLLM's for a command of our own: %q", names)
	}
}
