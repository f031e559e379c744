package cli

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/spec"
)

// flagsOfCommands are vLLM's flags of each of its commands, as the abbreviations are read by; those of serve are the
// recorded ones.
func flagsOfCommands(t *testing.T) map[string][]string {
	text := assert.Must(os.ReadFile("../argv/vllm_flags.txt"))(t)
	all := map[string][]string{}
	for part := range strings.SplitSeq(string(text), "\n\n") {
		name, flags, _ := strings.Cut(part, ":")
		all[name] = strings.Fields(flags)
	}
	recorded := []string{"help"}
	for _, f := range vllmFlags(t) {
		for _, name := range f.Flags {
			recorded = append(recorded, strings.TrimPrefix(name, "--"))
		}
	}
	if slices.Sort(recorded); !slices.Equal(all["serve"], recorded) {
		t.Errorf("serve: the list is %q, recorded are %q", all["serve"], recorded)
	}
	return all
}

// What begins one of vLLM's flags alone is that flag, or an error where it is not here, whatever flags are added here;
// so no flag and no old spelling of ours may be such a beginning itself.
func TestAbbreviationsOfVLLM(t *testing.T) {
	ours := map[string]*pflag.FlagSet{
		"serve": spec.New().Flags.All(), "throughput": newThroughputOptions().Flags.All(),
		"latency": newLatencyOptions().Flags.All(),
		"startup": newStartupOptions().flags.All(), "sweep startup": newSweepStartupOptions().flags.All(),
		"sweep serve":          newSweepOptions("serve", "").flags.All(),
		"sweep serve_workload": newSweepOptions("serve_workload", "").flags.All(),
	}
	for command, names := range flagsOfCommands(t) {
		fs := ours[command]
		if fs == nil {
			continue // plots, whose flags are defined as they are read
		}
		for _, name := range names {
			for n := 1; n <= len(name); n++ {
				begins := func(other string) bool { return strings.HasPrefix(other, name[:n]) }
				if n < len(name) && (slices.Contains(names, name[:n]) ||
					slices.IndexFunc(names, begins) != slices.Index(names, name) ||
					slices.ContainsFunc(names[slices.Index(names, name)+1:], begins)) {
					continue // ambiguous with vLLM
				}
				f, err := argv.Find(fs, name[:n])
				switch {
				case errors.As(err, new(argv.Help)) && name == "help", f != nil && f.Name == name, err != nil &&
					fs.Lookup(name) == nil:
				default:
					t.Errorf("%s --%s: %v, error %v; with vLLM it is --%s", command, name[:n], f, err, name)
				}
				if old := argv.Current(name[:n]); fs.Lookup(name[:n]) == nil && old != name[:n] && old != name {
					t.Errorf("%s --%s is read as --%s; with vLLM it is --%s", command, name[:n], old, name)
				}
			}
		}
	}
}
