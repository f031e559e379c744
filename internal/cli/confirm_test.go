package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/session"
	"benchtop/internal/spec"
)

// A confirmation of a load that cannot be held, and a wrong time, are refused before anything is sent.
func TestConfirmUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--confirm --goodput ttft:500": "--confirm: all requests are due " +
			"at once, so there is no load to hold; add --ramp-up-strategy, --stages",
		"--confirm --goodput ttft:500 --request-rate 4": "--confirm: a single load gives " +
			"no estimate to hold; add --ramp-up-strategy, --stages",
		"--confirm --goodput ttft:500 --max-concurrency 4": "--confirm: a single load gives " +
			"no estimate",
		"--confirm 90s --stages 4:5s": "--confirm: give the objectives " +
			"with --goodput, as --goodput ttft:500 tpot:50, or with --tier",
		"--confirm 5s --stages 4:5s --goodput ttft:500": "--confirm 5s: must be at least " +
			"15s; a proof takes 1m or more",
		"--confirm=9000h --stages 4:5s --goodput ttft:500": "--confirm 9000h: more than a year",
		"--confirm soon --stages 4:5s --goodput ttft:500": "--confirm soon: expected a time " +
			"such as 90s or 2m, or none",
		"--confirm 90s 2m --stages 4:5s --goodput ttft:500": "--confirm 2m: one time is " +
			"enough, such as 2m",
		"--confirm --dataset-name timed_trace --dataset-path x --goodput ttft:500": "--confirm: the trace sets the " +
			"times; add --no-self-timed",
	} {
		benchtop(append([]string{"serve"}, strings.Fields(args)...)...).expect(t, session.ExitUsage, want)
	}
}

// The time of a confirmation may be left out.
func TestConfirmTime(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                             "",
		"--confirm":                    "2m",
		"--confirm 90s":                "1m30s",
		"--confirm=90s --confirm":      "2m",
		"--confirm --confirm 5m":       "5m",
		"--confirm --num-prompts 3000": "2m",
	} {
		o := spec.New()
		all := append(strings.Fields("--model m --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 "+
			"--goodput ttft:500"), strings.Fields(args)...)
		if err := o.Parse(all); err != nil || o.Load.Confirm.String() != want {
			t.Errorf("%s: %s, %v; want %s", args, &o.Load.Confirm, err, want)
		}
	}
}

// A data set that ends has prompts for the confirmation as well, and the number that was asked for is that of the plan.
func TestConfirmWithFewPrompts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prompts.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(`{"prompt": "a prompt"}`+"\n", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	inVirtualTime(t, fast(), nil, func(t *testing.T, server *virtual) {
		r := server.serve(t, "--backend", "openai-chat", "--dataset-name", "custom", "--dataset-path", path,
			"--output-len", "2", "--num-prompts", "40",
			"--ramp-up-strategy", "linear", "--ramp-up-start-rps", "20", "--ramp-up-end-rps", "60", "--goodput",
			"ttft:60000", "--confirm", "15s", "--save-result", "--result-dir", dir)
		r.expect(t, session.ExitFine, "the confirmation repeats the data set's 40 prompts")
	})
	v := benchtopOf(t, dir)
	if got := marksOf(v); !strings.HasPrefix(got, "paused|") || !strings.HasSuffix(got, "|unproven") {
		t.Errorf("marks %q", got)
	}
}
