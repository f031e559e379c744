package media

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrNoFFmpeg is the error of videos where the program that encodes them is not there.
var ErrNoFFmpeg = errors.New("videos are encoded by ffmpeg, which is not on the PATH; install it (apt-get install " +
	"ffmpeg, or brew install ffmpeg)")

// findFFmpeg is the path of the program.
func findFFmpeg() (string, error) {
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return "", ErrNoFFmpeg
	}
	return path, nil
}

const (
	frameRate = 30 // frames per second, as vLLM's client writes them
	// videoPatience bounds the time for a video.
	videoPatience = 5 * time.Minute
	maxVideoBytes = 1 << 30 // of its file
)

// encodeVideo is the MP4 file of frames, with about as many bytes as OpenCV makes of them for vLLM's client: MPEG-4
// part 2, without the last row or column of an odd size. The file is written to the disk, since its index stands at the
// end and needs all that comes before.
func encodeVideo(ctx context.Context, ffmpeg string, b Bucket, samples []byte) ([]byte, error) {
	folder, err := os.MkdirTemp("", "benchtop-video-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "video.mp4")
	timed, cancel := context.WithTimeout(ctx, videoPatience)
	defer cancel()
	rate := strconv.Itoa(2 * frameRate * b.Width * b.Height)
	c := exec.CommandContext(timed, ffmpeg, "-hide_banner", "-loglevel", "error",
		"-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", fmt.Sprintf("%dx%d", b.Width, b.Height),
		"-framerate", strconv.Itoa(frameRate), "-i", "pipe:0",
		"-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0", "-pix_fmt", "yuv420p",
		"-c:v", "mpeg4", "-threads", "1", "-g", "12", "-qmin", "3", "-b:v", rate, "-bt", rate, "-f", "mp4", path)
	c.Stdin, c.WaitDelay = bytes.NewReader(samples), time.Second
	var said lastWords
	c.Stderr = &said
	err = c.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fmt.Errorf("ffmpeg took more than %d minutes", videoPatience/time.Minute)
	case err != nil:
		return nil, fmt.Errorf("ffmpeg: %s", cmp.Or(said.line(), err.Error()))
	}
	file, err := load(path, maxVideoBytes)
	if err != nil {
		return nil, fmt.Errorf("the file of ffmpeg: %w", err)
	}
	return file, nil
}

// lastWords keeps the end of the text that is written to it.
type lastWords struct{ text []byte }

// Write keeps the last bytes.
func (w *lastWords) Write(p []byte) (int, error) {
	const most = 1 << 10
	w.text = append(w.text, p[max(0, len(p)-most):]...)
	w.text = w.text[max(0, len(w.text)-most):]
	return len(p), nil
}

// line is the last line that says something, fit to be shown.
func (w *lastWords) line() string {
	text := strings.TrimSpace(string(w.text))
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text[strings.LastIndexByte(text, '\n')+1:])
}
