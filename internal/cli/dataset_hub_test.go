package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"benchtop/datasets"
)

// stubHub has the files of the leaderboard and writes down what it is asked.
type stubHub struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // files

	instead atomic.Pointer[string] // of any file, if there is one
}

// newStubHub starts a hub and makes it the environment's, with caches of its own.
func newStubHub(t *testing.T) *stubHub {
	h := &stubHub{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dir, name := path.Split(r.URL.Path)
		h.mu.Lock()
		h.asked = append(h.asked, name)
		h.mu.Unlock()
		if dir != "/datasets/"+datasets.BFCLRepository+"/resolve/main/" {
			w.Header().Set("X-Error-Code", "RepoNotFound")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if content := h.instead.Load(); content != nil {
			io.WriteString(w, *content)
			return
		}
		http.ServeFile(w, r, datasetFiles+name)
	}))
	t.Cleanup(h.Close)
	home := t.TempDir()
	for name, value := range map[string]string{"HF_ENDPOINT": h.URL, "HF_HOME": filepath.Join(home, "hf"), "HOME": home, "XDG_CACHE_HOME": home,
		"LocalAppData": home, "USERPROFILE": home} {
		t.Setenv(name, value)
	}
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
		"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
	return h
}

// expect compares what the hub was asked since the last time.
func (h *stubHub) expect(t *testing.T, names ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got, want := strings.Join(h.asked, " "), strings.Join(names, " "); got != want {
		t.Errorf("the hub was asked for %q, want %q", got, want)
	}
	h.asked = nil
}

// The leaderboard comes from the hub once, then from the cache; a missing category is asked for and reported.
func TestDatasetOfTheHub(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := newStubHub(t)
	bfcl := func(args ...string) result {
		return benchtop(append([]string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model, "--num-prompts", "5"}, args...)...)
	}
	bfcl().expect(t, exitFine, "downloading BFCL_v3_simple.json of "+datasets.BFCLRepository+" from 127.0.0.1", "requests             5", "chat messages")
	h.expect(t, "BFCL_v3_simple.json", "BFCL_v3_live_simple.json", "BFCL_v3_multiple.json")

	again := bfcl("--bfcl-categories", "multiple, parallel")
	again.expect(t, exitFine, "requests             5")
	h.expect(t, "BFCL_v3_parallel.json")

	bfcl("--bfcl-categories", "simple,nope").expect(t, exitUsage,
		`dataset bfcl: `+datasets.BFCLRepository+`: there is no category "nope": the repository has no file BFCL_v3_nope.json; see --bfcl-categories`)
	h.expect(t, "BFCL_v3_nope.json")

	t.Setenv("HF_HUB_OFFLINE", "1")
	bfcl("--bfcl-categories", "parallel").expect(t, exitFine, "requests             5") // kept
	bfcl("--bfcl-categories", "live_multiple").expect(t, exitUsage, "BFCL_v3_live_multiple.json cannot be had",
		"does not have the data set", "HF_HUB_OFFLINE is set, so 127.0.0.1", "clone the repository", "--dataset-path DIRECTORY --hf-name "+datasets.BFCLRepository)
	h.expect(t)
}

// Files in the cache of the hub's own libraries are not downloaded again.
func TestDatasetInTheHubsCache(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := newStubHub(t)
	snapshot := filepath.Join(os.Getenv("HF_HOME"), "hub", "datasets--gorilla-llm--Berkeley-Function-Calling-Leaderboard", "snapshots", "abc")
	if err := os.MkdirAll(snapshot, 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(datasetFiles + "BFCL_v3_simple.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(snapshot, "BFCL_v3_simple.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	benchtop("dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model, "--num-prompts", "2",
		"--bfcl-categories", "simple,parallel").expect(t, exitFine, "requests             2")
	h.expect(t, "BFCL_v3_parallel.json")
}

// A wrong file is not cached, so that the next run does not fail too.
func TestDatasetOfAHubThatCutsShort(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := newStubHub(t)
	data, err := os.ReadFile(datasetFiles + "BFCL_v3_simple.json")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model, "--num-prompts", "2",
		"--bfcl-categories", "simple"}
	for content, want := range map[string]string{
		string(data[:len(data)/2]): "the file ends before its last object does",
		`{"error": "come back"}`:   "there is no question in it",
		"please log in":            "not JSON",
	} {
		h.instead.Store(&content)
		benchtop(args...).expect(t, exitUsage, "BFCL_v3_simple.json", "came as something else", want)
	}
	h.instead.Store(nil)
	benchtop(args...).expect(t, exitFine, "requests             2")
}

// A hub that is down or has moved is reported with advice.
func TestDatasetWithoutTheHub(t *testing.T) {
	model := modelDirectory(t, "synthetic-spbpe")
	h := newStubHub(t)
	args := []string{"dataset", "--dataset-name", "hf", "--dataset-path", datasets.BFCLRepository, "--tokenizer", model}
	t.Setenv("HF_ENDPOINT", h.URL+"/mirror")
	benchtop(args...).expect(t, exitUsage, "does not exist, or is private", "clone the repository")
	h.expect(t, "BFCL_v3_simple.json")
	h.Close()
	benchtop(args...).expect(t, exitUsage, "cannot download BFCL_v3_simple.json", "clone the repository")
}
