package tui

import (
	"slices"
	"strings"
	"testing"

	"benchtop/tui/tuitest"
)

// A zoomed panel of few lines shows below them how its figures moved.
func TestZoomedPanelsUseTheirRoom(t *testing.T) {
	s := tuitest.Full()
	s.Server = slices.Clone(s.Server)
	for i := range s.Server {
		s.Server[i].PrefixQueries, s.Server[i].PrefixHits = 100, float64(i%60)
	}
	for page, names := range map[string][]string{"Overview": {"latency"}, "Load": {"slo"},
		"Server": {"why ttft", "cache", "gpu"}} {
		for _, name := range names {
			m := showing(t, s, page, 120, 40)
			m.focus, m.zoomed = name, true
			m.show()
			got := m.View()
			whole(t, m, name)
			rows := strings.Split(got, "\n")
			if low := strings.Join(rows[24:38], ""); strings.Count(low, " ") > len([]rune(low))*9/10 ||
				!strings.Contains(low, "┴0:00") {
				t.Errorf("%s leaves its room empty:\n%s", name, got)
			}
			tuitest.Golden(t, "screens/zoom_"+strings.ReplaceAll(name, " ", "_")+"_120x40.txt", got+"\n")
		}
	}
}
