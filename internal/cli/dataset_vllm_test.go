package cli

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// vllmFiles has small copies of data sets of the hub, and the requests that the client of vLLM makes of them;
// record_hf.py of docs/compatibility writes both.
const vllmFiles = "testdata/vllm_hf/"

// vllmRequest is a request as vLLM's client makes it.
type vllmRequest struct {
	ID        string `json:"request_id"`
	PromptLen int    `json:"prompt_len"`
	OutputLen int    `json:"expected_output_len"`
	Sent      any    // messages; of a recording the prompt
	Audio     *struct {
		Name    string
		Bytes   int
		Seconds float64
	}
}

// The requests are those of vLLM's client for the same command line: prompts, lengths, ids, media, and their order.
func TestRequestsOfVLLM(t *testing.T) {
	dir := unpackedTar(t, vllmFiles+"data.tar.gz")
	model := modelDirectory(t, "synthetic-spbpe")
	data := assert.Must(os.ReadFile(vllmFiles + "requests.json"))(t)
	var recorded struct {
		Datasets string // the version of the library
		Cases    []struct {
			Flags    []string
			Requests []vllmRequest
		}
	}
	data = bytes.ReplaceAll(data, []byte("DATA"), []byte(filepath.ToSlash(dir)))
	assert.Fine(t, json.Unmarshal(data, &recorded))
	for _, c := range recorded.Cases {
		name := c.Flags[slices.Index(c.Flags, "--dataset-path")+1]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"dataset", "--jsonl", "-", "--tokenizer", model, "--request-id-prefix", "id-",
				"--hf-datasets-version",
				recorded.Datasets}, c.Flags...)
			args[slices.Index(args, name)] = filepath.Join(dir, name)
			r := benchtop(append(args, "--hf-name", name)...)
			r.expect(t, session.ExitFine)
			var got []vllmRequest
			for line := range strings.Lines(r.stdout) {
				got = append(got, asVLLM(t, line))
			}
			assert.Need(t, len(got), len(c.Requests), "requests")
			for i, want := range c.Requests {
				if want.Audio != nil && got[i].Audio != nil {
					if !strings.HasSuffix(got[i].Audio.Name, ".wav") {
						want.Audio.Bytes = got[i].Audio.Bytes // vLLM sends it as WAV
					}
					want.Audio.Name = got[i].Audio.Name
				}
				if diff := gocmp.Diff(want, got[i], gocmp.Comparer(samePicture)); diff != "" {
					t.Errorf("%v, request %d (- want, + got):\n%s", c.Flags, i, diff)
				}
			}
		})
	}
}

// asVLLM is a line of --jsonl as vLLM's client sends it.
func asVLLM(t *testing.T, line string) (r vllmRequest) {
	t.Helper()
	var more struct {
		Prompt   any
		Media    any `json:"multi_modal_data"`
		Messages any `json:"chat_messages"`
	}
	assert.Fine(t, errors.Join(json.Unmarshal([]byte(line), &r), json.Unmarshal([]byte(line), &more)))
	if r.Audio != nil {
		r.Sent = more.Prompt
		return r
	}
	content := []any{map[string]any{"type": "text", "text": more.Prompt}}
	switch media := more.Media.(type) {
	case []any:
		content = append(content, media...)
	case map[string]any:
		content = append(content, media)
	}
	r.Sent = more.Messages
	if r.Sent == nil {
		r.Sent = []any{map[string]any{"role": "user", "content": content}}
	}
	return r
}

// samePicture holds texts equal that are equal, or the recorded size and mean colour of a picture and a picture like
// that.
func samePicture(a, b string) bool {
	if a == b {
		return true
	}
	if strings.HasPrefix(b, "picture ") {
		a, b = b, a
	}
	encoded, is := strings.CutPrefix(b, "data:image/jpeg;base64,")
	if !is {
		return false
	}
	var width, height int
	var mean [3]int
	_, err := fmt.Sscanf(a, "picture %d %d %d %d %d", &width, &height, &mean[0], &mean[1], &mean[2])
	data, err2 := base64.StdEncoding.DecodeString(encoded)
	picture, err3 := jpeg.Decode(bytes.NewReader(data))
	if cmp.Or(err, err2, err3) != nil || picture.Bounds().Dx() != width || picture.Bounds().Dy() != height {
		return false
	}
	var sum [3]int
	for y := range height {
		for x := range width {
			r, g, b, _ := picture.At(x, y).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+int(r>>8), sum[1]+int(g>>8), sum[2]+int(b>>8)
		}
	}
	for i, want := range mean {
		if off := sum[i]/(width*height) - want; off < -4 || off > 4 {
			return false
		}
	}
	return true
}

// unpackedTar is a directory with the files of an archive.
func unpackedTar(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	archive := tar.NewReader(bytes.NewReader(unpacked(t, path)))
	for {
		entry, err := archive.Next()
		if err == io.EOF {
			return dir
		}
		assert.Fine(t, err)
		data := assert.Must(io.ReadAll(archive))(t)
		file := filepath.Join(dir, filepath.FromSlash(entry.Name))
		assert.Fine(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)))
	}
}
