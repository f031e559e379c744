package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// Scripts of others give these flags and values. The flags are those of the help, the values those that a wrong one is
// told.
func TestFrozenFlags(t *testing.T) {
	flag := regexp.MustCompile(`(?m)^(?: {6}|  (-\w), )(--[a-z0-9-]+)`)
	flags := map[string]bool{}
	all := commands()
	for _, c := range sweepCommands() {
		all = append(all, command{name: "sweep " + c.name})
	}
	for _, c := range all {
		for _, names := range flag.FindAllStringSubmatch(
			benchtop(append(strings.Fields(c.name), "--help=all")...).stdout, -1) {
			for _, name := range names[1:] {
				if name != "" {
					flags[c.name+" "+name] = true
				}
			}
		}
	}
	frozen(t, "flags.txt", flags)

	values := map[string]bool{}
	for _, c := range []struct {
		line  string // with ? for the value
		alone bool   // a value alone is not taken, or begins something
	}{
		{line: "serve --backend ?"},
		{line: "serve --dataset-name ?"},
		{line: "serve --dataset-name speed_bench --dataset-path . --speed-bench-dataset-subset ?", alone: true},
		{line: "serve --ramp-up-strategy ?"},
		{line: "serve --lora-assignment ?"},
		{line: "serve --cache ?"},
		{line: "serve --on-hangup ?"},
		{line: "serve --timestamps ?"},
		{line: "serve --pacer ?"},
		{line: "serve --gpu ?"},
		{line: "serve --color ?"},
		{line: "serve --theme ?"},
		{line: "serve --percentile-metrics ?"},
		{line: "serve --goodput ?:5"},
		{line: "serve --fail-on ?<1", alone: true},
		{line: "simulate --profile ?", alone: true},
		{line: "simulate --fault ?=1", alone: true},
	} {
		args := strings.Fields(c.line)
		name := args[0] + " " + args[len(args)-2]
		told := valuesTold(benchtop(strings.Fields(strings.ReplaceAll(c.line, "?", "nosuchvalue"))...).stderr)
		if len(told) == 0 {
			t.Errorf("%s: a wrong value is not told the right ones", c.line)
		}
		for _, value := range told {
			values[name+"="+value] = true
			if c.alone {
				continue
			}
			// A wrong value of another flag keeps the command from more than looking at its flags.
			other := []string{"--gpu-price", "-1"}
			stderr := benchtop(append(strings.Fields(strings.ReplaceAll(c.line, "?", value)), other...)...).stderr
			if told := valuesTold(stderr); told != nil || !strings.Contains(stderr, "--gpu-price") {
				t.Errorf("%s: %s is not taken: %s", c.line, value, stderr)
			}
		}
	}
	if runtime.GOOS == "linux" { // other systems have other values of --pacer
		frozen(t, "flag_values.txt", values)
	}
}

// valuesTold are the values that an error says a flag takes.
func valuesTold(stderr string) (values []string) {
	list := regexp.MustCompile(`(?:use|use one of|there are|this system has|give one of) ((?:[\w-]+(?:\.\w+)?(?:, or ` +
		`|, | or | and ))+[\w-]+(?:\.\w+)?)( \w)?`)
	found := list.FindStringSubmatch(stderr)
	if found == nil {
		return nil
	}
	values = regexp.MustCompile(`, or |, | or | and `).Split(found[1], -1)
	if found[2] != "" { // the last is the first word of more
		values = values[:len(values)-1]
	}
	return values
}

// frozen compares with a list under testdata, one a line.
func frozen(t *testing.T, name string, got map[string]bool) {
	t.Helper()
	path := filepath.Join("testdata", "frozen", name)
	data := assert.Must(os.ReadFile(path))(t)
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	if !slices.IsSorted(want) {
		t.Errorf("%s is not sorted", path)
	}
	for _, line := range want {
		if !got[line] {
			t.Errorf("%s is gone or has another name, but it is frozen: scripts give it. See %s", line, path)
		}
		delete(got, line)
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("%s is new: add it to %s, in its order", line, path)
	}
}
