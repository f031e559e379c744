package protocol

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// The page of backends has each protocol with its path, its chunk and the end of a whole answer.
func TestBackendsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/compatibility.md")
	assert.Fine(t, err)
	_, section, _ := strings.Cut(string(page), "\n## Backends\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			p := Named(name[1])
			if p == nil {
				t.Errorf("there is no backend %s", name[1])
				continue
			}
			told = append(told, name[1])
			traits := p.Traits()
			end := traits.Ending
			if !traits.Streams {
				end = "`" + traits.Member + "`"
			}
			for i, want := range map[int]string{2: "`" + traits.Path + "`", 4: traits.Chunk, 5: end} {
				assert.Equal(t, strings.TrimSpace(cells[i]), want, "%s: the page says", name[1])
			}
		}
	}
	all := List()
	slices.Sort(told)
	if slices.Sort(all); !slices.Equal(told, all) {
		t.Errorf("the page has the backends %q, want %q", told, all)
	}
}
