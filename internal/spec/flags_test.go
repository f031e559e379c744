package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
)

// The flags of serve follow the same rules.
func TestParseServeFlags(t *testing.T) {
	for _, c := range []struct {
		args, rate, goodput string
		prompts             int
		save                bool
		fails               string
	}{
		{args: "", rate: "inf", prompts: 1000},
		{args: "--request_rate 4 --num_prompts 7 --save_result", rate: "4", prompts: 7, save: true},
		{args: "--goodput ttft:500 tpot:50 --num-prompts 7", rate: "inf", prompts: 7, goodput: "ttft:500 tpot:50"},
		{args: "--goodput ttft:500 ttft:4", rate: "inf", prompts: 1000, goodput: "ttft:4"},
		{args: "--goodput ttft:500 --goodput tpot:4", rate: "inf", prompts: 1000, goodput: "tpot:4"},
		{args: "--request-rate fast", rate: "inf", prompts: 1000,
			fails: "--request-rate fast: expected a number or inf"},
	} {
		o := New()
		_, _, err := o.Flags.Parse(strings.Fields(c.args))
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.fails)
		}
		if o.Load.Rate.String() != c.rate || o.Load.Prompts != c.prompts || o.Report.Goodput.String() != c.goodput ||
			o.Save.Result != c.save {
			t.Errorf("%s: rate %s, prompts %d, goodput %q, save %v", c.args, &o.Load.Rate, o.Load.Prompts,
				&o.Report.Goodput, o.Save.Result)
		}
	}
}

// Every flag has words a person can read, and a value that its own parser takes.
func TestFlagsExplainThemselves(t *testing.T) {
	New().Flags.VisitAll(func(f *pflag.Flag) {
		if f.Usage == "" || strings.ToLower(f.Usage[:1]) != f.Usage[:1] {
			t.Errorf("--%s: usage %q", f.Name, f.Usage)
		}
		if f.DefValue != "" && f.Value.Type() != "string" {
			if err := f.Value.Set(f.DefValue); err != nil {
				t.Errorf("--%s does not take its default %q: %v", f.Name, f.DefValue, err)
			}
		}
		_, several := f.Annotations[argv.Variadic]
		if _, resets := f.Value.(interface{ Reset() }); several && !resets {
			t.Errorf("--%s takes several values and cannot forget them when it is given again", f.Name)
		}
	})
}

// A refused command line gets a reason.
func FuzzServeFlags(f *testing.F) {
	f.Add("--request-rate\x00inf\x00--goodput\x00ttft:1\x00tpot:2\x00--\x00x")
	f.Add("--extra-body.a.b\x003\x00--header\x00--metadata\x00a=b\x00--stages\x008:30s\x00--find")
	f.Fuzz(func(t *testing.T, line string) {
		err := New().Parse(strings.Split(line, "\x00"))
		if err != nil && !errors.As(err, new(argv.Help)) && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
