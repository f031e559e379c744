package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"benchtop/internal/cli/argv"
)

// The examples of the page run, and print the lines that stand below them.
func TestOfflinePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/offline.md")
	if err != nil {
		t.Fatal(err)
	}
	url := simulated(t, nil)
	t.Chdir(t.TempDir())
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	ran := 0
	for _, block := range blocks {
		var last *result
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			command, isCommand := strings.CutPrefix(line, "$ benchtop ")
			switch {
			case isCommand:
				words, err := argv.Split(strings.ReplaceAll(command, "http://127.0.0.1:8000", url))
				if err != nil {
					t.Fatal(err)
				}
				r := benchtop(words...)
				r.expect(t, exitFine)
				last = &r
				ran++
			case last == nil || !strings.Contains(last.stdout+last.stderr, line):
				t.Errorf("the example does not print %q", line)
			}
		}
	}
	if ran < 9 {
		t.Errorf("%d examples ran", ran)
	}
}
