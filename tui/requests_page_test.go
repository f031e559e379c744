package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// opening opens a request of a run.
func opening(index int) panels.List { return panels.List{Picked: index + 1, Line: 4, Opened: true} }

func TestRequestsPage(t *testing.T) {
	failed := tuitest.Listed(tuitest.Mid())
	failed.Opened = tuitest.Detail(failed.Requests[12])
	failed.Opened.Chunks, failed.Opened.Text, failed.Opened.Finish = nil, "", ""
	failed.Opened.Whole = failed.Opened.Error + strings.Repeat(" and much more of it", 20)
	for _, st := range []struct {
		name string
		s    metrics.Snapshot
		l    panels.List
	}{
		{"list", tuitest.Listed(tuitest.Mid()), panels.List{}},
		{"failed_first", tuitest.Listed(tuitest.Mid()), panels.List{Sort: tuitest.ByFailure, Picked: 4313, Line: 1}},
		{"filtered", tuitest.Listed(tuitest.Mid()), panels.List{Filter: "503", Only: panels.ErrorsOnly}},
		{"none_match", tuitest.Listed(tuitest.Mid()), panels.List{Filter: "nowhere"}},
		{"open", tuitest.Listed(tuitest.Mid()), opening(4310)},
		{"open_failed", failed, opening(4312)},
		{"open_not_kept", tuitest.Listed(tuitest.Mid()), opening(4305)},
		{"open_gone", tuitest.Listed(tuitest.Mid()), opening(17)},
		{"empty", tuitest.Young(), panels.List{}},
	} {
		for _, size := range sizes[1:] {
			name := fmt.Sprintf("requests_%s_%dx%d.txt", st.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := showing(t, st.s, "Requests", size[0], size[1])
				m.list = st.l
				m.show()
				whole(t, m, name)
				tuitest.Golden(t, "screens/"+name, m.View()+"\n")
			})
		}
	}
}

func TestRequestsPageColours(t *testing.T) {
	m := showing(t, tuitest.Listed(tuitest.Mid()), "Requests", 120, 40)
	m.list, m.palette = opening(4310), screen.NewPalette(termenv.ANSI256)
	m.show()
	whole(t, m, "colours")
	tuitest.Golden(t, "colours/requests_120x40.txt", strings.ReplaceAll(m.View(), "\x1b", "␛")+"\n")
}

func FuzzRequestsPage(f *testing.F) {
	f.Add("bench-1", "model", "HTTP 503", "some text\nof two lines", "503 failed", []byte{0, 1, 2, 8, 3, 9}, uint8(120),
		uint8(40))
	f.Add("漢\x1b[2J", "\u202e", "🤖\x07", strings.Repeat("é ", 200), "\xff\xfe", []byte{8, 4, 5, 6, 7, 3}, uint8(80),
		uint8(24))
	f.Fuzz(func(t *testing.T, id, model, words, said, filter string, keys []byte, w, h uint8) {
		h %= 64 // the layout of higher ones is no other
		s := tuitest.Listed(tuitest.Mid())
		s.Requests = slices.Clone(s.Requests)
		for i := range s.Requests {
			s.Requests[i].ID, s.Requests[i].Model, s.Requests[i].Error = id, model, words
		}
		s.Opened = tuitest.Detail(s.Requests[10])
		s.Opened.Text, s.Opened.Whole = said, words
		m := showing(t, s, "Requests", int(w), int(h))
		m.list.Filter = filter
		page := panels.Rect{Y: 3, W: int(w), H: max(0, int(h)-4)}
		for i, k := range keys[:min(len(keys), 32)] {
			v := &panels.View{Snapshot: &s, List: m.list}
			switch k %= 10; k {
			case 6:
				m.list.NextOrder()
			case 7:
				m.list.NextPart()
			case 8:
				m.list.Open(v, page)
			case 9:
				m.list.Close()
			default:
				m.list.Move(panels.Move(k), v, page)
			}
			if i%4 == 0 {
				m.list.Filter = ""
				s.Opened = tuitest.Detail(s.Requests[int(k)%len(s.Requests)])
			}
		}
		m.mode(len(keys) % len(tuitest.Modes))
		whole(t, m, "fuzz")
	})
}
