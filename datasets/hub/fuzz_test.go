package hub

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRepository holds paths of a repository of any name to the cache, and its addresses to the hub.
func FuzzRepository(f *testing.F) {
	for _, seed := range [][2]string{{"org/name", ""}, {"gpt2", "v1"}, {"../x", "../y"}, {"a/b/c", "refs/pr/1"}, {"a\\b", "a//b"}, {"C:x", "..."}, {"a?b", "%2e%2e"}} {
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
		if want := "https://hub/mirror/datasets/" + id + "/resolve/" + kept + "/f"; address != want {
			t.Errorf("got address %s, want %s", address, want)
		}
	})
}

// FuzzFileName holds a file of any name to its directory, and its address to its repository.
func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"a.json", "a/b.json", "../x", "a//b", `a\b`, "C:x", "a?b", "%2e%2e/x", "", ".", "a/../../b", "/a", "x/.", "a#b"} {
		f.Add(seed)
	}
	repo, err := ParseRepository(Datasets, "org/name", "")
	if err != nil {
		f.Fatal(err)
	}
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
		if err != nil || again.Path != "/mirror/datasets/org/name/resolve/main/"+name || again.RawQuery != "" || again.Fragment != "" {
			t.Errorf("%q has address %s, error %v", name, address, err)
		}
	})
}
