package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

// behaviour is the environment variable that tells the test's own ffmpeg its part.
const behaviour = "BENCHTOP_TEST_FFMPEG"

// TestMain is the program ffmpeg where it is called under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "ffmpeg" {
		os.Exit(m.Run())
	}
	switch os.Getenv(behaviour) {
	case "writes":
		samples, _ := io.ReadAll(os.Stdin)
		args := os.Args[1 : len(os.Args)-1]
		_ = os.WriteFile(os.Args[len(os.Args)-1],
			fmt.Appendf(nil, "%x %s", sha256.Sum256(samples), strings.Join(args, " ")), 0o600)
	case "complains":
		fmt.Fprint(os.Stderr, strings.Repeat("a long warning\n", 1000), "Unknown encoder\t'mpeg4'\n\n")
		os.Exit(8)
	case "says nothing":
		os.Exit(9)
	case "hangs":
		fmt.Fprintln(os.Stderr, "I am here")
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

// standIn puts the test itself in place of ffmpeg.
func standIn(t *testing.T, does string) {
	t.Helper()
	self := assert.Must(os.Executable())(t)
	folder := t.TempDir()
	assert.Fine(t, os.Symlink(self, filepath.Join(folder, "ffmpeg")))
	t.Setenv("PATH", folder)
	t.Setenv(behaviour, does)
	t.Setenv("TMPDIR", t.TempDir())
}

// left is what stands in the folder of temporary files.
func left(t *testing.T) []os.DirEntry {
	t.Helper()
	files := assert.Must(os.ReadDir(os.TempDir()))(t)
	return files
}

func TestVideo(t *testing.T) {
	standIn(t, "writes")
	b := Bucket{Height: 5, Width: 7, Frames: 3, Weight: 1}
	e := assert.Must(NewEncoder(t.Context(), Buckets{b}))(t)
	defer e.Close()
	drawn := numpy.NewGenerator(3).Bytes(b.Size())
	part := assert.Must(e.Begin(b, numpy.NewGenerator(3).Fill).Part())(t)
	got := sentParts(t, part)[0]
	text, ok := strings.CutPrefix(got.Video.URL, "data:video/mp4;base64,")
	want := fmt.Sprintf(
		"%x -hide_banner -loglevel error -f rawvideo -pixel_format rgb24 -video_size 7x5 -framerate 30 -i pipe:0 -vf "+
			"crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0 -pix_fmt yuv420p -c:v mpeg4 -threads 1 -g 12 -qmin 3 -b:v 2100 -bt "+
			"2100 -f mp4", sha256.Sum256(drawn))
	if file := string(unbase64(t, text)); !ok || got.Type != "video_url" || file != want {
		t.Errorf("got  %s\nwant %s", file, want)
	}
	if files := left(t); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestVideoErrors(t *testing.T) {
	b := Bucket{Height: 2, Width: 4, Frames: 2, Weight: 1}
	for does, want := range map[string]string{
		"complains":    "a video of 2 by 4 pixels and 2 frames: ffmpeg: Unknown encoder 'mpeg4'",
		"says nothing": "a video of 2 by 4 pixels and 2 frames: ffmpeg: exit status 9",
		"nothing":      "a video of 2 by 4 pixels and 2 frames: the file of ffmpeg: ",
	} {
		t.Run(does, func(t *testing.T) {
			standIn(t, does)
			e, err := NewEncoder(t.Context(), Buckets{b})
			assert.Fine(t, err)
			defer e.Close()
			_, err = e.Begin(b, func([]byte) {}).Part()
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			if files := left(t); len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// The end of the run ends the program, however much it has to do.
func TestVideoCancelled(t *testing.T) {
	standIn(t, "hangs")
	b := Bucket{Height: 512, Width: 512, Frames: 2, Weight: 1} // more than a pipe holds
	ctx, cancel := context.WithCancel(t.Context())
	e := assert.Must(NewEncoder(ctx, Buckets{b}))(t)
	x := e.Begin(b, func([]byte) {})
	for len(left(t)) == 0 { // it has begun
		time.Sleep(time.Millisecond)
	}
	cancel()
	e.Close()
	assert.Is(t, assert.Failure(x.Part()), context.Canceled)
	if files := left(t); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestNoFFmpeg(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	assert.Is(t, assert.Failure(NewEncoder(t.Context(), Buckets{{2, 2, 1, 1}, {2, 2, 2, 1}})), ErrNoFFmpeg)
	assert.Fails(t, "pictures", assert.Failure(NewEncoder(t.Context(), Buckets{{2, 2, 1, 1}})), "")
}

func TestLastWords(t *testing.T) {
	for text, want := range map[string]string{"": "", " \n": "", "one": "one", "one\r\ntwo \x1b[31m\n\n": "two  [31m",
		strings.Repeat("x", 5000) + "end": strings.Repeat("x", 1021) + "end"} {
		var w, pieces lastWords
		for piece := range bytes.Lines([]byte(text)) {
			_, _ = pieces.Write(piece)
		}
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil || w.line() != want || pieces.line() != want {
			t.Errorf("%.20q: got %q, in pieces %q, want %q", text, w.line(), pieces.line(), want)
		}
	}
}
