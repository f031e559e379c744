package cli

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

const datasetFiles = "../../datasets/testdata/"

// unpacked is what a file in gzip's form holds.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	packed := assert.Must(os.Open(path))(t)
	defer packed.Close()
	r := assert.Must(gzip.NewReader(packed))(t)
	data := assert.Must(io.ReadAll(r))(t)
	return data
}

// modelDirectory is a directory as a model's: a small tokenizer and a chat template.
func modelDirectory(t *testing.T, name string) string {
	t.Helper()
	data := unpacked(t, "../../internal/hf/tokenizer/testdata/"+name+".tokenizer.json.gz")
	dir := t.TempDir()
	const template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
	for file, content := range map[string][]byte{"tokenizer.json": data, "chat_template.jinja": []byte(template)} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, file), content, 0o600))
	}
	return dir
}

// Every command line that the vectors refuse is refused before anything is sent, for the reason they give; only a
// tokenizer is not needed for random.
func TestRefusedDatasets(t *testing.T) {
	data := assert.Must(os.ReadFile(datasetFiles + "errors.json"))(t)
	var vectors struct {
		Cases []struct {
			Flags       []string
			Case, Error string
		}
	}
	assert.Fine(t, json.Unmarshal(data, &vectors))
	words := map[string]string{
		"custom missing output_tokens": "output_tokens",
		"custom not jsonl":             "does not end in .jsonl",
		"custom no path":               "--dataset-name custom: needs a file; give it with --dataset-path",
		"sharegpt no path":             "--dataset-name sharegpt: needs a file; give it with --dataset-path",
		"custom_image not jsonl":       "does not end in .jsonl",
		"custom_image wrong fields":    "line 1: ",
		"spec_bench no turns":          `"turns"`,
		"speed_bench not dir":          "directory",
		"speed_bench no path":          "--dataset-name speed_bench: needs a file; give it with --dataset-path",
		"sonnet input too small":       "input length 5",
		"sonnet no tokenizer":          "dataset sonnet: needs a tokenizer",
		"random no tokenizer":          "", // on purpose: the prompts are token ids
		"random-mm wrong backend":      "backend openai cannot send them, use --backend openai-chat",
		"hf unknown path":              "the prompts of others are in a column that --hf-text-column names",
		"hf multimodal on completions": "--dataset-name hf: images travel in chat messages; backend openai cannot " +
			"send them, use --backend openai-chat",
		"bfcl wrong backend":          "backend openai cannot send them, use --backend openai-chat",
		"dataset name not in choices": "--dataset-name custom_mm: use one of random, ",
		"trace missing label":         `no field "nope"`,
		"trace missing input label":   `no field "nope"`,
		"bfcl unknown category":       "nope",
	}
	model := modelDirectory(t, "synthetic-spbpe")
	t.Setenv("HF_HUB_OFFLINE", "1")
	seen := 0
	for _, c := range vectors.Cases {
		if c.Flags == nil {
			continue // reported by the data set itself, and tested there
		}
		seen++
		want, known := words[c.Case]
		if !known {
			t.Errorf("nothing says what becomes of %q", c.Case)
		}
		args := []string{"dataset", "--num-prompts", "5"}
		switch c.Case {
		case "random no tokenizer", "sonnet no tokenizer":
			args = append(args, "--skip-tokenizer-init")
		default:
			args = append(args, "--tokenizer", model)
		}
		if !slices.Contains(c.Flags, "--backend") {
			switch { // what vLLM assumes, which a look at a data set does not
			case strings.HasPrefix(c.Case, "custom_image"):
				args = append(args, "--backend", "openai-chat")
			default:
				args = append(args, "--backend", "openai")
			}
		}
		for _, flag := range c.Flags {
			flag = strings.Replace(flag, "data/", datasetFiles, 1)
			if c.Case == "bfcl unknown category" && flag == datasets.BFCLRepository {
				args, flag = append(args, datasetFiles, "--hf-name"), datasets.BFCLRepository
			}
			args = append(args, flag)
		}
		t.Run(c.Case, func(t *testing.T) {
			if want == "" {
				benchtop(args...).expect(t, session.ExitFine, "token ids 1000 to 31999")
				return
			}
			benchtop(args...).expect(t, session.ExitUsage, want)
		})
	}
	assert.Equal(t, seen, len(words), "command lines")
}

// The requests are those that serve would send; nothing is sent.
func TestDataset(t *testing.T) {
	t.Parallel()
	// The small one is read at once, but makes no text of an exact length.
	exact, small := modelDirectory(t, "gpt2-short"), modelDirectory(t, "synthetic-spbpe")
	server := recorded(t, nil)
	file := func(name string) string { return datasetFiles + name }
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"random", "--random-input-len 64 --num-prompts 40", []string{
			"random: 64 input tokens", "tokens               counted by tokenizer " + exact + "\n",
			"prompt tokens        2,572 in all", "first of 40"}},
		{"random ids", "--vocab-size 500 --random-input-len 9 --num-prompts 4 --first 0",
			[]string{"tokens               not counted (prompts are token ids)", "sent as              token ids"}},
		{"rerank", "--dataset-name random-rerank --random-input-len 20 --num-prompts 6 --random-batch-size 3",
			[]string{"prompts              8", "requests             2"}},
		{"rerank for its backend", "--dataset-name random-rerank --backend vllm-rerank --random-input-len 20 " +
			"--num-prompts 6", []string{"requests             6"}},
		{"batches for their backend", "--random-batch-size 2 --backend openai-embeddings --random-input-len 20 " +
			"--num-prompts 6", []string{"requests             3"}},
		{"images", "--dataset-name random-mm --random-input-len 10 --num-prompts 3 --random-mm-bucket-config " +
			"{(8,8,1):1.0}", []string{"with media           3"}},
		{"prefixes", "--dataset-name prefix_repetition --num-prompts 10",
			[]string{"requests             10", "5,123 in all"}},
		{"sharegpt", "--dataset-name sharegpt --num-prompts 10 --dataset-path " + file("sharegpt_small.json"),
			[]string{"requests             10"}},
		{"sonnet", "--dataset-name sonnet --num-prompts 10",
			[]string{"requests             10", "<|user|>", "vLLM 0.33 has no sonnet"}},
		{"burstgpt", "--dataset-name burstgpt --num-prompts 10 --dataset-path " + file("burstgpt_small.csv"),
			[]string{"requests             10"}},
		{"custom", "--dataset-name custom --num-prompts 0 --custom-output-len -1 --dataset-path " + file(
			"custom_small.jsonl"), []string{"<|user|>item"}},
		{"custom as it is",
			"--dataset-name custom --skip-chat-template --num-prompts 3 --dataset-path " + file("custom_small.jsonl"),
			[]string{"\n      item"}},
		{"custom_image",
			"--dataset-name custom_image --no-oversample --num-prompts 9 --dataset-path " + file(
				"custom_image_small.jsonl"), []string{"with media"}},
		{"spec_bench",
			"--dataset-name spec_bench --num-prompts 2 --spec-bench-category math --dataset-path " + file(
				"spec_bench_small.jsonl"), []string{"requests             2"}},
		{"speed_bench", "--dataset-name speed_bench --num-prompts 2 --dataset-path " + file("speed_bench_small"),
			[]string{"each 4,096"}},
		{"timed_trace",
			"--dataset-name timed_trace --timed-trace-sec-multiplier 0.001 --dataset-path " + file("trace_small.jsonl"),
			[]string{"sent as              token ids", "the trace takes"}},
		{"server counts", "--dataset-name sharegpt --num-prompts 3 --dataset-path " + file("sharegpt_small.json"),
			[]string{"tokens               counted by the server's tokenizer"}},
		{"server renders", "--dataset-name custom --num-prompts 3 --dataset-path " + file("custom_small.jsonl"),
			[]string{"by the server's chat template", "\n      user: item"}},
		{"server makes text", "--backend openai-chat --num-prompts 3 --random-input-len 30",
			[]string{"each 30", "sent as              text", "assumed"}},
		{"BFCL", "--dataset-name hf --num-prompts 5 --hf-name " + datasets.BFCLRepository + " --dataset-path " +
			datasetFiles, []string{"chat messages", "with its own body fields", "each 512"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := filepath.Join(t.TempDir(), "lines.jsonl")
			args := append([]string{"dataset", "--jsonl", lines}, strings.Fields(c.args)...)
			switch {
			case strings.HasPrefix(c.name, "server"):
				args = append(args, "--base-url", server.url)
			case c.name == "random" || c.name == "prefixes":
				args = append(args, "--tokenizer", exact)
			default:
				args = append(args, "--tokenizer", small)
			}
			r := benchtop(args...)
			r.expect(t, session.ExitFine, c.want...)
			data := assert.Must(os.ReadFile(lines))(t)
			_, after, _ := strings.Cut(r.stdout, "requests             ")
			n, _, _ := strings.Cut(after, "\n")
			if got := strings.Count(string(data), "\n"); strconv.Itoa(got) != n {
				t.Errorf("%d lines for %s requests", got, n)
			}
			for line := range strings.Lines(string(data)) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %.200s", line)
				}
			}
		})
	}
	if calls := server.all(); len(calls) > 0 {
		t.Errorf("%d requests were sent", len(calls))
	}
}

// Without a dashboard standard error describes the prompts, their tokenizer and warnings.
func TestServeSaysWhatItSends(t *testing.T) {
	t.Parallel()
	server := recorded(t, nil)
	args := []string{"serve", "--no-tui", "--gpu", "none", "--base-url", server.url, "--num-prompts", "2",
		"--random-input-len", "30", "--random-output-len", "2"}
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"--tokenizer", modelDirectory(t, "gpt2-short")},
			[]string{"random: 30 input tokens", "as text, tokens by tokenizer ",
				"benchtop: WARNING: the server's tokenizer is another"}},
		{nil, []string{"this is not vLLM's workload), tokens by the server's tokenizer\n"}},
	} {
		r := benchtop(append(args, c.args...)...)
		r.expect(t, session.ExitFine)
		assert.Has(t, r.stderr, c.want...)
	}
}

// vLLM's client warns where it cannot compare its prompts with the server's tokenizer: their lengths may be others
// there.
func TestServeSaysThatPromptsWereNotCompared(t *testing.T) {
	const said = "benchtop: WARNING: the prompts were not checked against the server's tokenizer"
	for _, c := range []struct {
		name   string
		status int
		body   string
		args   []string
		want   string // behind what is said, "-" for nothing said
	}{
		{"not offered", http.StatusNotFound, "", nil, ", so their lengths may differ there: it has no /tokenize\n"},
		{"another model", http.StatusNotFound,
			`{"error":{"message":"The model does not exist.","type":"NotFoundError","param":"model","code":404}}`, nil,
			`: its /tokenize does not know model "sim-8b"` + "\n"},
		{"broken", http.StatusUnauthorized, "", nil, "does the server want an API key?"},
		{"prefixes", http.StatusNotFound, "", []string{"--dataset-name", "prefix_repetition",
			"--prefix-repetition-num-prefixes", "1"}, "it has no /tokenize"},
		{"ids are what they are", http.StatusNotFound, "", []string{"--vocab-size", "30000"}, "-"},
		{"lengths of a file", http.StatusNotFound, "", []string{"--dataset-name", "sharegpt", "--dataset-path",
			"../../datasets/testdata/sharegpt_small.json"}, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/tokenize" {
					return false
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
				return true
			})
			r := benchtop(append([]string{"serve", "--no-tui", "--gpu", "none", "--base-url", server.url,
				"--num-prompts", "2", "--random-input-len", "9",
				"--output-len", "2", "--tokenizer", modelDirectory(t, "gpt2-short")}, c.args...)...)
			r.expect(t, session.ExitFine)
			_, rest, found := strings.Cut(r.stderr, said)
			if found != (c.want != "-") || found && !strings.Contains(rest, c.want) {
				t.Errorf("got %q, want %q", r.stderr, c.want)
			}
		})
	}
}

func TestDatasetUsage(t *testing.T) {
	benchtop("dataset", "--num-prompts", "0", "--seed", "-1", "--first", "-2", "x").expect(t, session.ExitUsage,
		"--num-prompts 0", "--seed -1", "--first -2", "dataset takes no arguments")
	benchtop("dataset", "--tokenizer", "/nowhere/at/all").expect(t, session.ExitUsage, "/nowhere/at/all")
	benchtop("dataset", "--dataset-name", "custom_audio").expect(t, session.ExitUsage, "--dataset-name custom_audio: ")
	benchtop("dataset", "--jsonl", "/nowhere/at/all").expect(t, session.ExitUsage, "--jsonl:")
	benchtop("dataset", "--help").expect(t, session.ExitFine, "without sending them", "--prefix-repetition-prefix-len")
	r := benchtop("dataset", "--vocab-size", "100", "--num-prompts", "2", "--jsonl", "-")
	if r.expect(t, session.ExitFine); strings.Count(r.stdout, "\n") != 2 ||
		!strings.HasPrefix(r.stdout, `{"request_id":"bench-`) {
		t.Errorf("%.200s", r.stdout)
	}
}

func TestSlices(t *testing.T) {
	model := modelDirectory(t, "gpt2-short")
	output := filepath.Join(t.TempDir(), "slices.jsonl")
	benchtop("dataset", "slices", "--input", datasetFiles+"slices_source.txt", "--output", output, "--tokenizer", model,
		"--num-prompts", "7", "--input-len", "12").expect(t, session.ExitFine)
	data, err := os.ReadFile(output)
	if err != nil || strings.Count(string(data), "\n") != 7 || !strings.HasPrefix(string(data), `{"prompt": "`) {
		t.Errorf("%v, %.100s", err, data)
	}
	benchtop("dataset", "--dataset-name", "custom", "--dataset-path", output, "--skip-chat-template", "--num-prompts",
		"7", "--tokenizer", model, "--custom-output-len", "-1").expect(t, session.ExitFine, "requests             7",
		"each 128")
	benchtop("dataset", "slices", "--input-len", "-1").expect(t, session.ExitUsage, "--output: ", "--tokenizer: ",
		"input length -1")
}

// Impossible prompts are reported with advice.
func TestDatasetRefusals(t *testing.T) {
	t.Parallel()
	model := modelDirectory(t, "synthetic-spbpe")
	server := recorded(t, nil)
	file := func(name string) string { return datasetFiles + name }
	custom := "--dataset-name custom --dataset-path " + file("custom_small.jsonl") + " "
	for _, c := range []struct{ args, want string }{
		{"dataset --dataset-name custom_audio --tokenizer estimate --dataset-path " + file("custom_small.jsonl"),
			`"audio" is missing; expected an object like`},
		{"dataset --dataset-name random-rerank --tokenizer estimate",
			"tried: an estimate cannot generate text\nbenchtop: give"},
		{"dataset --num-prompts 2000000000 --tokenizer estimate --skip-chat-template " + custom,
			"--num-prompts 2000000000: the maximum for one run is 50000000"},
		{"dataset --profile", "unknown flag"},
		{"serve --num-prompts 0 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 --ramp-over 2s " +
			"--tokenizer " + model + " --base-url " + server.url + " " + custom, "give --duration"},
	} {
		r := benchtop(strings.Fields(c.args)...)
		if r.expect(t, session.ExitUsage, c.want); strings.HasPrefix(c.want, "benchtop: ") &&
			!strings.HasPrefix(r.stderr, c.want) {
			t.Errorf("it begins with %q", r.stderr)
		}
		if t.Failed() {
			t.Fatal(c.args)
		}
	}
	if calls := server.all(); len(calls) > 0 {
		t.Errorf("%d requests were sent", len(calls))
	}
	benchtop("dataset", "--backend", "openai-chat", "--vocab-size", "50", "--tokenizer", model, "--num-prompts", "3",
		"--random-input-len", "9").
		expect(t, session.ExitFine, "--vocab-size has no effect", "sent as              text")
	benchtop(append(strings.Fields("dataset --input-len 3 --output-len 7 --tokenizer "+model), "--dataset-name",
		"sonnet", "--num-prompts", "2")...).
		expect(t, session.ExitFine, "--output-len has no effect with sonnet, as with vLLM; use --sonnet-output-len",
			"--input-len has no effect")
	benchtop(append(strings.Fields("dataset --skip-tokenizer-init "+custom), "--num-prompts", "3")...).expect(t,
		session.ExitFine, "asks for 1 token each")
}

// With 0 prompts each row is sent once, at any kind of load.
func TestEveryRow(t *testing.T) {
	const rows = 17
	inVirtualTime(t, fast(), nil, func(t *testing.T, server *virtual) {
		for _, load := range []string{"--request-rate 200", "--max-concurrency 4", "--stages 50:200ms,100:1s",
			"--concurrency-stages 4:10s",
			"--ramp-up-strategy linear --ramp-up-start-rps 10 --ramp-up-end-rps 100 --ramp-over 1s --duration 1s"} {
			r := server.serve(t, strings.Fields("--no-save --skip-chat-template --custom-output-len 1 --num-prompts 0 "+
				"--dataset-name custom --dataset-path "+datasetFiles+"custom_small.jsonl "+load)...)
			r.expect(t, session.ExitFine, fmt.Sprintf("Successful requests:                     %d ", rows))
			if t.Failed() {
				t.Fatal(load)
			}
		}
	})
}

// A problem of the file is reported before the needs of its prompts.
func TestFileBeforeTemplate(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "x.jsonl")
	assert.Fine(t, os.WriteFile(packed, []byte("\x1f\x8b\x08\x00"), 0o600))
	bare := "../../internal/hf/tokenizer/testdata/synthetic-spbpe.tokenizer.json.gz" // without a template
	for _, name := range []string{"custom", "spec_bench", "sonnet"} {
		benchtop("dataset", "--dataset-name", name, "--dataset-path", packed, "--tokenizer", bare).expect(t,
			session.ExitUsage, "gzip")
	}
	benchtop("dataset", "--dataset-name", "sonnet", "--tokenizer", bare).expect(t, session.ExitUsage, "chat template",
		"has none", "--tokenizer DIRECTORY")
}

// A row in a form that the backend cannot send is refused before the first request, with both named.
func TestRowThatTheBackendCannotSend(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	row := `{"content": [{"type": "text", "text": "what"}, {"type": "image_url", "image_url": {"url": ` +
		`"data:image/png;base64,AAAA"}}]}`
	assert.Fine(t, os.WriteFile(file, []byte("{\"prompt\": \"a\", \"image_files\": [\"http://x/p.png\"]}\n"+row+"\n"),
		0o600))
	server := recorded(t, nil)
	benchtop("serve", "--base-url", server.url, "--backend", "infinity-embeddings-clip", "--dataset-name",
		"custom_image", "--dataset-path", file, "--num-prompts", "2", "--disable-shuffle",
		"--request-id-prefix", "r").expect(t, session.ExitUsage,
		"--dataset-name custom_image, prompt r1: backend infinity-embeddings-clip sends a text or a picture and no "+
			"chat messages")
}
