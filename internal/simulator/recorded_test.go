package simulator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// recording is a file of answers of a real server.
type recording struct {
	Command string
	Cases   []struct {
		Name, Path string
		Body       *string // nil for one that is not kept
		Encoding   string
		Pieces     [][2]any // milliseconds and bytes
	}
}

// forms is the order of the events of an answer, each by its name and the form of its JSON; equal ones in a row count
// as one.
func forms(header http.Header, body string) (all []string) {
	add := func(name, data string) {
		form := name + " " + data
		var v any
		if err := json.Unmarshal([]byte(data), &v); err == nil {
			form = name + " " + formOf(v)
		}
		if n := len(all); n == 0 || all[n-1] != form {
			all = append(all, form)
		}
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		add("", body)
		return all
	}
	for event := range strings.SplitSeq(body, "\n\n") {
		if strings.HasPrefix(event, "event: ping\n") {
			continue // Anthropic's servers send them
		}
		name, data := "", event
		if rest, ok := strings.CutPrefix(event, "event: "); ok {
			name, data, _ = strings.Cut(rest, "\n")
		}
		if data, ok := strings.CutPrefix(data, "data: "); ok {
			add(name, data)
		}
	}
	return all
}

// formOf is the form of a JSON value: its keys, and the kinds of their values.
func formOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			form := formOf(v[key])
			if key == "top_logprobs" && strings.HasPrefix(form, "[{") && !strings.Contains(form, "logprob:") {
				form = "[by token]"
			}
			parts = append(parts, key+":"+form)
		}
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + formOf(v[0]) + "]"
	case nil:
		return "null"
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", v), "float")
	}
}

// otherwise are recorded requests that the simulator answers in another way.
var otherwise = map[string]string{
	"chat, two choices":                  "n is 1",
	"embeddings of a generator":          "there is one server for all endpoints",
	"rerank, scores that are no numbers": "scores are numbers",
}

// The answers have the forms of those of a real vLLM to the same requests.
func TestAnswersAreThoseOfVLLM(t *testing.T) {
	files, err := filepath.Glob("../../loadgen/testdata/recorded/vllm-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.Fine(t, err)
		var r recording
		assert.Fine(t, json.Unmarshal(data, &r))
		p := Defaults()
		p.Model, p.MaxModelLen = "tiny", 4096
		p.PrefixCache = strings.Contains(r.Command, "--enable-prompt-tokens-details")
		p.RequestMetrics = strings.Contains(r.Command, "--enable-per-request-metrics")
		for _, c := range r.Cases {
			if c.Body == nil || otherwise[c.Name] != "" {
				continue
			}
			t.Run(filepath.Base(file)+"/"+c.Name, func(t *testing.T) {
				var raw bytes.Buffer
				for _, piece := range c.Pieces {
					raw.WriteString(piece[1].(string))
				}
				want, err := http.ReadResponse(bufio.NewReader(&raw), nil)
				assert.Fine(t, err)
				body, err := io.ReadAll(want.Body)
				assert.Fine(t, err)
				bubble(t, p, func(cl *client) {
					response := cl.open(context.Background(), "POST", c.Path, *c.Body)
					defer response.Body.Close()
					got, err := io.ReadAll(response.Body)
					assert.Fine(t, err)
					if response.StatusCode != want.StatusCode {
						t.Errorf("status %d, want %d: %s, want %s", response.StatusCode, want.StatusCode, got, body)
						return
					}
					if a, b := response.Header.Get("Content-Type"), want.Header.Get("Content-Type"); a != b {
						t.Errorf("content type %q, want %q", a, b)
					}
					a, b := forms(response.Header, string(got)), forms(want.Header, string(body))
					if !slices.Equal(a, b) {
						t.Errorf("got\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
					}
				})
			})
		}
	}
}
