package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The example of docs/datasets.md draws pictures and videos. The same data set loads a server, and is refused before it
// where there is no ffmpeg.
func TestDocsRandomMM(t *testing.T) {
	page := assert.Must(os.ReadFile("../../docs/datasets.md"))(t)
	model := modelDirectory(t, "synthetic-spbpe")
	_, section, _ := strings.Cut(string(page), "\n## random-mm\n")
	_, command, _ := strings.Cut(section, "\n    benchtop dataset ")
	command, _, _ = strings.Cut(command, "\n\n")
	command = strings.ReplaceAll(strings.ReplaceAll(command, "\\\n", " "), "DIRECTORY", model)
	var args []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	folder := t.TempDir()
	const program = "#!/bin/sh\ncat >/dev/null; for file; do :; done; echo a video >\"$file\"\n"
	assert.Fine(t, os.WriteFile(filepath.Join(folder, "ffmpeg"), []byte(program), 0o755))
	path := os.Getenv("PATH")
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+path)

	r := benchtop(append([]string{"dataset", "--jsonl", "-"}, args...)...)
	r.expect(t, session.ExitFine)
	for part, want := range map[string]int{`"url":"data:image/jpeg;base64,/9j/`: 2,
		`"url":"data:video/mp4;base64,YSB2aWRlbwo="`: 2} {
		assert.Equal(t, strings.Count(r.stdout, part), want, "%q: parts %s", args, part)
	}

	run := append([]string{"serve", "--no-tui", "--backend", "openai-chat", "--enable-multimodal-chat", "--num-warmups",
		"1", "--random-output-len", "4",
		"--base-url", simulated(t, nil)}, args...)
	r = benchtop(run...)
	if r.expect(t, session.ExitFine); !strings.Contains(r.stdout, "Failed requests:                         0") {
		t.Errorf("%q gave\n%s", run, r.stdout)
	}

	t.Setenv("PATH", t.TempDir())
	r = benchtop(run...)
	if r.expect(t, session.ExitUsage); !strings.Contains(r.stderr,
		"videos are encoded by ffmpeg, which is not on the PATH; install it") {
		t.Errorf("without ffmpeg:\n%s", r.stderr)
	}
}
