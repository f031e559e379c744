package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

// contents are those of shards, one after the other.
func contents(t *testing.T, shards []Shard) string {
	t.Helper()
	var all []string
	for _, s := range shards {
		path, err := s.Fetch(t.Context())
		if err != nil {
			return err.Error()
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, " ")
}

// selects wants a selection's shards to have such contents, or the selection to fail with what is behind "!".
func selects(t *testing.T, h *Hub, s Selection, want string) {
	t.Helper()
	shards, err := h.Select(t.Context(), s)
	if part, fails := strings.CutPrefix(want, "!"); fails {
		complains(t, err, part)
	} else if got := contents(t, shards); err != nil || got != want {
		t.Errorf("%+v: got %q, error %v, want %q", s, got, err, want)
	}
}

func TestSelectHere(t *testing.T) {
	const card = "---\nconfigs:\n- config_name: a\n  data_files: a/*\n- config_name: b\n  data_files: b/*\n---\n"
	root := hubtest.Plant(t, map[string]string{
		"clone/README.md":                   card,
		"clone/a/1.json":                    "1",
		"clone/b/2.json":                    "2",
		"clone/.git/train/x.json":           "no",
		"file.parquet":                      "rows",
		"made/made.py":                      "import os",
		"made/dev.json":                     "no rows",
		"hub/datasets--org--name/refs/main": "c2",
		"hub/datasets--org--name/blobs/x":   "of c2",
		"hub/datasets--org--name/snapshots/c1/train.json": "of c1",
		"hub/datasets--org--name/snapshots/c2/train.json": "-> ../../blobs/x",
		"hub/datasets--org--none/snapshots/c3/train.json": "of c3",
		"broken/train.json": "-> ../none",
		"pointer/train.json": "version https://git-lfs.github.com/spec/v1\noid " +
			"sha256:0\n",
		"empty/notes.txt":                                        "x",
		"card/README.md":                                         "---\nconfigs: [\n---\n",
		"card/a.json":                                            "x",
		"refs/datasets--org--name/refs/main":                     "no commit",
		"refs/datasets--org--name/snapshots/x/y.json":            "x",
		"parts/data/train-00000-of-00005.parquet":                "0",
		"parts/data/train-00003-of-00005.parquet":                "3",
		"wrong/data/../data.d/train.json/inside/one/train.jsonl": "deep",
	})
	tests := []struct {
		path, name, subset string
		want               string // contents, or a part of the error behind "!"
	}{
		{"file.parquet", "", "", "rows"},
		{"clone", "", "b", "2"},
		{"clone", "", "", "!clone: it has several subsets; give --hf-subset one of: a, b"},
		{"hub", "org/name", "", "of c2"},
		{"hub/datasets--org--name", "", "", "of c2"},
		{"hub/datasets--org--name/snapshots/c1", "", "", "of c1"},
		{"hub/datasets--org--none", "", "", "of c3"},
		{"broken", "", "", "!a broken link: its target"},
		{"pointer", "", "", "!git lfs pull"},
		{"empty", "", "", `!empty: split "train" has no file of rows: Parquet, JSON`},
		{"card", "", "", "!README.md: invalid front matter"},
		{"refs", "org/name", "", "!does not hold a commit"},
		{"parts", "", "", "0 3"}, // as the user has it
		{"wrong", "", "", "deep"},
		{"made", "", "", "!made: the data set is made by the program made.py, which is not run; the hub may have its " +
			"rows in Parquet, in the branch refs/convert/parquet"},
		{"none", "", "", "!none: no such file or directory; give a file, a directory, or a data set's name"},
	}
	h := New(Options{Env: func(string) string { return "" }, Client: &http.Client{Transport: noNetwork{}}})
	for _, test := range tests {
		t.Run(test.path+" "+test.subset, func(t *testing.T) {
			selects(t, h, Selection{Path: filepath.Join(root, filepath.FromSlash(test.path)), Name: test.name,
				Subset: test.subset}, test.want)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has gone"))
	if _, err := h.Select(ctx, Selection{Path: filepath.Join(root, "clone"), Subset: "a"}); err == nil ||
		err.Error() != "the user has gone" {
		t.Errorf("got error %v", err)
	}
}

type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("the network was asked")
}

func TestBesideHere(t *testing.T) {
	root := hubtest.Plant(t, map[string]string{"a/rows.parquet": "rows", "a/sound/1.wav": "RIFF",
		"hub/datasets--org--name/snapshots/c/1.wav": "in a cache"})
	h := New(Options{Env: func(string) string { return "" }, Client: &http.Client{Transport: noNetwork{}}})
	tests := []struct{ path, name, file, want string }{
		{"a/rows.parquet", "", "sound/1.wav", "RIFF"},
		{"a", "", "sound/1.wav", "RIFF"},
		{"hub", "org/name", "1.wav", "in a cache"},
		{"a", "", "../a/sound/1.wav", `!"../a/sound/1.wav" is not a file name`},
		{"a", "", "sound/2.wav", "!2.wav: no such file"},
		{"a", "", "sound", "!sound is not a regular file"},
	}
	for _, test := range tests {
		path, err := h.Beside(t.Context(), Selection{Path: filepath.Join(root, test.path), Name: test.name}, test.file)
		if want, fails := strings.CutPrefix(test.want, "!"); fails {
			complains(t, err, want)
		} else if data, _ := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("%s: got %q at %s, error %v", test.file, data, path, err)
		}
	}
}

func TestSelectFromTheHub(t *testing.T) {
	const card = "---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n- " +
		"config_name: other\n---\n"
	s := hubtest.Serve(t,
		map[string]map[string]string{"org/name": {"README.md": card, "main/train-00000-of-00002.parquet": "zero",
			"main/train-00001-of-00002.parquet": "one", "sound/1 é.wav": "RIFF", "z.txt": "z"}})
	s.Page = 2
	home := t.TempDir()
	var said []string
	h := ofHub(s, home, func(line string) { said = append(said, line) })
	selection := Selection{Path: "org/name", Subset: "main", Split: "train"}
	commit := s.Commit("org/name")
	listing := fmt.Sprintf("org/name/revision/main org/name/tree/%[1]s org/name/tree/%[1]s org/name/tree/%[1]s "+
		"org/name/resolve/%[1]s/README.md", commit)

	shards, err := h.Select(t.Context(), selection)
	if got := strings.Join(s.Asked(), " "); err != nil || got != listing {
		t.Fatalf("asked for %s, error %v, want %s", got, err, listing)
	}
	assert.Equal(t, contents(t, shards), "zero one", "contents")
	want := []string{"listing the files of org/name: 2", "listing the files of org/name: 4",
		"downloading file 1 of 2, main/train-00000-of-00002.parquet of org/name from 127.0.0.1",
		"downloading file 2 of 2, main/train-00001-of-00002.parquet of org/name from 127.0.0.1"}
	for i, line := range want {
		if i >= len(said) || !strings.HasPrefix(said[i], line) {
			t.Errorf("line %d of progress: got %q, want %q", i, said, line)
		}
	}
	s.Asked()
	path, err := h.Beside(t.Context(), selection, "sound/1 é.wav")
	if data, _ := os.ReadFile(path); err != nil || string(data) != "RIFF" {
		t.Errorf("got %q, error %v", data, err)
	}
	assert.Equal(t, strings.Join(s.Asked(), " "), "org/name/resolve/"+commit+"/sound/1%20%C3%A9.wav", "asked for")
	assert.Is(t, assert.Failure(h.Beside(t.Context(), selection, "none.wav")), fs.ErrNotExist)

	// All is kept: later commits are not asked for, and nothing else either.
	s.Files["org/name"]["z.txt"] = "later"
	selects(t, ofHub(s, home, nil, "HF_HUB_OFFLINE", "1"), selection, "zero one")
	for name, want := range map[string]string{"": "several subsets; give --hf-subset one of: main, other",
		"none": "unknown subset \"none\""} {
		_, err := h.Select(t.Context(), Selection{Path: "org/name", Subset: name})
		complains(t, err, "org/name: ", want)
		if strings.Contains(err.Error(), "cache") {
			t.Errorf("the error tells of other places: %v", err)
		}
	}
	if got := s.Asked(); len(got) > 0 {
		t.Errorf("asked for %s", got)
	}
}

// A cache that has all files of a split is not gone past; one that lacks some is.
func TestSelectFromACache(t *testing.T) {
	s := hubtest.Serve(t,
		map[string]map[string]string{
			"org/name": {"data/train-00000-of-00002.parquet": "zero", "data/train-00001-of-00002.parquet": "one"}})
	commit := s.Commit("org/name")
	const prefix = "hf/hub/datasets--org--name/"
	files := map[string]string{prefix + "refs/main": commit,
		prefix + "snapshots/" + commit + "/data/train-00000-of-00002.parquet": "zero"}
	home := hubtest.Plant(t, files)
	selects(t, ofHub(s, home, nil), Selection{Path: "org/name"}, "zero one")
	want := fmt.Sprintf(
		"org/name/revision/main org/name/tree/%s org/name/resolve/%[1]s/data/train-00001-of-00002.parquet", commit)
	assert.Equal(t, strings.Join(s.Asked(), " "), want, "asked for")
	_, err := ofHub(s, hubtest.Plant(t, files), nil, "HF_HUB_OFFLINE", "1").Select(t.Context(),
		Selection{Path: "org/name"})
	complains(t, err, "only 1 of the 2 files data/train-*-of-00002.parquet are there", "HF_HUB_OFFLINE is set")

	files[prefix+"snapshots/"+commit+"/data/train-00001-of-00002.parquet"] = "one"
	selects(t, ofHub(s, hubtest.Plant(t, files), nil), Selection{Path: "org/name"}, "zero one")
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("asked for %s", asked)
	}
}

// Rows that a program makes are taken from the hub's copy in Parquet.
func TestSelectConverted(t *testing.T) {
	s := hubtest.Serve(t, map[string]map[string]string{
		"org/name": {"name.py": "import os", "dev.json": "no rows",
			"README.md": "---\nlicense: mit\n---\n"},
		"org/name@refs/convert/parquet": {"default/train/0000.parquet": "zero", "default/train/0001.parquet": "one"},
		"org/zip":                       {"a.zip": "PK"},
		"org/card": {"card.py": "import os", "a.json": "rows",
			"README.md": "---\nconfigs:\n- config_name: x\n  data_files: a.json\n---\n"},
	})
	h := ofHub(s, t.TempDir(), nil)
	selects(t, h, Selection{Path: "org/name", Split: "train"}, "zero one")
	selects(t, h, Selection{Path: "org/name", Split: "test"},
		`!unknown split "test"; use --hf-split with one of: train`)
	_, err := h.Select(t.Context(), Selection{Path: "org/zip"})
	complains(t, err, "no file of rows", "the hub's copy in Parquet", "has no revision refs/convert/parquet")
	selects(t, h, Selection{Path: "org/card"}, "rows")
}

// A commit that the hub no longer has is forgotten, so that the next run asks for the present one.
func TestSelectFromARewrittenRepository(t *testing.T) {
	s := hubtest.Serve(t, map[string]map[string]string{"org/name": {"train.json": "old", "1.wav": "RIFF"}})
	h := ofHub(s, t.TempDir(), nil)
	shards, err := h.Select(t.Context(), Selection{Path: "org/name"})
	assert.Fine(t, err)
	s.Files["org/name"]["train.json"] = "new"
	_, err = shards[0].Fetch(t.Context())
	complains(t, err, "has no revision", "the data set was rewritten on the hub: try again")
	selects(t, h, Selection{Path: "org/name"}, "new")
}

func TestSelectRefusals(t *testing.T) {
	answer := hubtest.Answer
	onFiles := func(
		before func(w http.ResponseWriter, r *http.Request) bool) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, "/resolve/") && before(w, r)
		}
	}
	tests := []struct {
		name   string
		before func(w http.ResponseWriter, r *http.Request) bool
		env    []string
		want   []string
	}{
		{"no repository", answer(404, "RepoNotFound", ""), nil,
			[]string{"org/name does not exist, or is private", "HF_TOKEN"}},
		{"gated", onFiles(answer(401, "GatedRepo", "")), nil, []string{"train.json of org/name", "status 401",
			"is gated", "accept the licence at http://127.0.0.1", "/datasets/org/name and set HF_TOKEN"}},
		{"gated for the token", onFiles(answer(403, "GatedRepo", "")), []string{"HF_TOKEN", "hf_x"},
			[]string{"status 403", "for the account of the token, or set HF_TOKEN to another"}},
		{"private", answer(401, "RepoNotFound", ""), nil, []string{"gated, private or does not exist", "HF_TOKEN"}},
		{"no list", answer(404, "", ""), nil, []string{"has no list of files"}},
		{"no commit", answer(200, "", "{}"), nil, []string{"the hub gives no commit"}},
		{"a commit that leads elsewhere", answer(200, "", `{"sha":"../../x"}`), nil,
			[]string{"the hub gives no commit"}},
		{"no JSON", answer(200, "", "hello"), nil, []string{"that are not JSON"}},
		{"another form", answer(200, "", `[1]`), nil, []string{"came in another form"}},
		{"a web page", answer(200, "", "<html>"), nil, []string{"a web page came instead of the list of files"}},
		{"overloaded", answer(429, "", ""), nil, []string{"the hub wants fewer requests"}},
		{"a list without an end", func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/tree/") {
				return false
			}
			w.Header().Set("Link", `<x?cursor=1>; rel="next"`)
			io.WriteString(w, `[{"type":"file","path":"a.json","size":1}]`)
			return true
		}, nil, []string{"or its list has no end"}},
		{"a damaged file", onFiles(answer(200, "", "{x}")), nil,
			[]string{"train.json of org/name from 127.0.0.1", "came damaged", "try again"}},
		{"too long a file", onFiles(answer(200, "", "longer")), nil, []string{"more than its 3 bytes came"}},
		{"half a file", onFiles(answer(200, "", "{", "Content-Length", "3")), nil, []string{"broke off after 1 bytes"}},
		{"a short file", onFiles(answer(200, "", "{")), nil, []string{"broke off after 1 bytes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := hubtest.Serve(t, map[string]map[string]string{"org/name": {"train.json": "{ }"}})
			s.Before = test.before
			home := t.TempDir()
			shards, err := ofHub(s, home, nil, test.env...).Select(t.Context(), Selection{Path: "org/name"})
			if err == nil {
				_, err = shards[0].Fetch(t.Context())
			}
			complains(t, err, test.want...)
			if unknown := test.name == "no repository" || test.name == "private"; Unknown(err) != unknown {
				t.Errorf("the repository is unknown: %v, want %v", !unknown, unknown)
			}
			if left, _ := filepath.Glob(filepath.Join(home, "own", "*", "*", "*", "train.json")); len(left) > 0 {
				t.Errorf("kept: %s", left)
			}
		})
	}
	var h *Hub
	_, err := h.Select(t.Context(), Selection{Path: "a/b/c"})
	complains(t, err, "a/b/c: no such file or directory; give a file")
}
