package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example of docs/datasets.md is a data set: its lines are read as they stand there.
func TestDocsCustomAudio(t *testing.T) {
	page, err := os.ReadFile("../../docs/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## custom_audio\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows, command string
	for line := range strings.Lines(section) {
		switch code, indented := strings.CutPrefix(line, "    "); {
		case indented && strings.HasPrefix(code, "{"):
			rows += code
		case indented:
			command += code
		}
	}
	sound, err := os.ReadFile("../../datasets/media/testdata/pcm_16.wav")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "speech"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"speech/one.wav": string(sound), "speech.jsonl": rows} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	args := strings.Fields(strings.Replace(command, "benchtop serve", "dataset --disable-shuffle --jsonl -", 1))
	r := benchtop(args...)
	if r.expect(t, exitFine); !strings.Contains(r.stdout, `"prompt":"What is said?","audio":{"name":"audio.wav","type":"audio/wav","bytes":846,"seconds":0.050125},"prompt_len":`) ||
		strings.Count(r.stdout, `"audio":{`) != 3 || strings.Count(r.stdout, `"expected_output_len":20}`) != 2 {
		t.Errorf("%v gave\n%s", args, r.stdout)
	}
}
