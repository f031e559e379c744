package hub

import (
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// FuzzRepository holds paths of a repository of any name to the cache, and its addresses to the hub.
func FuzzRepository(f *testing.F) {
	for _, seed := range [][2]string{{"org/name", ""}, {"gpt2", "v1"}, {"../x", "../y"}, {"a/b/c", "refs/pr/1"},
		{"a\\b", "a//b"}, {"C:x", "..."}, {"a?b", "%2e%2e"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, id, revision string) {
		repo, err := ParseRepository(Datasets, id, revision)
		if err != nil {
			return
		}
		if dir := repo.directory(); !filepath.IsLocal(dir) || strings.ContainsAny(dir, `/\`) {
			t.Errorf("%q leads to directory %q", id, dir)
		}
		if !filepath.IsLocal(filepath.FromSlash(repo.revision)) {
			t.Errorf("revision %q leads out of its directory", repo.revision)
		}
		kept := url.PathEscape(repo.revision)
		if !filepath.IsLocal(kept) || strings.ContainsAny(kept, `/\`) {
			t.Errorf("revision %q is kept in %q", repo.revision, kept)
		}
		endpoint, _ := url.Parse("https://hub/mirror")
		r := Remote{repo: repo, endpoint: endpoint}
		address := r.address("f").String()
		assert.Equal(t, address, "https://hub/mirror/datasets/"+id+"/resolve/"+kept+"/f", "address")
	})
}

// FuzzFileName holds a file of any name to its directory, and its address to its repository.
func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"a.json", "a/b.json", "../x", "a//b", `a\b`, "C:x", "a?b", "%2e%2e/x", "", ".",
		"a/../../b", "/a", "x/.", "a#b"} {
		f.Add(seed)
	}
	repo := theDataset(f)
	endpoint, _ := url.Parse("https://hub/mirror")
	f.Fuzz(func(t *testing.T, name string) {
		if (File{Name: name}).check() != nil {
			return
		}
		path, base := filepath.Join("dir", filepath.FromSlash(name)), "dir"+string(filepath.Separator)
		if !strings.HasPrefix(path, base) {
			t.Errorf("%q lies at %q", name, path)
		}
		address := (&Remote{repo: repo, endpoint: endpoint}).address(name)
		again, err := url.Parse(address.String())
		if err != nil || again.Path != "/mirror/datasets/org/name/resolve/main/"+name || again.RawQuery != "" ||
			again.Fragment != "" {
			t.Errorf("%q has address %s, error %v", name, address, err)
		}
	})
}

// FuzzCard finds files by what a README.md says and by their names, and never any that are not there.
func FuzzCard(f *testing.F) {
	for _, c := range goldenLayouts(f) {
		f.Add(c.README, strings.Join(c.Files, "\n"), "", "train")
	}
	f.Add("---\nconfigs:\n- config_name: a\n  data_dir: ../[x\n  data_files: [a, '[!]', '**/b?']\n---\n", "a\nb", "a",
		"")
	f.Fuzz(func(t *testing.T, card, files, subsetName, splitName string) {
		subsets, err := readCard([]byte(card))
		if err != nil {
			return
		}
		l := layout{strings.Split(files, "\n"), subsets, "name.py"}
		found, err := l.find(subsetName, splitName)
		if err == nil && len(found) == 0 {
			t.Error("it found nothing and no fault")
		}
		for _, file := range found {
			if !slices.Contains(l.files, file) {
				t.Errorf("%q is not there", file)
			}
		}
	})
}

// FuzzTree reads lists of files.
func FuzzTree(f *testing.F) {
	f.Add(`{"sha":"abc"}`,
		`[{"type":"file","path":"a/train.json","size":3,"oid":"x","lfs":{"oid":"y","size":3}},{"type":"directory",`+
			`"path":"a"}]`, `<http://x/y?cursor=1>; rel="next"`)
	f.Add(`{"sha":"../x"}`, `[{"type":"file","path":"../a.json","size":-1}]`, `,<;rel=next,<%zz>;rel="next"`)
	repo := theDataset(f)
	f.Fuzz(func(t *testing.T, info, page, link string) {
		h := onWire(t, func(r *http.Request) *http.Response {
			switch {
			case strings.Contains(r.URL.Path, "/revision/"):
				return response(http.StatusOK, -1, strings.NewReader(info))
			case r.URL.Query().Has("cursor"):
				return response(http.StatusOK, -1, strings.NewReader("[]"))
			}
			return response(http.StatusOK, -1, strings.NewReader(page), "Link", link)
		}, nil)
		tree, err := h.tree(t.Context(), repo)
		if err != nil {
			return
		}
		if !filepath.IsLocal(tree.Commit) || strings.ContainsAny(tree.Commit, `/\`) {
			t.Errorf("the commit leads to %q", tree.Commit)
		}
		again, err := New(Options{Env: h.env, Cache: h.cache}).kept(repo)
		if err != nil || again.Commit != tree.Commit || len(again.Files) != len(tree.Files) {
			t.Errorf("kept as %v, error %v, want %v", again, err, tree)
		}
	})
}
