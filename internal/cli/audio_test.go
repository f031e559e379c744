package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The example of docs/datasets.md is a data set, and the command there a run of it. The RTFx is that of its recordings,
// and the report from the journal has the same.
func TestDocsCustomAudio(t *testing.T) {
	page := assert.Must(os.ReadFile("../../docs/datasets.md"))(t)
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
	sound := assert.Must(os.ReadFile("../../internal/hf/media/testdata/pcm_16.wav"))(t)
	dir := t.TempDir()
	assert.Fine(t, os.Mkdir(filepath.Join(dir, "speech"), 0o755))
	for name, content := range map[string]string{"speech/one.wav": string(sound), "speech.jsonl": rows} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	t.Chdir(dir)
	args := strings.Fields(strings.Replace(command, "benchtop serve", "dataset --disable-shuffle --jsonl -", 1))
	r := benchtop(args...)
	if r.expect(t, session.ExitFine); !strings.Contains(r.stdout,
		`"prompt":"What is said?","audio":{"name":"audio.wav","type":"audio/wav","bytes":846,"seconds":0.050125},`+
			`"prompt_len":`) ||
		strings.Count(r.stdout, `"audio":{`) != 3 || strings.Count(r.stdout, `"expected_output_len":20}`) != 2 {
		t.Errorf("%v gave\n%s", args, r.stdout)
	}

	args = strings.Fields(strings.Replace(command, "benchtop serve",
		"serve --no-tui --save-result --result-dir . --result-filename r.json --base-url "+simulated(t, nil), 1))
	run := benchtop(args...)
	run.expect(t, session.ExitFine)
	data, err := os.ReadFile("r.json")
	var result struct{ Completed, RTFx, Duration float64 }
	if err == nil {
		err = json.Unmarshal(data, &result)
	}
	const lasts = 0.050125 + 4./16000 + 2./44100
	if got := result.RTFx * result.Duration; err != nil || result.Completed != 3 || math.Abs(got-lasts) > 1e-8 {
		t.Errorf("error %v, %v requests, %v s of sound; want 3 and %v", err, result.Completed, got, lasts)
	}
	line := regexp.MustCompile(`RTFx \(Inverse Real-Time Factor\): +\d+\.\d\d`)
	again := benchtop("report", "r.json")
	if again.expect(t, session.ExitFine); line.FindString(run.stdout) == "" ||
		line.FindString(run.stdout) != line.FindString(again.stdout) {
		t.Errorf("RTFx is %q in the run and %q in its report", line.FindString(run.stdout),
			line.FindString(again.stdout))
	}
}
