package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// tree is the list of files of a repository at a commit.
type tree struct {
	Commit string  `json:"commit"`
	Files  []entry `json:"files"` // by name
}

// entry is a file of the list.
type entry struct {
	Name   string `json:"name"` // with slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256,omitempty"`
}

// maxTree is the largest page of a list in bytes that is read.
const maxTree = 64 << 20

// at is the repository in the state of a commit.
func (r Repository) at(commit string) Repository {
	r.revision, r.asked = commit, true
	return r
}

// tree is the list of files that is kept, or the hub's, which is then kept.
func (h *Hub) tree(ctx context.Context, repo Repository) (tree, error) {
	if t, err := h.kept(repo); err == nil {
		return t, nil
	}
	remote, err := h.Remote(repo)
	if err != nil {
		return tree{}, err
	}
	t, err := remote.list(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return tree{}, err
	}
	path, err := h.treePath(repo)
	if err != nil {
		return tree{}, err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return tree{}, err
	}
	if err := keepFile(path, data); err != nil {
		return tree{}, &keepError{"the list of files of " + repo.id, err}
	}
	h.trees.Store(path, t)
	return t, nil
}

// kept is the list of files that was kept.
func (h *Hub) kept(repo Repository) (tree, error) {
	path, err := h.treePath(repo)
	if err != nil {
		return tree{}, err
	}
	if t, ok := h.trees.Load(path); ok {
		return t.(tree), nil
	}
	data, err := ReadFile(path, 4*maxTree)
	if err != nil {
		return tree{}, err
	}
	var t tree
	if err := json.Unmarshal(data, &t); err != nil {
		return tree{}, err
	}
	if err := t.check(); err != nil {
		return tree{}, err
	}
	h.trees.Store(path, t)
	return t, nil
}

// outdated drops a list of files whose commit the hub no longer has.
func (h *Hub) outdated(repo Repository, err error) error {
	if _, gone := errors.AsType[revisionError](err); !gone {
		return err
	}
	path, pathErr := h.treePath(repo)
	if pathErr != nil || os.Remove(path) != nil {
		return err
	}
	h.trees.Delete(path)
	return fmt.Errorf("%w; the data set was rewritten on the hub: try again", err)
}

// treePath is where the list of files is kept.
func (h *Hub) treePath(repo Repository) (string, error) {
	dir, err := h.Kept(repo)
	return dir + ".json", err
}

// check makes sure that the commit is one, and sorts the files.
func (t *tree) check() error {
	if t.Commit == "" || len(t.Commit) > 96 || !plain(t.Commit, "") {
		return errors.New("the hub gives no commit of the data set; is HF_ENDPOINT a Hugging Face hub?")
	}
	slices.SortFunc(t.Files, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// list asks the hub for the files of the revision as it is now.
func (r *Remote) list(ctx context.Context) (tree, error) {
	what := fmt.Sprintf("the list of files of %s from %s", r.repo.id, r.endpoint.Host)
	var info struct {
		Commit string `json:"sha"`
	}
	u := r.api("revision", r.repo.revision)
	u.RawQuery = "expand=sha"
	if _, err := r.ask(ctx, what, u, &info); err != nil {
		return tree{}, err
	}
	t := tree{Commit: info.Commit}
	if err := t.check(); err != nil {
		return t, err
	}
	u = r.api("tree", t.Commit)
	u.RawQuery = "recursive=true"
	for {
		var page []struct {
			Type string `json:"type"`
			Path string `json:"path"`
			Size int64  `json:"size"`
			LFS  struct {
				SHA256 string `json:"oid"`
			} `json:"lfs"`
		}
		header, err := r.ask(ctx, what, u, &page)
		if err != nil {
			return t, err
		}
		for _, e := range page {
			if e.Type == "file" && e.Size >= 0 {
				t.Files = append(t.Files, entry{e.Path, e.Size, e.LFS.SHA256})
			}
		}
		next := nextPage(header)
		if next == "" {
			return t, t.check()
		}
		if len(t.Files) > maxFiles || next == u.RawQuery {
			return t, fmt.Errorf("%s has more than %d files, or its list has no end; download it and give the "+
				"directory", r.Name(), maxFiles)
		}
		r.hub.progress(fmt.Sprintf("listing the files of %s: %d", r.repo.id, len(t.Files)))
		u.RawQuery = next
	}
}

// nextPage is the query of the next page, "" behind the last one. Its host is not ours to choose: a mirror may name the
// hub that it mirrors.
func nextPage(header http.Header) string {
	for _, value := range header.Values("Link") {
		for link := range strings.SplitSeq(value, ",") {
			address, attributes, _ := strings.Cut(link, ">")
			if !strings.Contains(strings.ReplaceAll(attributes, `"`, ""), "rel=next") {
				continue
			}
			if u, err := url.Parse(strings.TrimLeft(address, " <")); err == nil {
				return u.RawQuery
			}
		}
	}
	return ""
}

// api is the address of what the hub says about a revision.
func (r *Remote) api(of, revision string) *url.URL {
	u := r.endpoint.JoinPath("api", string(r.repo.kind), r.repo.id, of)
	u.RawPath = u.EscapedPath() + "/" + url.PathEscape(revision)
	u.Path += "/" + revision
	return u
}

// ask gets JSON.
func (r *Remote) ask(ctx context.Context, what string, u *url.URL, into any) (http.Header, error) {
	data, header, err := r.read(ctx, what, u, File{Name: "list of files", Limit: maxTree, JSON: true}, func(string) {})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return nil, fmt.Errorf("%s came in another form; is HF_ENDPOINT a Hugging Face hub?", what)
	}
	return header, nil
}
