package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/metrics"
)

// parsed reads a command line with a file, as FILE in it.
func parsed(t *testing.T, file, line string) (*Spec, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	assert.Fine(t, os.WriteFile(path, []byte(file), 0o600))
	o := New()
	return o, o.Parse(strings.Fields(strings.ReplaceAll(line, "FILE", path)))
}

// The command line counts before the file, and the values of both make the same run again.
func TestConfig(t *testing.T) {
	const file = `
model: m
max_concurrency: 8
num-prompts: 50
goodput: ttft:500 tpot:50
extra-body: {top_k: 20}
profiles:
  short: {num-prompts: 5, random-output-len: 3}
`
	o := assert.Must(parsed(t, file, "--max-concurrency 4 --config FILE#short"))(t)
	if o.Server.Model != "m" || o.Load.Prompts != 5 || o.Load.concurrency != 4 || len(o.Report.Goodput) != 2 {
		t.Errorf(
			"model %s, %d prompts, %d users, %v",
			o.Server.Model,
			o.Load.Prompts,
			o.Load.concurrency,
			o.Report.Goodput,
		)
	}
	again := New()
	if err := again.Parse(metrics.Words(o.Settings())); err != nil || !slices.EqualFunc(o.Settings(), again.Settings(),
		func(a, b metrics.Setting) bool { return a.Flag == b.Flag && slices.Equal(a.Values, b.Values) }) {
		t.Errorf("%v; %v again, %v", o.Settings(), again.Settings(), err)
	}
}

// All problems of a file are told at once, and none of its secrets.
func TestConfigRefused(t *testing.T) {
	const file = `
num-promts: 5
max-concurrency: many
config: other.yaml
extra-body: {api_key: sk-1234}
request-rate: [1, 2]
num_warmups: -1
`
	o, err := parsed(t, file, "--config FILE --burstiness 0")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"run.yaml:2: num-promts: unknown flag",
		"run.yaml:3: --max-concurrency many: expected a whole number",
		"run.yaml:7: --num-warmups -1: must not be negative", "run.yaml:4: a file names no other file",
		"run.yaml:6: --request-rate 1,2: ",
		"--burstiness 0: must be more than 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in\n%s", want, err)
		}
	}
	told := strings.Join(o.Warnings, "\n")
	assert.Has(t, told, "run.yaml:5: extra-body has a secret in plain text")
	assert.Lacks(t, told+err.Error()+strings.Join(metrics.Words(o.Settings()), " "), "sk-1234")
}

// A secret in plain text is warned of where it stands, and never told: not by a value of the wrong type either.
func TestSecretsInConfig(t *testing.T) {
	const file = `
header: {Authorization: "Bearer canary-1", X-Key: $HOME}
base-url: http://me:canary-2@h
seed: sk-canary-3
metadata: {note: sk-canary-4}
extra-body: '{"password" "canary-5"}'
`
	o, err := parsed(t, file, "--config FILE --host canary")
	told := strings.Join(o.Warnings, "\n")
	assert.Has(t, told,
		"run.yaml:2: --header Authorization: a file that others may read is no place for secrets",
		"run.yaml:3: --base-url: a file that others may read is no place for a password",
		"run.yaml:5: metadata has a secret in plain text")
	if all := told + err.Error() + strings.Join(metrics.Words(o.Settings()), " "); strings.Contains(all, "canary-") ||
		len(o.Warnings) != 4 {
		t.Errorf("a secret is told: %s", all)
	}
	if _, err := parsed(t, "\nheader: {A: $UNKNOWN_}\n", "--config FILE"); err == nil ||
		!strings.Contains(err.Error(), "run.yaml:2: --header A: the variable UNKNOWN_ is not set") {
		t.Errorf("no variable: %v", err)
	}
	if o, _ := parsed(t, file, "--config FILE --header Authorization=canary"); !strings.Contains(
		strings.Join(o.Warnings, " "),
		"--header Authorization: the command line is no place",
	) {
		t.Errorf("warnings %s", o.Warnings)
	}
	assert.Complains(t, assert.Failure(parsed(t, file, "--config #x")), "--config #x: the name of a file is missing")
}

// Each run of a series is asked for as one: it makes itself again, with the header as it was given.
func TestRuns(t *testing.T) {
	t.Setenv("KEY", "x")
	o := New()
	assert.Fine(t, o.Take([]argv.Value{argv.To("sweep-max-concurrency", "1,2"), argv.To("num-runs", 2),
		{Name: "header", Texts: []string{"X-Team=a b", "X-Key=Bearer $KEY"}}}))
	runs := assert.Must(o.Runs())(t)
	assert.Need(t, len(runs), 4, "runs")
	for i, r := range runs {
		if want := 1 + i/2; r.Load.concurrency != want || r.Series.Many() || r.Server.Secrets()[0] != "X-Team=a b" ||
			!slices.Contains(metrics.Words(r.Settings()), "X-Key=Bearer $KEY") {
			t.Errorf("run %d: %d users, %q", i, r.Load.concurrency, r.Server.Secrets())
		}
	}
}

// A sweep of loads for a time needs no load beside its own.
func TestSweepForATime(t *testing.T) {
	for flag, want := range map[string]string{"sweep-request-rate": "2", "sweep-max-concurrency": "inf"} {
		o := New()
		assert.Fine(t, o.Take([]argv.Value{argv.To(flag, "2,6"), argv.To("duration", "15s")}))
		runs := assert.Must(o.Runs())(t)
		assert.Equal(t, runs[0].Load.Rate.String(), want, "%s", flag)
	}
	o := New()
	assert.Fine(t, o.Take([]argv.Value{argv.To("sweep-request-rate", "inf,2"), argv.To("duration", "15s")}))
	assert.Complains(t, assert.Failure(o.Runs()), "--sweep-request-rate, rate=inf: --duration at an infinite rate")
}

// The run of a preset and its control make themselves again without each other.
func TestRunsOfPreset(t *testing.T) {
	o := New()
	assert.Fine(t, o.Take([]argv.Value{argv.To("preset", "prefix-caching")}))
	runs := assert.Must(o.Runs())(t)
	assert.Need(t, len(runs), 2, "runs")
	for _, r := range runs {
		again := New()
		if err := again.Parse(metrics.Words(r.Settings())); err != nil || again.Series.Many() {
			t.Errorf("%v: %v", metrics.Words(r.Settings()), err)
		}
	}
}
