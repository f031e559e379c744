package preview

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
	"benchtop/tui/tuitest"
)

func plain(s string) string { return s }

func printed(t *testing.T, all ...datasets.Conversation) string {
	t.Helper()
	p := New(2)
	for _, c := range all {
		assert.Fine(t, p.Add(c))
	}
	var b strings.Builder
	assert.Fine(t, p.Text(&b, Options{ASCII: true, Clean: plain}))
	return b.String()
}

func one(id string, turn datasets.Turn) datasets.Conversation {
	return datasets.Conversation{ID: id, Turns: []datasets.Turn{turn}}
}

func TestText(t *testing.T) {
	var all []datasets.Conversation
	for i := range 20 {
		all = append(all, one("r", datasets.Turn{Text: "one\ntwo", InputTokens: 1000 + 40*i, MaxTokens: 128}))
	}
	tuitest.Golden(t, "preview.txt", printed(t, all...))
}

func TestTextOfOtherShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		of   []datasets.Conversation
		want []string
	}{
		{"nothing", nil, []string{"requests             0\n"}},
		{"ids", []datasets.Conversation{one("", datasets.Turn{TokenIDs: []int{1, 22}, InputTokens: 2})},
			[]string{"sent as              token ids", "  1  2 tokens\n      1 22\n"}},
		{"batch", []datasets.Conversation{
			one("b", datasets.Turn{Batch: []datasets.Turn{{Text: "q"}, {Text: "d"}}, InputTokens: 9})},
			[]string{"prompts              2", "      q | d\n"}},
		{"media and messages", []datasets.Conversation{
			one("m", datasets.Turn{Text: "x", InputTokens: 5, MaxTokens: 3, Media: json.RawMessage(`{}`)}),
			one("n", datasets.Turn{Messages: json.RawMessage(`[]`), Overrides: json.RawMessage(`{}`), InputTokens: 5})},
			[]string{"sent as              1 text, 1 chat messages", "with media           1", "without a limit      1",
				"with its own body fields"}},
		{"recordings",
			[]datasets.Conversation{one("r", datasets.Turn{Text: "said?", InputTokens: 1,
				Audio: &media.Audio{Name: "a.wav", Duration: 1500 * time.Millisecond}})},
			[]string{"sent as              recordings", "  1  r, 1 tokens, a.wav of 1.5 s\n      said?\n"}},
		{"times", []datasets.Conversation{{At: 0, Turns: []datasets.Turn{{Text: "x", InputTokens: 1}}},
			{At: 4 * time.Second, Turns: []datasets.Turn{{Text: "y", InputTokens: 1}}}},
			[]string{"the trace takes 4s, 0.5 requests/s on average", "at 4s"}},
		{"long", []datasets.Conversation{one("l", datasets.Turn{Text: strings.Repeat("é", 1000), InputTokens: 500})},
			[]string{strings.Repeat("é", 92) + "\n", "é ...\n"}},
	} {
		got := printed(t, c.of...)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, got)
			}
		}
	}
}

func TestBinsHoldEverything(t *testing.T) {
	for _, all := range [][]int{{0}, {7, 7}, {1, 2}, {1, 1000000}, {99, 100, 101}, {0, 15}, {0, 16},
		{1 << 40, 1<<40 + 3}} {
		var l lengths
		for _, n := range all {
			l.add(n)
		}
		bins, n := l.bins(mostBins), 0
		for i, b := range bins {
			n += b.Requests
			if i > 0 && b.From != bins[i-1].To+1 {
				t.Errorf("%v: bin %d begins at %d", all, i, b.From)
			}
		}
		if n != len(all) || len(bins) > mostBins || bins[0].Requests == 0 || bins[len(bins)-1].Requests == 0 {
			t.Errorf("%v: %v", all, bins)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "", 0.0001: "▏", 0.0125: "▌", 0.025: "█",
		1: strings.Repeat("█", barWidth)} {
		assert.Equal(t, bar(share, false), want, "bar of %v", share)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		of    datasets.Conversation
		timed bool
		want  string
	}{
		{one("a", datasets.Turn{Text: "<é>", InputTokens: 3, MaxTokens: 4}), false,
			`{"request_id":"a","prompt":"<é>","prompt_len":3,"expected_output_len":4}`},
		{one("", datasets.Turn{TokenIDs: []int{1, 2}, InputTokens: 2}), true,
			`{"prompt":[1,2],"prompt_len":2,"expected_output_len":0,"timestamp":0}`},
		{one("b", datasets.Turn{Batch: []datasets.Turn{{Text: "q"}, {TokenIDs: []int{1}}}, InputTokens: 2}), false,
			`{"request_id":"b","prompt":["q",[1]],"prompt_len":2,"expected_output_len":0}`},
		{one("c", datasets.Turn{Messages: json.RawMessage(`[{"role":"user"}]`), Media: json.RawMessage(`{"x":1}`),
			Overrides: json.RawMessage(`{"tools":[]}`)}), false,
			`{"request_id":"c","chat_messages":[{"role":"user"}],"multi_modal_data":[{"x":1}],"prompt_len":0,` +
				`"expected_output_len":0,"request_overrides":{"tools":[]}}`},
		{one("d", datasets.Turn{Text: "said?",
			Audio: &media.Audio{Name: "a.wav", Type: "audio/wav", Data: make([]byte, 50),
				Duration: 1500 * time.Millisecond}}), false,
			`{"request_id":"d","prompt":"said?","audio":{"name":"a.wav","type":"audio/wav","bytes":50,"seconds":1.5},` +
				`"prompt_len":0,"expected_output_len":0}`},
	} {
		got, err := AppendLine([]byte("before "), &c.of, c.timed)
		if err != nil || string(got) != "before "+c.want+"\n" {
			t.Errorf("got %v\n%s, want\n%s", err, got, c.want)
		}
	}
}

// On a narrow terminal nothing is wider than it, whatever the characters.
func TestTextIsAsWideAsTheTerminal(t *testing.T) {
	p := New(9)
	for i, text := range []string{strings.Repeat("table ", 100), strings.Repeat("表", 200), strings.Repeat("👩‍💻", 100),
		"a\nb", strings.Repeat("e\u0301", 200)} {
		p.Add(one("r", datasets.Turn{Text: text, InputTokens: 1000 + 40000*i, MaxTokens: 100 + i}))
	}
	for _, columns := range []int{60, 80, 100} {
		var b strings.Builder
		assert.Fine(t, p.Text(&b, Options{Columns: columns, Clean: plain}))
		bars := true
		for line := range strings.Lines(b.String()) {
			bars = bars && !strings.HasPrefix(line, "first of") // their length does not change
			if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); w > columns &&
				(!bars || !strings.Contains(line, "█")) {
				t.Errorf("%d columns of %d: %s", w, columns, line)
			}
		}
		if !strings.Contains(b.String(), "a⏎b") || !strings.Contains(b.String(), "  表表") {
			t.Errorf("the prompts are not there:\n%s", b.String())
		}
	}
}
