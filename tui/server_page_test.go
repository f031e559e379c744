package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// speechless is a run without samples of server and accelerators.
func speechless(s metrics.Snapshot) metrics.Snapshot {
	s.ServerAbsent = "http://127.0.0.1:8000/metrics answers 404 Not Found, so the server's own figures are not shown"
	s.GPUsAbsent = "no nvidia-smi, amd-smi or rocm-smi in PATH"
	return s
}

// showing is a model on the page of a name.
func showing(t *testing.T, s metrics.Snapshot, page string, w, h int) *model {
	t.Helper()
	m := open(s, w, h, termenv.Ascii)
	for i := range panels.Pages {
		if panels.Pages[i].Name == page {
			m.turn(i)
			m.show()
			return m
		}
	}
	t.Fatalf("no page %q", page)
	return nil
}

func TestServerPage(t *testing.T) {
	for _, st := range []struct {
		name string
		s    metrics.Snapshot
	}{
		{"full", tuitest.Watched(tuitest.Mid(), 8)},
		{"one_gpu", tuitest.Watched(tuitest.Mid(), 1)},
		{"no_gpu", func() metrics.Snapshot {
			s := tuitest.Watched(tuitest.Bad(), 0)
			s.GPUsAbsent = speechless(s).GPUsAbsent
			return s
		}()},
		{"silent", speechless(tuitest.Mid())},
		{"young", tuitest.Watched(tuitest.Young(), 2)},
		{"drafts", func() metrics.Snapshot {
			s := tuitest.Full()
			s.GPUs = nil
			return s
		}()},
		{"gone", tuitest.Gone(tuitest.Watched(tuitest.Mid(), 1))},
	} {
		for _, size := range sizes[1:] {
			name := fmt.Sprintf("server_%s_%dx%d.txt", st.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := showing(t, st.s, "Server", size[0], size[1])
				whole(t, m, name)
				tuitest.Golden(t, "screens/"+name, m.View()+"\n")
			})
		}
	}
}

func TestServerPageColours(t *testing.T) {
	m := showing(t, tuitest.Watched(tuitest.Mid(), 2), "Server", 120, 40)
	m.palette = screen.NewPalette(termenv.ANSI256)
	m.show()
	whole(t, m, "colours")
	tuitest.Golden(t, "colours/server_120x40.txt", strings.ReplaceAll(m.View(), "\x1b", "␛")+"\n")
}

// An unknown figure has no unit.
func TestUnsaidGPU(t *testing.T) {
	s, no := tuitest.Watched(tuitest.Mid(), 1), metrics.Unsaid()
	s.GPUs[len(s.GPUs)-1].GPUs = []metrics.GPU{{Name: "GH200", Use: no, MemoryUsed: no, MemoryTotal: no, Power: no,
		PowerLimit: 700, Temperature: no, Clock: no}}
	m := showing(t, s, "Server", 120, 40)
	for _, bad := range []string{"–G", "–W", "–/", "–°"} {
		assert.Lacks(t, m.View(), bad)
	}
}
