package hub

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

var complains = assert.Complains

// serve is a hub with one data set, org/name.
func serve(t testing.TB, files map[string]string) *hubtest.Hub {
	return hubtest.Serve(t, map[string]map[string]string{"org/name": files})
}

// ofHub is a hub.Hub that asks h and tells lines of progress to said.
func ofHub(h *hubtest.Hub, home string, said func(string), pairs ...string) *Hub {
	return New(Options{Env: h.Env(home, pairs...), Client: h.Client(), Cache: filepath.Join(home, "own"),
		Progress: said})
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

func theDataset(t testing.TB) Repository {
	t.Helper()
	repo := assert.Must(ParseRepository(Datasets, "org/name", ""))(t)
	return repo
}

func lines(name string) File { return File{Name: name, Limit: 1 << 20} }

func TestFetch(t *testing.T) {
	files := map[string]string{"a b.json": "{}\n{}\n", "deep/c.json": "3"}
	s, home := serve(t, files), t.TempDir()
	var said []string
	h := ofHub(s, home, func(line string) { said = append(said, line) })
	own := filepath.Join(home, "own", strings.ReplaceAll(strings.TrimPrefix(s.URL, "http://"), ":", "%3A"),
		"datasets--org--name", "main")
	for range 2 { // the second time from our own cache
		for _, name := range []string{"a b.json", "deep/c.json"} {
			f := lines(name)
			f.Reported = true
			path, err := h.Fetch(t.Context(), theDataset(t), f)
			if want := filepath.Join(own, filepath.FromSlash(name)); err != nil || path != want {
				t.Fatalf("got %s, error %v, want %s", path, err, want)
			}
			if data, err := os.ReadFile(path); string(data) != files[name] {
				t.Errorf("got %q, error %v", data, err)
			}
		}
	}
	want := []string{"org/name/resolve/main/a%20b.json", "org/name/resolve/main/deep/c.json"}
	if diff := cmp.Diff(want, s.Asked()); diff != "" {
		t.Error(diff)
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "downloading a b.json of org/name from 127.0.0.1") {
		t.Errorf("got progress %q", said)
	}
	if left, _ := filepath.Glob(filepath.Join(own, ".incomplete-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	assert.Fine(t, os.Truncate(filepath.Join(own, "a b.json"), 0))
	if _, err := h.Fetch(t.Context(), theDataset(t), lines("a b.json")); err != nil || len(s.Asked()) != 1 {
		t.Errorf("damaged: got error %v", err)
	}
}

func TestFetchFromACache(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	s := serve(t, map[string]string{"gone.json": "of the hub"})
	home := hubtest.Plant(t, map[string]string{
		"hf/hub/datasets--org--name/refs/main":                            commit,
		"hf/hub/datasets--org--name/blobs/b":                              "of the cache",
		"hf/hub/datasets--org--name/snapshots/" + commit + "/a.json":      "-> ../../blobs/b",
		"hf/hub/datasets--org--name/snapshots/" + commit + "/gone.json":   "-> ../../blobs/none",
		"hf/hub/datasets--org--name/snapshots/" + commit + "/folder/file": "x",
		"hf/hub/models--org--name/snapshots/" + commit + "/b.json":        "of a model",
	})
	read := func(name string) string {
		path, err := ofHub(s, home, nil).Fetch(t.Context(), theDataset(t), lines(name))
		if err != nil {
			return err.Error()
		}
		data, _ := os.ReadFile(path)
		return string(data)
	}
	if got := read("a.json"); got != "of the cache" || len(s.Asked()) != 0 {
		t.Errorf("got %s", got)
	}
	assert.Equal(t, read("gone.json"), "of the hub", "a broken link")
	complains(t, errors.New(read("b.json")), filepath.Join(commit, "b.json"),
		"/datasets/org/name has no b.json (status 404)")
	complains(t, errors.New(read("folder")), "not a regular file")
}

func TestFetchRefusals(t *testing.T) {
	type before = func(w http.ResponseWriter, r *http.Request) bool
	answer := hubtest.Answer
	tests := []struct {
		name, file string
		env        []string
		before     before
		want       []string
		missing    bool
		asked      int
	}{
		{"no such file", "b.json", nil, nil,
			[]string{"it does not have the data set", "/datasets/org/name has no b.json (status 404)"}, true, 1},
		{"no such repository", "b.json", nil, answer(404, "RepoNotFound", ""),
			[]string{"/datasets/org/name does not exist", "for a private data set"}, false, 1},
		{"no such revision", "b.json", nil, answer(404, "RevisionNotFound", ""), []string{"has no revision main"},
			false, 1},
		{"offline", "b.json", []string{"HF_HUB_OFFLINE", "1"}, nil,
			[]string{"it does not have the data set", "HF_HUB_OFFLINE is set, so 127.0.0.1"}, false, 0},
		{"offline, older name", "b.json", []string{"TRANSFORMERS_OFFLINE", "true"}, nil,
			[]string{"TRANSFORMERS_OFFLINE is set"}, false, 0},
		{"data sets offline", "b.json", []string{"HF_DATASETS_OFFLINE", "1"}, nil,
			[]string{"HF_DATASETS_OFFLINE is set"}, false, 0},
		{"bad endpoint", "b.json", []string{"HF_ENDPOINT", "ftp://user:secret@host"}, nil,
			[]string{"HF_ENDPOINT is not the address"}, false, 0},
		{"bad token", "b.json", []string{"HF_TOKEN", "a secret"}, nil,
			[]string{"the token in HF_TOKEN holds characters"}, false, 0},
		{"out of the repository", "../b.json", nil, nil, []string{`"../b.json" is not a file name`}, false, 0},
		{"too large", "large", nil, nil, []string{"larger than 1 MiB"}, false, 1},
		{"empty", "empty", nil, nil, []string{"empty of org/name", "came empty; try again"}, false, 1},
		{"web page", "page", nil, nil, []string{"a web page came instead of page of org/name"}, false, 1},
		{"web page by its type", "a", nil, answer(200, "", "{}", "Content-Type", "text/html; charset=utf-8"),
			[]string{"a web page came", "proxy"}, false, 1},
		{"broken", "a", nil, answer(503, "", "Bearer secret"),
			[]string{"status 503 Service Unavailable", "try again later"}, false, 1},
		{"not a hub", "a", nil, answer(405, "", ""), []string{"status 405", "is HF_ENDPOINT a Hugging Face hub?"},
			false, 1},
		{"pointed nowhere", "a", nil, answer(302, "", ""), []string{"without an address"}, false, 1},
		{"pointed in a circle", "a", nil, answer(302, "", "", "Location", "?"), []string{"more than 8 times"}, false,
			9},
		{"pointed to a file", "a", nil, answer(302, "", "", "Location", "file:///etc/passwd"), []string{`kind "file"`},
			false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t,
				map[string]string{"large": strings.Repeat("x", 1<<20+1), "empty": "", "page": "<!doctype html>"})
			s.Before = test.before
			home := t.TempDir()
			_, err := ofHub(s, home, nil, append([]string{"HF_TOKEN", "secret"}, test.env...)...).Fetch(t.Context(),
				theDataset(t), lines(test.file))
			complains(t, err, test.want...)
			assert.Equal(t, errors.Is(err, fs.ErrNotExist), test.missing, "the file is missing: %v", err)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if asked := s.Asked(); len(asked) != test.asked {
				t.Errorf("got requests %q, want %d", asked, test.asked)
			}
			nothingIn(t, filepath.Join(home, "own"))
		})
	}
}

// Other hosts than the hub's get no token, and neither does the hub where none is wanted.
func TestTokens(t *testing.T) {
	dir := hubtest.Plant(t, map[string]string{"token": "of home\n", "other": " of-path\n", "home/token": "of-home"})
	fetched := func(env ...string) (sent []string, err error) {
		network, s := serve(t, nil), serve(t, nil)
		note := func(r *http.Request) {
			sent = append(sent, strings.TrimSpace(r.URL.Path[:4]+" "+r.Header.Get("Authorization")))
		}
		network.Before = func(w http.ResponseWriter, r *http.Request) bool {
			note(r)
			return hubtest.Answer(200, "", "content")(w, r)
		}
		s.Before = func(w http.ResponseWriter, r *http.Request) bool {
			note(r)
			// the same name with another port: net/http would send the token there
			to := network.URL + "/blob?signature=s"
			if strings.HasPrefix(r.URL.Path, "/datasets/") {
				to = "/moved" + r.URL.Path
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return true
		}
		_, err = ofHub(s, t.TempDir(), nil, env...).Fetch(t.Context(), theDataset(t), lines("a"))
		return sent, err
	}
	for _, test := range []struct {
		env  []string
		want string
	}{
		{[]string{"HF_TOKEN", " a\n", "HUGGING_FACE_HUB_TOKEN", "b"}, " Bearer a"},
		{[]string{"HUGGING_FACE_HUB_TOKEN", "b"}, " Bearer b"},
		{[]string{"HF_TOKEN_PATH", filepath.Join(dir, "other")}, " Bearer of-path"},
		{[]string{"HF_HOME", filepath.Join(dir, "home")}, " Bearer of-home"},
		{nil, ""},
		{[]string{"HF_TOKEN", "a", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}, ""},
	} {
		sent, err := fetched(test.env...)
		if want := []string{"/dat" + test.want, "/mov" + test.want, "/blo"}; err != nil || !slices.Equal(sent, want) {
			t.Errorf("%q: got %q, error %v, want %q", test.env, sent, err, want)
		}
	}
	_, err := fetched("HF_HOME", dir)
	complains(t, err, "the token in "+filepath.Join(dir, "token"))
}

func TestFetchThatCannotBeKept(t *testing.T) {
	s := serve(t, map[string]string{"a": "1"})
	home := hubtest.Plant(t, map[string]string{"own": "a file"})
	_, err := ofHub(s, home, nil).Fetch(t.Context(), theDataset(t), lines("a"))
	complains(t, err, "a of org/name could not be kept")
}

func TestFetchStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has gone"))
	_, err := ofHub(serve(t, nil), t.TempDir(), nil).Fetch(ctx, theDataset(t), lines("a"))
	if err == nil || err.Error() != "the user has gone" {
		t.Errorf("got error %v", err)
	}
}

func TestFetchAtOnce(t *testing.T) {
	content := strings.Repeat("x", 1<<20)
	h := ofHub(serve(t, map[string]string{"a": content}), t.TempDir(), nil)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			path, err := h.Fetch(t.Context(), theDataset(t), lines("a"))
			if data, _ := os.ReadFile(path); err != nil || string(data) != content {
				t.Errorf("got %d bytes, error %v", len(data), err)
			}
		})
	}
	group.Wait()
}
