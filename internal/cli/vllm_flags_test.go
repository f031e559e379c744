package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
	"benchtop/internal/spec"
)

// vllmFlag is an option of vllm bench serve, as docs/compatibility/run.sh flags writes it, for the Rust client with
// "rust".
type vllmFlag struct {
	Flags         []string // its name, and that of its opposite
	Type, Default string   // as Python prints them
	Nargs         any      // a number, "*" or "+"; nil for one value
	Choices       []string
}

// otherDefaults are flags whose default is not vLLM's, with the reason.
var otherDefaults = map[string]string{
	"endpoint":           "follows the backend",
	"percentile-metrics": "vLLM's depends on the backend, and is that of generation here",
	"request-id-prefix":  "random",
}

// otherNumbers are flags that take several values and with vLLM one, with the reason.
var otherNumbers = map[string]string{"base-url": "several servers share the load"}

func vllmFlags(t *testing.T) []vllmFlag { return flagsIn(t, "testdata/vllm_serve_flags.json") }

// rustFlags are those that the Rust client alone has.
func rustFlags(t *testing.T) []vllmFlag {
	both := map[string]bool{}
	for _, f := range vllmFlags(t) {
		both[f.Flags[0]] = true
	}
	return slices.DeleteFunc(flagsIn(t, "testdata/vllm_rs_serve_flags.json"), func(f vllmFlag) bool {
		return both[f.Flags[0]]
	})
}

func flagsIn(t *testing.T, path string) (all []vllmFlag) {
	t.Helper()
	data := assert.Must(os.ReadFile(path))(t)
	if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
		t.Fatalf("%d flags, error %v", len(all), err)
	}
	return all
}

// Every flag of vLLM's Python client is there, with its type, number of values, default and choices; and so are those
// of its Rust client that are there at all.
func TestServeFlagsGolden(t *testing.T) {
	o := spec.New()
	all, inert := o.Flags.All(), o.Flags.Group("Accepted without effect")
	python := vllmFlags(t)
	for i, want := range slices.Concat(python, rustFlags(t)) {
		for _, name := range want.Flags {
			t.Run(name, func(t *testing.T) {
				got := all.Lookup(strings.TrimPrefix(name, "--"))
				switch {
				case got == nil && i >= len(python):
					return // the page says so
				case got == nil:
					t.Fatal("it is missing")
				}
				assert.Equal(t, got.NoOptDefVal != "", want.Nargs == 0., "a switch, with vLLM %v values", want.Nargs)
				if _, several := got.Value.(interface{ Reset() }); several != (want.Nargs == "*" ||
					want.Nargs == "+") && otherNumbers[got.Name] == "" {
					t.Errorf("several values: %v, with vLLM %v", several, want.Nargs)
				}
				if len(want.Choices) > 0 {
					want.checkChoices(t, name)
				}
				if inert.Lookup(got.Name) != nil {
					return // neither default nor type matter
				}
				if !sameDefault(got, want.Default) && otherDefaults[got.Name] == "" {
					t.Errorf("it is %q unless given, with vLLM %s", got.DefValue, want.Default)
				}
				want.checkType(t, got)
			})
		}
	}
	for name, want := range map[string]string{"sonnet-input-len": "550", "sonnet-output-len": "150",
		"sonnet-prefix-len": "200"} {
		if got := all.Lookup(name); got.DefValue != want { // as up to vLLM 0.31
			t.Errorf("--%s is %s unless given, want %s", name, got.DefValue, want)
		}
	}
}

// checkType gives the flag what its type takes, and what it does not.
func (want vllmFlag) checkType(t *testing.T, got *pflag.Flag) {
	good := map[string]string{"int": "7", "float": "0.5"}[want.Type]
	if good == "" {
		return
	}
	if err := got.Value.Set(good); err != nil {
		t.Errorf("%s is refused: %v", good, err)
	}
	if got.Value.Set("x") == nil {
		t.Errorf("x is accepted, with vLLM %s", want.Type)
	}
}

// checkChoices gives the flag each value that vLLM takes, and one that it does not.
func (want vllmFlag) checkChoices(t *testing.T, name string) {
	t.Helper()
	args := []string{"serve", "--port", "0"} // refused, so that nothing is sent
	if name == "--speed-bench-dataset-subset" {
		args = append(args, "--dataset-name", "speed_bench", "--dataset-path", ".")
	}
	refusal := benchtop(append(args, name, "nonsense")...).stderr
	assert.Has(t, refusal, "nonsense")
	switch name {
	case "--dataset-name":
		ours := datasets.Names(datasets.Kinds(&datasets.Common{}))
		for _, choice := range want.Choices {
			if !slices.Contains(ours, choice) {
				t.Errorf("no data set %s among %v", choice, ours)
			}
		}
	case "--speed-bench-dataset-subset":
		_, list, _ := strings.Cut(strings.TrimSpace(refusal), "give one of ")
		assert.EqualAll(t, slices.Sorted(slices.Values(strings.Split(list, ", "))), want.Choices, "subsets")
	default:
		for _, choice := range want.Choices {
			said := benchtop(append(args, name, choice)...).stderr
			if strings.Contains(said, name+" ") && name != "--backend" { // the page lists the missing ones
				t.Errorf("%s: %s", choice, said)
			}
		}
	}
}

// sameDefault compares the default of a flag with one that Python prints.
func sameDefault(f *pflag.Flag, want string) bool {
	switch f.Name {
	case "random-mm-limit-mm-per-prompt":
		got, err := media.ParseLimits(f.DefValue)
		same, err2 := media.ParseLimits(strings.ReplaceAll(want, "'", `"`))
		return err == nil && err2 == nil && fmt.Sprint(got) == fmt.Sprint(same)
	case "random-mm-bucket-config":
		got, err := media.ParseBuckets(f.DefValue)
		same, err2 := media.ParseBuckets(want)
		return err == nil && err2 == nil && slices.Equal(got, same)
	}
	if want == "None" || want == "False" {
		return slices.Contains([]string{"", "0", "false"}, f.DefValue)
	}
	a, err := strconv.ParseFloat(strings.TrimSuffix(f.DefValue, "s"), 64)
	b, err2 := strconv.ParseFloat(want, 64)
	return f.DefValue == want || err == nil && err2 == nil && a == b
}

// The page of compatibility has every flag once, in the right one of its two lists, and is right about which are there.
func TestFlagsOnThePage(t *testing.T) {
	page := assert.Must(os.ReadFile("../../docs/compatibility.md"))(t)
	// up to 0.31
	vllm := map[string]bool{"--sonnet-input-len": true, "--sonnet-output-len": true, "--sonnet-prefix-len": true}
	for _, f := range slices.Concat(vllmFlags(t), rustFlags(t)) {
		for _, name := range f.Flags {
			vllm[name] = true
		}
	}
	all := spec.New().Flags.All()
	told, ours := map[string]bool{}, false
	for line := range strings.Lines(string(page)) {
		ours = ours || strings.HasPrefix(line, "## Flags of our own")
		if strings.HasPrefix(line, "## Differences on purpose") { // what follows is of other commands
			break
		}
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| `--") || len(cells) < 3 {
			continue
		}
		for _, found := range regexp.MustCompile("`(--[a-z0-9-]+)`").FindAllStringSubmatch(cells[1], -1) {
			name := found[1]
			if told[name] {
				t.Errorf("%s is there twice", name)
			}
			told[name] = true
			if vllm[name] == ours {
				t.Errorf("%s is in the wrong list: vLLM has it: %v", name, vllm[name])
			}
			state := strings.TrimSpace(cells[2])
			if there := all.Lookup(argv.Current(name[2:])) != nil; there == (state == "not there yet" ||
				state == "another command") {
				t.Errorf("%s: the page says %q, it is there: %v", name, state, there)
			}
			if !ours && !slices.Contains([]string{"same", "with a difference", "accepted without effect",
				"another command", "not there yet"}, state) {
				t.Errorf("%s: %q is no state", name, state)
			}
			if difference := strings.TrimSpace(cells[3]); !ours && state != "same" && difference == "" {
				t.Errorf("%s: no reason", name)
			}
		}
	}
	for _, name := range argv.OldNames() {
		if !told["--"+name] {
			t.Errorf("the old spelling --%s is not on the page", name)
		}
	}
	for name := range vllm {
		if !told[name] {
			t.Errorf("%s of vLLM is not on the page", name)
		}
	}
	all.VisitAll(func(f *pflag.Flag) {
		if !told["--"+f.Name] && !f.Hidden && f.Name != "help" {
			t.Errorf("--%s is not on the page", f.Name)
		}
	})
}
