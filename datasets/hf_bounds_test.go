package datasets

import (
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/hf/hub"
)

// A text that the reader of a table lets through, for it may hold pictures, is too large for a prompt.
func TestHFTextIsBounded(t *testing.T) {
	row := hfValues(`{"text":"` + strings.Repeat("x", 64<<20) + `"}`)
	if _, err := textAt(row, "text", nil, false); err == nil || err.Error() != `"text" is longer than 64 MiB` {
		t.Errorf("got %v", err)
	}
}

// A directory that lacks some of the numbered files is used as it is, as by vLLM, and a note says so. A file that was
// named is what was meant.
func TestHFFilesMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "test-00001-of-00002.jsonl")
	write(t, path, `{"question": "a b c d"}`)
	for path, told := range map[string]string{dir: "only 1 of the 2 files", path: ""} {
		h := hfTest{id: "openai/gsm8k", options: Common{Path: path, Prompts: 1, SkipChatTemplate: true}}
		h.flags.subset = "default"
		must(h.open(t))(t)
		if notes := strings.Join(h.notes, " "); !strings.Contains(notes, told) || told == "" && notes != "" {
			t.Errorf("%s: told %q", path, notes)
		}
	}
}

// While pictures are loaded the progress counts pictures, since all prompts are drawn by then.
func TestHFPicturesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	write(t, path, `{"image": "http://x/a.png"}`+"\n"+`{"image": "http://x/b.png"}`+"\n")
	told := ""
	h := hub.New(hub.Options{Env: func(string) string { return "" }, Progress: func(line string) { told = line }})
	d := &hfSampler{Common: Common{Prompts: 9}, class: hfClassOf("Lin-Chen/MMStar"), hub: h,
		from: hub.Selection{Path: path}}
	var err error
	if d.tables.shards, err = h.Select(t.Context(), d.from); err != nil {
		t.Fatal(err)
	}
	defer d.tables.close()
	for range 6 { // five of them have theirs
		d.drawn = append(d.drawn, Conversation{Turns: make([]Turn, 1)})
	}
	fine(t, d.complete(t.Context(), []hfPrompt{{at: hfRow{0, 1}}}, d.drawn[5:]))
	same(t, "progress", told, path+": 6 of 9 pictures loaded")
}
