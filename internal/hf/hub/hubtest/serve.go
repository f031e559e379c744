package hubtest

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hub is a hub of models and data sets on loopback. It lists files, and serves them whole or from a byte on.
type Hub struct {
	*httptest.Server
	// Files are contents by repository and name. A repository is organisation/name for main, organisation/name@revision
	// for another.
	Files map[string]map[string]string
	// Before answers instead, where it returns true; nil for never.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Page is the number of files on a page of a list; 0 for 1000.
	Page int

	mu    sync.Mutex
	asked []string
}

// Serve starts a hub, which goes with the test.
func Serve(t testing.TB, files map[string]map[string]string) *Hub {
	h := &Hub{Files: files}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// Env gives a hub.Hub this hub, with caches in home. Pairs are more variables and their values.
func (h *Hub) Env(home string, pairs ...string) func(string) string {
	env := map[string]string{"HF_ENDPOINT": h.URL, "HF_HOME": filepath.Join(home, "hf"), "HOME": home}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return env[name] }
}

// Answer is an answer for Before: a status, the hub's word for the reason, a body, and more headers with their values.
func Answer(status int, code, body string, headers ...string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Error-Code", code)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
		return true
	}
}

// Asked returns what the hub was asked since the last time: the path of each request behind /, /datasets/ or
// /api/datasets/.
func (h *Hub) Asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}

// Commit is the commit of a repository, which depends on its files.
func (h *Hub) Commit(repo string) string {
	sum := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(h.Files[repo])) {
		fmt.Fprintf(sum, "%q %q\n", name, h.Files[repo][name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/api"), "/datasets"), "/")
	h.mu.Lock()
	h.asked = append(h.asked, path)
	h.mu.Unlock()
	if h.Before != nil && h.Before(w, r) {
		return
	}
	parts := strings.SplitN(path, "/", 5)
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	if len(parts) < 4 || h.Files[parts[0]+"/"+parts[1]] == nil {
		Answer(http.StatusNotFound, "RepoNotFound", "")(w, r)
		return
	}
	repo := h.find(parts[0]+"/"+parts[1], parts[3])
	if repo == "" {
		Answer(http.StatusNotFound, "RevisionNotFound", "")(w, r)
		return
	}
	switch parts[2] {
	case "revision":
		json.NewEncoder(w).Encode(map[string]string{"sha": h.Commit(repo)})
	case "tree":
		h.tree(w, r, repo)
	case "resolve":
		name, _ := url.PathUnescape(strings.Join(parts[4:], ""))
		content, has := h.Files[repo][name]
		if !has {
			Answer(http.StatusNotFound, "EntryNotFound", "")(w, r)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(content))
	}
}

// find is the key in Files of a revision or commit.
func (h *Hub) find(id, revision string) string {
	for key := range h.Files {
		of, named, branch := strings.Cut(key, "@")
		if of == id && (branch && revision == named || !branch && revision == "main" || revision == h.Commit(key)) {
			return key
		}
	}
	return ""
}

// tree lists a page of files.
func (h *Hub) tree(w http.ResponseWriter, r *http.Request, repo string) {
	type lfs struct {
		SHA256 string `json:"oid"`
	}
	type entry struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Size int    `json:"size"`
		LFS  *lfs   `json:"lfs,omitempty"`
	}
	names := slices.Sorted(maps.Keys(h.Files[repo]))
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	to := len(names)
	if page := h.Page; page > 0 && from+page < to {
		to = from + page
		w.Header().Set("Link", fmt.Sprintf(`<https://hub.invalid/api?recursive=true&cursor=%d>; rel="next"`, to))
	}
	entries := []entry{{Type: "directory", Path: "data"}}
	for _, name := range names[from:to] {
		content := h.Files[repo][name]
		e := entry{Type: "file", Path: name, Size: len(content)}
		if !strings.HasSuffix(name, ".md") { // as if it were large
			sum := sha256.Sum256([]byte(content))
			e.LFS = &lfs{hex.EncodeToString(sum[:])}
		}
		entries = append(entries, e)
	}
	json.NewEncoder(w).Encode(entries)
}
