package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/tuitest"
)

// onPage opens a page by its name.
func onPage(s metrics.Snapshot, name string, w, h int, p termenv.Profile) *model {
	m := open(s, w, h, p)
	m.page = pageNamed(name)
	m.show()
	return m
}

func pageNamed(name string) int {
	for i, p := range panels.Pages {
		if p.Name == name {
			return i
		}
	}
	return -1
}

var pageSizes = [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 50}}

func TestLatencyAndLoadScreens(t *testing.T) {
	for _, page := range []string{"Latency", "Load"} {
		for _, st := range []struct {
			name string
			open func(w, h int) *model
		}{
			{"full", func(w, h int) *model { return onPage(tuitest.Full(), page, w, h, termenv.Ascii) }},
			{"back", func(w, h int) *model {
				m := onPage(tuitest.Full(), page, w, h, termenv.Ascii)
				m.span, m.until, m.latency = 0, m.shown.At.Truncate(time.Second)-20*time.Second, metrics.E2EL
				m.show()
				return m
			}},
			{"baseline", func(w, h int) *model {
				m := onPage(tuitest.Full(), page, w, h, termenv.Ascii)
				m.Baseline = &Baseline{Name: "2026-11-20-0915.json", Report: tuitest.Older()}
				m.show()
				return m
			}},
			{"done", func(w, h int) *model { return onPage(tuitest.FullDone(), page, w, h, termenv.Ascii) }},
			{"young", func(w, h int) *model {
				return onPage(tuitest.Judge(tuitest.Young()), page, w, h, termenv.Ascii)
			}},
		} {
			for _, size := range pageSizes {
				name := fmt.Sprintf("%s_%s_%dx%d.txt", strings.ToLower(page), st.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					got := onlyPanels(st.open(size[0], size[1]))
					tuitest.Golden(t, "pages/"+name, got+"\n")
				})
			}
		}
		for _, c := range []struct {
			name string
			p    termenv.Profile
			w, h int
		}{{"true", termenv.TrueColor, 80, 24}, {"256", termenv.ANSI256, 80, 24}, {"16", termenv.ANSI, 80, 24},
			{"256", termenv.ANSI256, 120, 40}} {
			name := fmt.Sprintf("pages/%s_%s_%dx%d.txt", strings.ToLower(page), c.name, c.w, c.h)
			got := onlyPanels(onPage(tuitest.Full(), page, c.w, c.h, c.p))
			tuitest.Golden(t, name, strings.ReplaceAll(got, "\x1b", "␛")+"\n")
		}
		m := onPage(tuitest.Full(), page, 120, 40, termenv.Ascii)
		m.ASCII = true
		m.show()
		got := onlyPanels(m)
		if i := strings.IndexFunc(got, func(r rune) bool { return r > 0x7e }); i >= 0 {
			t.Errorf("%s in ASCII: %q", page, got[i:i+3])
		}
		tuitest.Golden(t, fmt.Sprintf("pages/%s_ascii_120x40.txt", strings.ToLower(page)), got+"\n")
	}
}

// onlyPanels is the screen without the lines above and below the panels, which other tests check.
func onlyPanels(m *model) string {
	lines := strings.Split(m.View(), "\n")
	l := m.layout()
	if len(l.Panels) == 0 {
		return "no panels"
	}
	return strings.Join(lines[l.Panels[0].Rect.Y:l.Keys.Y], "\n")
}
