package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/metrics"
)

func plan() metrics.Plan { return metrics.Plan{Backend: "openai", ModelID: "m"} }

func report() metrics.Report { return metrics.Report{Plan: plan()} }

func TestParseFlags(t *testing.T) {
	for _, c := range []struct {
		args, rate, goodput string
		prompts             int
		save                bool
		rest                []string
		fails               string
	}{
		{args: "", rate: "inf", prompts: 1000},
		{args: "--request-rate 4 --num-prompts=7", rate: "4", prompts: 7},
		{args: "--request_rate 4 --num_prompts 7 --save_result", rate: "4", prompts: 7, save: true},
		{args: "--request-r 4 --num-p 7", rate: "4", prompts: 7},
		{args: "--num-prompts 7 --num-prompts 8", rate: "inf", prompts: 8},
		{args: "--goodput ttft:500 tpot:50 --num-prompts 7", rate: "inf", prompts: 7, goodput: "ttft:500 tpot:50"},
		{args: "--goodput ttft:500 ttft:4", rate: "inf", prompts: 1000, goodput: "ttft:4"},
		{args: "--save-result --num-prompts 7 a b", rate: "inf", prompts: 7, save: true, rest: []string{"a", "b"}},
		{args: "--save-result=false a", rate: "inf", prompts: 1000, rest: []string{"a"}},
		{args: "--num-prompts 7 -- --save-result", rate: "inf", prompts: 7, rest: []string{"--save-result"}},
		{args: "--num-prompts -3", rate: "inf", prompts: -3},
		{args: "--nope 3 4 --num-prompts 7", rate: "inf", prompts: 7, fails: "--nope: unknown flag"},
		{args: "--nope=3 a --num-prompts 7", rate: "inf", prompts: 7, rest: []string{"a"}, fails: "--nope: unknown flag"},
		{args: "--=3", rate: "inf", prompts: 1000, fails: "--: unknown flag"},
		{args: "--request-rate fast", rate: "inf", prompts: 1000, fails: "--request-rate fast: expected a number or inf"},
		{args: "--num-prompts", rate: "inf", prompts: 1000, fails: "a value is missing"},
	} {
		o := newServeOptions()
		rest, err := parseFlags(o.groups.set(), strings.Fields(c.args))
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.fails)
		}
		if o.rate.String() != c.rate || o.prompts != c.prompts ||
			o.goodput.String() != c.goodput || o.save.result != c.save || !slices.Equal(rest, c.rest) {
			t.Errorf("%s: rate %s, prompts %d, goodput %q, save %v, rest %q", c.args, &o.rate, o.prompts, &o.goodput, o.save.result, rest)
		}
	}
}

func FuzzArgv(f *testing.F) {
	f.Add("--request-rate\x00inf\x00--goodput\x00ttft:1\x00tpot:2\x00--\x00x")
	f.Add("--num_prompts=\x00--save\x00-h")
	f.Fuzz(func(t *testing.T, line string) {
		o := newServeOptions()
		err := o.parse(strings.Split(line, "\x00"))
		if err != nil && !errors.Is(err, errHelp) && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}

// Every flag has words a person can read, and a value that its own parser takes.
func TestFlagsExplainThemselves(t *testing.T) {
	newServeOptions().groups.set().VisitAll(func(f *pflag.Flag) {
		if f.Usage == "" || strings.ToLower(f.Usage[:1]) != f.Usage[:1] {
			t.Errorf("--%s: usage %q", f.Name, f.Usage)
		}
		if f.DefValue != "" && f.Value.Type() != "string" {
			if err := f.Value.Set(f.DefValue); err != nil {
				t.Errorf("--%s does not take its default %q: %v", f.Name, f.DefValue, err)
			}
		}
	})
}
