package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// prepares is a screen of a preparation at a moment after its beginning.
func prepares(p *Preparation, after time.Duration, w, h int) *model {
	m := newModel(Options{HeaderEvery: 500 * time.Millisecond}, screen.NewPalette(termenv.Ascii))
	m.prep = &preparationScreen{of: p}
	m.prep.wait = func() tea.Msg { return nil }
	m.tick = func() tea.Cmd { return nil }
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(preparationMsg{p.began.Add(after)})
	return m
}

// took sets the times of a preparation's steps, so that each takes a given time.
func took(p *Preparation, times ...time.Duration) {
	at := p.began
	for i, d := range times {
		p.steps[i].began = at
		if at = at.Add(d); i != p.at {
			p.steps[i].ended = at
		}
	}
}

// drawing is a preparation in the middle of its prompts.
func drawing() *Preparation {
	p := NewPreparation("server", "tokenizer", "prompts", "test request", "warm-up")
	p.About(&metrics.Plan{BaseURL: "http://10.0.0.7:8000", ModelID: "Qwen/Qwen3-32B", Load: "8 req/s (Poisson)"})
	p.Step("server")
	p.Say("ready, model Qwen/Qwen3-32B")
	p.Step("tokenizer")
	p.Say("the server's tokenizer")
	p.Step("prompts")
	p.Count(1234, 2000)
	took(p, 40*time.Millisecond, 340*time.Millisecond, 0)
	return p
}

// waiting is a preparation that does not get to its server.
func waiting() *Preparation {
	p := NewPreparation("baseline", "server", "tokenizer", "prompts", "test request", "connections")
	p.About(&metrics.Plan{BaseURL: "http://10.0.0.7:8000", Load: "8 req/s (Poisson)"})
	p.Step("baseline")
	p.Say("last week.json")
	p.Step("server")
	p.Say("waiting up to 8m49s more for http://10.0.0.7:8000: cannot reach http://10.0.0.7:8000: connection refused; " +
		"is the server up, and is the address right (--base-url, --host, --port)? ")
	took(p, 12*time.Second, 0)
	return p
}

func TestPreparationOnScreen(t *testing.T) {
	for name, c := range map[string]struct {
		of    *Preparation
		after time.Duration
		ascii bool
	}{
		"preparing":       {drawing(), 5400 * time.Millisecond, false},
		"preparing_ascii": {drawing(), 5400 * time.Millisecond, true},
		"preparing_waits": {waiting(), 83 * time.Second, false},
	} {
		for _, size := range sizes {
			m := prepares(c.of, c.after, size[0], size[1])
			m.ASCII = c.ascii
			got := m.View()
			tuitest.Exact(t, got, size[0], size[1], name)
			tuitest.Golden(t, fmt.Sprintf("screens/%s_%dx%d.txt", name, size[0], size[1]), got+"\n")
			if i := strings.IndexFunc(got, func(r rune) bool { return r > '~' }); c.ascii && i >= 0 {
				t.Errorf("%s at %v: %q is not ASCII", name, size, got[i:i+3])
			}
		}
	}
}

// A preparation of any size, in any state and with any words is drawn without a panic.
func TestPreparationAtAnySize(t *testing.T) {
	ci.SkipUnderRace(t)
	empty, long := NewPreparation(), NewPreparation("server")
	for range 30 {
		long.Step(strings.Repeat("s", len(long.steps)))
		long.Say(strings.Repeat("wörds ", 25) + "\x1b[31m\x07\u202e")
		long.Count(7, 0)
	}
	long.Count(9, 3)
	for _, p := range []*Preparation{empty, drawing(), waiting(), long} {
		for w := 0; w < 130; w += 1 + w/30 {
			for _, h := range []int{0, 1, 2, 3, 5, 9, 10, 11, 24, 50} {
				m := prepares(p, time.Hour, w, h)
				shown := m.View()
				tuitest.Exact(t, shown, w, h, "preparation")
				if strings.Contains(shown, "display error") || strings.ContainsAny(shown, "\x1b\x07\u202e") {
					t.Fatalf("at %dx%d:\n%q", w, h, shown)
				}
			}
		}
	}
}

// A step that was not known beforehand stands where it was done.
func TestUnforeseenStep(t *testing.T) {
	p := NewPreparation("server", "prompts", "warm-up")
	for _, s := range []string{"server", "prompts", "prompt lengths", "warm-up"} {
		p.Step(s)
	}
	names := metrics.Each(p.view(time.Now()).rows, func(r preparationRow) string { return r.name })
	if got := strings.Join(names, ", "); got != "server, prompts, prompt lengths, warm-up" {
		t.Error(got)
	}
}

// One program shows the preparation and then the run: the terminal changes to the other screen once, and back once.
func TestPreparationTurnsIntoTheRun(t *testing.T) {
	p := NewPreparation("server")
	s := begin(t, false, func(o *Options) { o.Preparation, o.Snapshots, o.Control = p, nil, nil })
	p.Step("server")
	p.Say("looking at it")
	s.until("the preparation", func() bool { return strings.Contains(s.out.String(), "looking at it") })
	s.press("1xz?") // which mean nothing yet
	if !p.Seal() {
		t.Fatal("the preparation was left")
	}
	p.Show(s.snapshots, s.control, nil)
	// Only changed cells are sent, so that any one word may come in parts.
	s.until("the run", func() bool {
		return slices.ContainsFunc([]string{"2348", "TTFT", "ITL", "tokens/s", "latency"},
			func(word string) bool { return strings.Contains(s.out.String(), word) })
	})
	s.press("q")
	s.until("a drain", func() bool { d, a := s.asked(); return d == 1 && a == 0 })
	s.cancel(context.Canceled)
	s.returned(context.Canceled)
	assert.Equal(t, strings.Count(s.out.String(), "\x1b[?1049h"), 1, "times to the other screen")
}

// A preparation is left by q and Ctrl-C, which is a key on a terminal that is drawn on; other keys do nothing.
func TestPreparationIsLeft(t *testing.T) {
	for _, keys := range []string{"q", "\x03", "qqq", "\x1az1\x03"} {
		p := NewPreparation("server")
		s := begin(t, false, func(o *Options) { o.Preparation, o.Snapshots, o.Control = p, nil, nil })
		s.until("the preparation", func() bool { return strings.Contains(s.out.String(), "PREPARING") })
		s.press(keys)
		s.returned(nil)
		if p.Seal() {
			t.Errorf("%q: the run could begin", keys)
		}
	}
}

// A key that comes between the preparation and the first snapshot of the run stops the run as if it had come a moment
// later.
func TestKeysBetweenPreparationAndRun(t *testing.T) {
	p := NewPreparation("server")
	m := prepares(p, time.Second, 80, 24)
	p.Seal()
	press(m, "q")
	run := &control{}
	m.Update(runMsg{preparedRun{control: run, baseline: &Baseline{Name: "old", Report: tuitest.Done().Report}},
		func() tea.Msg { return nil }})
	press(m, "q", "5")
	if !strings.Contains(m.View(), "PREPARING") || run.drains > 0 {
		t.Errorf("drained %d times before there is a run to be seen:\n%s", run.drains, m.View())
	}
	m.Update(snapshotMsg{tuitest.Mid()})
	if run.drains != 1 || run.aborts != 1 || !strings.Contains(m.View(), "ABORTING") || m.Baseline == nil {
		t.Errorf("%d drains, %d aborts, want one each; baseline %v:\n%s", run.drains, run.aborts, m.Baseline, m.View())
	}
}
