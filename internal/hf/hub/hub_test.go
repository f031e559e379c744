package hub

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

var complains = assert.Complains

// stub is a hub with one data set, org/name, that writes down what it is asked.
type stub struct {
	*httptest.Server
	files map[string]string // of revision main
	code  string            // its word for why there is nothing, "" for EntryNotFound

	mu    sync.Mutex
	asked []string
}

func newStub(t *testing.T, files map[string]string) *stub {
	s := &stub{files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
	s.mu.Unlock()
	name, ok := strings.CutPrefix(r.URL.Path, "/datasets/org/name/resolve/main/")
	content, has := s.files[name]
	if ok && has {
		io.WriteString(w, content)
		return
	}
	code := s.code
	if code == "" {
		code = "EntryNotFound"
	}
	w.Header().Set("X-Error-Code", code)
	http.Error(w, "not found", http.StatusNotFound)
}

// hub is the stub with caches in home.
func (s *stub) hub(home string, pairs ...string) *Hub {
	env := map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": home, "HF_TOKEN": "secret"}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return New(Options{Env: func(name string) string { return env[name] }, Client: s.Client(), Cache: filepath.Join(home, "own")})
}

// nothingIn checks that a directory has no files.
func nothingIn(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s was kept", path)
		}
		return nil
	})
}

func theDataset(t *testing.T) Repository {
	repo, err := ParseRepository(Datasets, "org/name", "")
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func lines(name string) File { return File{Name: name, Limit: 1 << 20} }

func TestFetch(t *testing.T) {
	s := newStub(t, map[string]string{"a b.json": "{}\n{}\n", "deep/c.json": "3"})
	home := hubtest.Plant(t, nil)
	var said []string
	h := s.hub(home)
	h.progress = func(line string) { said = append(said, line) }
	own := filepath.Join(home, "own", strings.ReplaceAll(strings.TrimPrefix(s.URL, "http://"), ":", "%3A"), "datasets--org--name", "main")
	for range 2 { // the second time from our own cache
		for _, name := range []string{"a b.json", "deep/c.json"} {
			f := lines(name)
			f.Reported = true
			path, err := h.Fetch(t.Context(), theDataset(t), f)
			if want := filepath.Join(own, filepath.FromSlash(name)); err != nil || path != want {
				t.Fatalf("got %s, error %v, want %s", path, err, want)
			}
			if data, err := os.ReadFile(path); string(data) != s.files[name] {
				t.Errorf("got %q, error %v", data, err)
			}
		}
	}
	want := []string{"GET /datasets/org/name/resolve/main/a%20b.json Bearer secret", "GET /datasets/org/name/resolve/main/deep/c.json Bearer secret"}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "downloading a b.json of org/name from 127.0.0.1") {
		t.Errorf("got progress %q", said)
	}
	if left, _ := filepath.Glob(filepath.Join(own, ".incomplete-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if err := os.Truncate(filepath.Join(own, "a b.json"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fetch(t.Context(), theDataset(t), lines("a b.json")); err != nil || len(s.asked) != 3 {
		t.Errorf("damaged: got error %v after %d requests", err, len(s.asked))
	}
}

func TestFetchFromACache(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	s := newStub(t, map[string]string{"gone.json": "of the hub"})
	home := hubtest.Plant(t, map[string]string{
		"hub/datasets--org--name/refs/main":                            commit,
		"hub/datasets--org--name/blobs/b":                              "of the cache",
		"hub/datasets--org--name/snapshots/" + commit + "/a.json":      "-> ../../blobs/b",
		"hub/datasets--org--name/snapshots/" + commit + "/gone.json":   "-> ../../blobs/none",
		"hub/datasets--org--name/snapshots/" + commit + "/folder/file": "x",
		"hub/models--org--name/snapshots/" + commit + "/b.json":        "of a model",
	})
	read := func(name string) string {
		path, err := s.hub(home).Fetch(t.Context(), theDataset(t), lines(name))
		if err != nil {
			return err.Error()
		}
		data, _ := os.ReadFile(path)
		return string(data)
	}
	if got := read("a.json"); got != "of the cache" || len(s.asked) != 0 {
		t.Errorf("got %s after %d requests", got, len(s.asked))
	}
	if got := read("gone.json"); got != "of the hub" {
		t.Errorf("a broken link: got %s", got)
	}
	complains(t, errors.New(read("b.json")), filepath.Join(commit, "b.json"), "/datasets/org/name has no b.json (status 404)")
	complains(t, errors.New(read("folder")), "not a regular file")
}

func TestFetchRefusals(t *testing.T) {
	tests := []struct {
		name, file string
		env        []string
		code       string
		want       []string
		missing    bool
		asked      int
	}{
		{"no such file", "b.json", nil, "", []string{"it does not have the data set", "/datasets/org/name has no b.json (status 404)"}, true, 1},
		{"no such repository", "b.json", nil, "RepoNotFound", []string{"/datasets/org/name does not exist", "for a private data set"}, false, 1},
		{"no such revision", "b.json", nil, "RevisionNotFound", []string{"has no revision main"}, false, 1},
		{"offline", "b.json", []string{"HF_HUB_OFFLINE", "1"}, "", []string{"it does not have the data set", "HF_HUB_OFFLINE is set, so 127.0.0.1"}, false, 0},
		{"data sets offline", "b.json", []string{"HF_DATASETS_OFFLINE", "1"}, "", []string{"HF_DATASETS_OFFLINE is set"}, false, 0},
		{"bad endpoint", "b.json", []string{"HF_ENDPOINT", "x"}, "", []string{"HF_ENDPOINT is not the address"}, false, 0},
		{"bad token", "b.json", []string{"HF_TOKEN", "a b"}, "", []string{"the token in HF_TOKEN holds characters"}, false, 0},
		{"out of the repository", "../b.json", nil, "", []string{`"../b.json" is not a file name`}, false, 0},
		{"too large", "large", nil, "", []string{"larger than 1 MiB"}, false, 1},
		{"empty", "empty", nil, "", []string{"empty of org/name", "came empty; try again"}, false, 1},
		{"web page", "page", nil, "", []string{"a web page came instead of page of org/name"}, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStub(t, map[string]string{"large": strings.Repeat("x", 1<<20+1), "empty": "", "page": "<!doctype html>"})
			s.code = test.code
			home := t.TempDir()
			_, err := s.hub(home, test.env...).Fetch(t.Context(), theDataset(t), lines(test.file))
			complains(t, err, test.want...)
			if got := errors.Is(err, fs.ErrNotExist); got != test.missing {
				t.Errorf("the file is missing: got %v, want %v of %v", got, test.missing, err)
			}
			if len(s.asked) != test.asked {
				t.Errorf("got requests %q, want %d", s.asked, test.asked)
			}
			nothingIn(t, filepath.Join(home, "own"))
		})
	}
}

func TestFetchThatCannotBeKept(t *testing.T) {
	s := newStub(t, map[string]string{"a": "1"})
	home := hubtest.Plant(t, map[string]string{"own": "a file"})
	_, err := s.hub(home).Fetch(t.Context(), theDataset(t), lines("a"))
	complains(t, err, "a of org/name could not be kept")
}

func TestFetchStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has gone"))
	_, err := newStub(t, nil).hub(t.TempDir()).Fetch(ctx, theDataset(t), lines("a"))
	if err == nil || err.Error() != "the user has gone" {
		t.Errorf("got error %v", err)
	}
}

func TestFetchAtOnce(t *testing.T) {
	s := newStub(t, map[string]string{"a": strings.Repeat("x", 1<<20)})
	h := s.hub(t.TempDir())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			path, err := h.Fetch(t.Context(), theDataset(t), lines("a"))
			if data, _ := os.ReadFile(path); err != nil || string(data) != s.files["a"] {
				t.Errorf("got %d bytes, error %v", len(data), err)
			}
		})
	}
	group.Wait()
}
