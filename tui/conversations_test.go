package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// The pages of a run of conversations, with a server that keeps them in its prefix cache and one that does not.
func TestConversationScreens(t *testing.T) {
	const at = 62400 * time.Millisecond
	for _, st := range []struct {
		name string
		s    metrics.Snapshot
	}{{"cached", tuitest.Talk(at, true)}, {"uncached", tuitest.Talk(at, false)}, {"done", tuitest.TalkDone(true)}} {
		for _, page := range []string{"Overview", "Latency", "Load", "Server"} {
			for _, size := range pageSizes {
				name := fmt.Sprintf("conversations_%s_%s_%dx%d.txt", strings.ToLower(page), st.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					m := onPage(st.s, page, size[0], size[1], termenv.Ascii)
					tuitest.Exact(t, m.View(), size[0], size[1], name)
					if page == "Latency" || st.name == "cached" {
						tuitest.Golden(t, "pages/"+name, onlyPanels(m)+"\n")
					}
				})
			}
		}
	}
}
