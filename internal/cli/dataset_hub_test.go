package cli

import (
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
	"benchtop/internal/session"
)

// leaderboard starts a hub with the files of the leaderboard and makes it the environment's.
func leaderboard(t *testing.T) *hubtest.Hub {
	files := map[string]string{}
	paths := assert.Must(filepath.Glob(datasetFiles + "BFCL_v3_*.json"))(t)
	for _, path := range paths {
		data := assert.Must(os.ReadFile(path))(t)
		files[filepath.Base(path)] = string(data)
	}
	h := hubtest.Serve(t, map[string]map[string]string{datasets.BFCLRepository: files})
	useHub(t, h.URL)
	return h
}

// useHub makes a hub the environment's, with caches of its own.
func useHub(t *testing.T, address string) {
	home := t.TempDir()
	for name, value := range map[string]string{"HF_ENDPOINT": address, "HF_HOME": filepath.Join(home, "hf"),
		"HOME": home, "XDG_CACHE_HOME": home,
		"LocalAppData": home, "USERPROFILE": home} {
		t.Setenv(name, value)
	}
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_TOKEN",
		"HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
		"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
}

// wasAsked compares the names of the files that a hub was asked for since the last time.
func wasAsked(t *testing.T, h *hubtest.Hub, names ...string) {
	t.Helper()
	var asked []string
	for _, file := range h.Asked() {
		asked = append(asked, path.Base(file))
	}
	assert.EqualAll(t, asked, names, "the hub was asked for")
}

// The leaderboard comes from the hub once, then from the cache; a missing category is asked for and reported.
func TestDatasetOfTheHub(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := leaderboard(t)
	bfcl := func(args ...string) result {
		return benchtop(append([]string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository,
			"--tokenizer", model, "--num-prompts", "5"}, args...)...)
	}
	bfcl().expect(t, session.ExitFine, "downloading BFCL_v3_simple.json of "+datasets.BFCLRepository+" from 127.0.0.1",
		"requests             5", "chat messages")
	wasAsked(t, h, "BFCL_v3_simple.json", "BFCL_v3_live_simple.json", "BFCL_v3_multiple.json")

	again := bfcl("--bfcl-categories", "multiple, parallel")
	again.expect(t, session.ExitFine, "requests             5")
	wasAsked(t, h, "BFCL_v3_parallel.json")

	bfcl("--bfcl-categories", "simple,nope").expect(t, session.ExitUsage,
		`dataset bfcl: `+datasets.BFCLRepository+`: unknown category "nope": the repository has no file `+
			`BFCL_v3_nope.json; see --bfcl-categories`)
	wasAsked(t, h, "BFCL_v3_nope.json")

	t.Setenv("HF_HUB_OFFLINE", "1")
	bfcl("--bfcl-categories", "parallel").expect(t, session.ExitFine, "requests             5") // kept
	bfcl("--bfcl-categories", "live_multiple").expect(t, session.ExitUsage, "BFCL_v3_live_multiple.json cannot be had",
		"does not have the data set", "HF_HUB_OFFLINE is set, so 127.0.0.1", "clone the repository",
		"--dataset-path DIRECTORY --hf-name "+datasets.BFCLRepository)
	wasAsked(t, h)
}

// A wrong file is not cached, so that the next run does not fail too.
func TestDatasetOfAHubThatCutsShort(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := leaderboard(t)
	simple := h.Files[datasets.BFCLRepository]["BFCL_v3_simple.json"]
	args := []string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model,
		"--num-prompts", "2",
		"--bfcl-categories", "simple"}
	for content, want := range map[string]string{
		simple[:len(simple)/2]:   "the file ends before its last object does",
		`{"error": "come back"}`: "no questions in it",
		"please log in":          "not JSON",
	} {
		h.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, content)
			return true
		}
		benchtop(args...).expect(t, session.ExitUsage, "BFCL_v3_simple.json", "came as something else", want)
	}
	h.Before = nil
	benchtop(args...).expect(t, session.ExitFine, "requests             2")
}

// A hub that is down or has moved is reported with advice.
func TestDatasetWithoutTheHub(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := leaderboard(t)
	args := []string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model}
	t.Setenv("HF_ENDPOINT", h.URL+"/mirror")
	benchtop(args...).expect(t, session.ExitUsage, "does not exist, or is private", "clone the repository")
	wasAsked(t, h, "BFCL_v3_simple.json")
	h.Close()
	benchtop(args...).expect(t, session.ExitUsage, "cannot download BFCL_v3_simple.json", "clone the repository")
}

// Tables come from the hub once: the files that the rows are in, and those that rows name. A gated one is explained.
func TestTablesOfTheHub(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	sound := assert.Must(os.ReadFile("../../internal/hf/media/testdata/pcm_16.wav"))(t)
	const calls = "ArtificialAnalysis/Earnings22-Cleaned-AA"
	h := hubtest.Serve(t, map[string]map[string]string{
		"openai/gsm8k": {"main/test-00000-of-00001.jsonl": `{"question": "What is 1?"}` + "\n" + `{"question": "And ` +
			`2?"}`, "main/train-00000-of-00001.jsonl": "no"},
		calls:    {"data.jsonl": `{"url": "audio/one.wav"}`, "audio/one.wav": string(sound)},
		"my/own": {"rows.jsonl": `{"text": "What is this thing?"}`},
	})
	useHub(t, h.URL)
	dataset := func(args ...string) result {
		return benchtop(append([]string{"dataset", "--dataset-name", "hf", "--tokenizer", model, "--num-prompts", "2",
			"--jsonl", "-"}, args...)...)
	}
	gsm := func() result {
		return dataset("--dataset-path", "openai/gsm8k", "--disable-shuffle", "--skip-chat-template")
	}
	gsm().expect(t, session.ExitFine, `"prompt":"What is 1?"`, `"prompt":"And 2?"`)
	if asked := strings.Join(h.Asked(), " "); !strings.Contains(asked, "main/test-00000") ||
		strings.Contains(asked, "main/train-00000") {
		t.Errorf("the hub was asked for %s", asked)
	}
	gsm().expect(t, session.ExitFine, `"prompt":"What is 1?"`)
	if asked := h.Asked(); len(asked) > 0 {
		t.Errorf("the hub was asked again: %q", asked)
	}
	dataset("--dataset-path", calls, "--backend", "openai-audio").expect(t, session.ExitFine,
		`"audio":{"name":"one.wav","type":"audio/x-wav","bytes":`)
	dataset("--dataset-path", "my/own").expect(t, session.ExitFine, `"prompt":"What is this thing?"`,
		"the prompts are in column text")
	dataset("--dataset-path", "openai/gsm8k", "--hf-split", "dev").expect(t, session.ExitUsage,
		`unknown split "dev"; use --hf-split with one of: `)
	dataset("--dataset-path", "my/none").expect(t, session.ExitUsage, "does not exist, or is private",
		"Data sets whose layout is known are")

	h.Before = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-Error-Code", "GatedRepo")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	dataset("--dataset-path", "facebook/voxpopuli", "--backend", "openai-audio").expect(t, session.ExitUsage,
		"HF_TOKEN")
}
