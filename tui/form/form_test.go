package form

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func testForm(t *testing.T) *form {
	t.Helper()
	m := newForm(Options{
		Title: "what to load",
		Fields: []Field{
			{Key: "start", Label: "Start", Choices: []string{"defaults", "run 1"}},
			{Key: "server", Label: "Server", Value: "http://a", Asks: true},
			{Key: "model", Label: "Model", Free: true},
			{Key: "key", Label: "API key", Secret: true},
			{Key: "load", Label: "Load", Choices: []string{"users", "rate"}},
			{Key: "users", Label: "Users", Value: "16"},
			{Key: "rate", Label: "Rate", Value: "4"},
		},
		Shown: func(v map[string]string, key string) bool {
			return key != "users" && key != "rate" || v["load"] == key
		},
		Outcome: func(v map[string]string) Outcome {
			if v["users"] == "" {
				return Outcome{Words: []string{"run"}, Problem: "--users: needs a number"}
			}
			return Outcome{Words: []string{"run", v["server"], v["model"], v["load"], v[v["load"]]},
				Cost: "about 960 requests"}
		},
		About: func(_ map[string]string, key string) (string, string) { return "--" + key, "what " + key + " is" },
		Complete: func(v map[string]string, key string) []string {
			if key == "users" {
				return []string{"1600", "1601", "17"}
			}
			return nil
		},
		Fill: func(v map[string]string, key string) map[string]string {
			if key == "start" && v["start"] == "run 1" {
				return map[string]string{"server": "http://b", "load": "rate", "rate": "9"}
			}
			return nil
		},
		Lookup: func(_ context.Context, v map[string]string) (string, []string, error) {
			if v["server"] == "http://a" {
				return "model", []string{"m1", "m2"}, nil
			}
			return "model", nil, errors.New("no server \x1b[31mthere")
		},
	}, screen.NewPalette(termenv.Ascii))
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.Init()())
	typed(m, "<down>") // to the server
	return m
}

// typed presses keys: names in angle brackets, or letters.
func typed(m *form, keys ...string) tea.Cmd {
	special := map[string]tea.KeyType{
		"<enter>": tea.KeyEnter, "<esc>": tea.KeyEsc, "<up>": tea.KeyUp, "<down>": tea.KeyDown, "<left>": tea.KeyLeft,
		"<right>": tea.KeyRight, "<back>": tea.KeyBackspace, "<clear>": tea.KeyCtrlU, "<run>": tea.KeyCtrlR,
		"<tab>": tea.KeyTab,
	}
	var cmd tea.Cmd
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		if kind, ok := special[k]; ok {
			msg = tea.KeyMsg{Type: kind}
		}
		_, cmd = m.Update(msg)
	}
	return cmd
}

func line(m *form) string { return strings.Join(m.out.Words, " ") }

func TestForm(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want string // the command line, as far as it matters
	}{
		{"as it is", nil, "run http://a m1 users 16"},
		{"another model", []string{"<down>", "<right>"}, "run http://a m2 users 16"},
		{"around", []string{"<down>", "<left>"}, "run http://a m2 users 16"},
		{"a model that is typed", []string{"<down>", "x"}, "run http://a m1x users 16"},
		{"another load", []string{"<down>", "<down>", "<down>", "<right>", "<down>", "<back>", "7"},
			"run http://a m1 rate 7"},
		{"a model with a blank", []string{"<down>", "x", " ", "y"}, "run http://a m1x y users 16"},
		{"letters are no choice", []string{"<down>", "<down>", "<down>", "x", "y"}, "run http://a m1 users 16"},
		{"up goes around", []string{"<up>", "<up>", "0"}, "run http://a m1 users 160"},
		{"Tab completes", []string{"<up>", "<up>", "<tab>"}, "run http://a m1 users 160"},
		{"Tab goes on where there is nothing to complete", []string{"<up>", "<up>", "0", "<tab>", "<right>"},
			"run http://b m1 rate 9"},
		{"an older run", []string{"<up>", "<right>"}, "run http://b m1 rate 9"},
	} {
		m := testForm(t)
		typed(m, c.keys...)
		assert.Equal(t, line(m), c.want, "%s", c.name)
	}
}

func TestFormEnds(t *testing.T) {
	m := testForm(t)
	if cmd := typed(m, "<enter>", "<enter>", "<enter>", "<enter>"); cmd != nil || m.use {
		t.Error("Enter before the last field ended the form")
	}
	assert.Has(t, m.View(), "Enter run")
	if cmd := typed(m, "<enter>"); cmd == nil || !m.use {
		t.Error("Enter on the last field did not end the form")
	}
	m = testForm(t)
	if cmd := typed(m, "<up>", "<up>", "<clear>", "<run>"); cmd != nil || m.use ||
		!strings.Contains(m.View(), "! --users: needs a number") {
		t.Errorf("a form with a problem ended, or does not say it:\n%s", m.View())
	}
	if cmd := typed(m, "<esc>"); cmd == nil || m.use {
		t.Error("Esc does not leave the form")
	}
}

// The choices follow the field that asks; an answer that comes too late does not count.
func TestFormLookup(t *testing.T) {
	m := testForm(t)
	typed(m, "b")
	cmd := typed(m, "<down>")
	if cmd == nil {
		t.Fatal("nothing was looked up")
	}
	late := lookupMsg{asked: m.asked - 1, key: "model", choices: []string{"old"}}
	m.Update(late)
	m.Update(cmd())
	if v := m.values()["model"]; v == "old" {
		t.Errorf("the model is %q", v)
	}
	if view := m.View(); !strings.Contains(view, "no server there") || strings.Contains(view, "\x1b[31m") {
		t.Errorf("it does not say why there are no models:\n%s", view)
	}
	if cmd := typed(m, "<down>", "<up>", "<up>", "<left>", "<down>"); cmd != nil {
		t.Error("it looked up again though nothing changed")
	}
	typed(m, "<up>", "c")
	assert.Lacks(t, m.View(), "no server")
	if m.Update(cmd()); m.note != "" {
		t.Errorf("an answer of another server came late and counts: %s", m.note)
	}
	typed(m, "<back>")
	if cmd := typed(m, "<down>"); cmd == nil {
		t.Error("back at the server that did not answer, nobody asks it again")
	}
}

// Where there is little room, labels give way to the value of the field with the cursor.
func TestFormNarrow(t *testing.T) {
	for _, c := range []struct{ w, h int }{{20, 5}, {20, 10}, {30, 10}} {
		m := newForm(Options{
			Fields: []Field{
				{Key: "file", Label: "Data set's file", Short: "File", Value: "/home/me/data/a.json"},
				{Key: "output", Label: "Output tokens", Short: "Output", Value: "1287"},
				{Key: "load", Label: "Kind of load", Short: "Load",
					Choices: []string{"users without any pause", "a rate"}},
			},
			Outcome:  func(map[string]string) Outcome { return Outcome{Words: []string{"run"}} },
			About:    func(map[string]string, string) (string, string) { return "", "" },
			Complete: func(map[string]string, string) []string { return nil },
		}, screen.NewPalette(termenv.Ascii))
		m.Update(tea.WindowSizeMsg{Width: c.w, Height: c.h})
		for _, want := range []string{`› File .*a\.json│`, `› Output 1287│`, `› Load   ‹ user.*… ›`} {
			if view := m.View(); !regexp.MustCompile(want).MatchString(view) {
				t.Errorf("no %s at %dx%d:\n%s", want, c.w, c.h, view)
			}
			typed(m, "<down>")
		}
	}
}

// A command line copied from the screen runs as a whole: it is broken at flags with a '\', or not shown.
func TestFormCommandLine(t *testing.T) {
	words := []string{"benchtop", "serve", "--base-url", "http://127.0.0.1:8000", "--model", "'a  b --c'",
		"--max-concurrency", "16",
		"--duration", "1m", "--goodput", "ttft:500", "tpot:50"}
	whole := strings.Join(words, " ")
	m := testForm(t)
	m.o.Outcome = func(map[string]string) Outcome { return Outcome{Words: words} }
	m.refresh()
	for w := 20; w < 200; w++ {
		m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
		room := w - 4
		if m.narrow() {
			room = w
		}
		var command []string
		for _, line := range m.outcome(room, 20) {
			command = append(command, line.Text)
		}
		view := m.View()
		if strings.HasPrefix(command[0], "(") {
			if w >= 40 || strings.Contains(view, "benchtop serve") {
				t.Errorf("%d columns, and no command line or a part of it:\n%s", w, view)
			}
			continue
		}
		if copied := strings.ReplaceAll(strings.Join(command, "\n"), " \\\n ", ""); copied != whole {
			t.Fatalf("at %d columns a shell takes it as\n%s", w, copied)
		}
		for _, line := range command {
			if screen.Width(line) > room || !strings.Contains(view, line+"\n") ||
				w >= 45 && !regexp.MustCompile(`^(benchtop|  -)`).MatchString(line) {
				t.Errorf("line %q at %d columns:\n%s", line, w, view)
			}
		}
	}
	words = append(words, "--dataset-path", strings.Repeat("x", 200))
	m.refresh()
	if view := m.View(); strings.Contains(view, "benchtop serve") || !strings.Contains(view, "(window too small") {
		t.Errorf("a part of it:\n%s", view)
	}
	m.palette = screen.NewPalette(termenv.ANSI256)
	words = words[:8]
	m.refresh()
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 24})
	if view := m.View(); !regexp.MustCompile(`\\(\x1b\[[0-9;]*m)*\n`).MatchString(view) {
		t.Errorf("something is behind the end of a line: %q", view)
	}
}

// Beside the fields stands what the one with the cursor means, with its choices; a secret is dots everywhere.
func TestFormPane(t *testing.T) {
	m := testForm(t)
	typed(m, "<down>")
	want := []string{"--model", "what model is", "› m1", "  m2", "about 960 requests", "← → select"}
	typed(m, "<down>", "s", "3", "c", "r", "e", "t")
	secret := m.View()
	typed(m, "<down>")
	if strings.Contains(secret+m.View(), "s3cret") || !strings.Contains(secret, "••••••│") ||
		!strings.Contains(m.View(), "••••••") {
		t.Errorf("the secret, or no dots:\n%s\n%s", secret, m.View())
	}
	typed(m, "<up>", "<up>")
	for w := 80; w < 200; w += 10 {
		m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
		for _, words := range want {
			if !strings.Contains(m.View(), words) {
				t.Errorf("no %q at %d columns:\n%s", words, w, m.View())
			}
		}
	}
}

// ? lists the keys in place of the description, or of the fields where there is no room for both; Esc then leads back.
func TestFormHelp(t *testing.T) {
	for _, w := range []int{40, 80} {
		m := testForm(t)
		m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
		typed(m, "?")
		if view := m.View(); !strings.Contains(view, "Esc  cancel") || strings.Contains(view, "Server") != (w == 80) {
			t.Errorf("%d columns:\n%s", w, view)
		}
		if cmd := typed(m, "<esc>"); cmd != nil || strings.Contains(m.View(), "Esc  cancel") {
			t.Errorf("Esc left the form, or not its help:\n%s", m.View())
		}
	}
}

// Long values and many choices are cut and scrolled, at any size.
func TestFormManyChoices(t *testing.T) {
	m := testForm(t)
	f := &m.fields[2]
	for range 300 {
		f.Choices = append(f.Choices, strings.Repeat("x", 10_000))
	}
	typed(m, "<down>", "<left>", "a")
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("語", 5000)), Paste: true})
	for _, size := range [][2]int{{1, 1}, {80, 24}, {500, 200}} {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		m.View()
	}
}

func TestFormSizes(t *testing.T) {
	m := testForm(t)
	tuitest.Golden(t, "form-80x24.txt", m.View())
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	typed(m, "<down>", "<down>", "s", "<up>", "?")
	tuitest.Golden(t, "form-help-120x40.txt", m.View())
	typed(m, "<esc>")
	tuitest.Golden(t, "form-120x40.txt", m.View())
	for h := 5; h < 24; h++ { // the field with the cursor is always there
		m.Update(tea.WindowSizeMsg{Width: 20, Height: h})
		if view := m.View(); !strings.Contains(view, "› ") {
			t.Errorf("no field at 20x%d:\n%s", h, view)
		}
	}
	for w := 0; w < 90; w += 7 {
		for h := 0; h < 30; h += 3 {
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			lines := strings.Split(m.View(), "\n")
			if h > 0 && len(lines) != h {
				t.Fatalf("%d lines at %dx%d", len(lines), w, h)
			}
			for _, l := range lines {
				if n := ansi.StringWidth(l); n > w {
					t.Fatalf("a line of %d columns at %dx%d: %q", n, w, h, l)
				}
			}
		}
	}
}
