// Package hub gets files from the Hugging Face hub: from the caches of its libraries, from a cache of our own, or by
// download. It goes by the variables that huggingface_hub goes by: HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN and
// their older names; HF_HUB_OFFLINE and its kin forbid downloads.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Options says how a hub is reached. The zero value is good.
type Options struct {
	// Env looks up an environment variable; nil is os.Getenv.
	Env func(string) string
	// Client downloads; nil is http.DefaultClient. Its redirects and waits are governed by the download itself.
	Client *http.Client
	// Cache is the directory in which downloads are kept; empty is benchtop/hub in os.UserCacheDir. Its files are
	// used without asking the hub whether it has changed, as the caches of the Hugging Face libraries are when offline.
	Cache string
	// Progress hears in a line what a download is at; nil for none. It is called by the goroutine that downloads.
	Progress func(string)
}

// Hub is the hub that the environment names, and the caches before it. It may be used by several goroutines at once if
// Options.Progress may be. A hub that could not be reached is not tried again, so a run has one Hub.
type Hub struct {
	env      environment
	client   *http.Client
	cache    string
	progress func(string)
	lost     atomic.Pointer[connectionError]
	trees    sync.Map // lists of files, by the path where each is kept
}

// New does no I/O.
func New(o Options) *Hub {
	h := &Hub{env: o.Env, client: cmp.Or(o.Client, http.DefaultClient), cache: o.Cache, progress: o.Progress}
	if h.env == nil {
		h.env = os.Getenv
	}
	if h.progress == nil {
		h.progress = func(string) {}
	}
	return h
}

// Report hands a line to Options.Progress.
func (h *Hub) Report(line string) { h.progress(line) }

// File is a file to fetch from a repository.
type File struct {
	Name     string // in the repository, with slashes
	Limit    int64  // bytes; a larger file is an error
	JSON     bool   // it is one JSON value, and anything else is an error
	Reported bool   // its download is worth a line of progress from the start
	// Check says why a content cannot be what was wanted; nil takes any. A refused content is not kept, and Fetch
	// passes over it in the caches: a file that was cut short would else fail every run from then on.
	Check func(io.Reader) error

	size int64  // bytes; 0 where it is not known
	sum  string // its SHA-256 in hexadecimal; "" where it is not known
	part string // "file 1 of 3, " where it is one of several
}

// Fetch returns where a file lies: in a cache, or, after a download, in our own. The error lists what was tried; it is
// an fs.ErrNotExist only if the hub was asked and has the repository without the file, and ctx's if that ended first.
func (h *Hub) Fetch(ctx context.Context, repo Repository, f File) (path string, err error) {
	if err := f.check(); err != nil {
		return "", err
	}
	inspect := func(dir string) error {
		path = filepath.Join(dir, filepath.FromSlash(f.Name))
		return f.usable(path)
	}
	cached := h.Cached(repo, f.Name, inspect)
	if cached == nil {
		return path, nil
	}
	kept, err := h.Kept(repo)
	if err != nil {
		return "", err
	}
	own := inspect(kept)
	if own == nil {
		return path, nil
	}
	remote, err := h.Remote(repo)
	if err == nil {
		err = remote.Save(ctx, f, path)
	}
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%s; %s; %w", cached, own, err)
	}
	return path, nil
}

// Kept is the directory for downloads from a repository, which need not be there. Hubs do not share theirs: a mirror's
// model may be another.
func (h *Hub) Kept(repo Repository) (dir string, err error) {
	endpoint, err := h.env.endpoint()
	if err != nil {
		return "", err
	}
	cache := h.cache
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no directory for downloads: %w", err)
		}
		cache = filepath.Join(dir, "benchtop", "hub")
	}
	hub := strings.ReplaceAll(url.PathEscape(endpoint.Host+endpoint.Path), ":", "%3A") // Windows has no colons in names
	return filepath.Join(cache, hub, repo.directory(), url.PathEscape(repo.revision)), nil
}

// check makes sure that the name leads nowhere else, here or on the hub.
func (f File) check() error {
	if !fs.ValidPath(f.Name) || f.Name == "." || !filepath.IsLocal(filepath.FromSlash(f.Name)) ||
		strings.ContainsAny(f.Name, `\:`) {
		return fmt.Errorf("%q is not a file name on the hub", f.Name)
	}
	return nil
}

// usable reports what keeps a file from being read, or from being what was wanted.
func (f File) usable(path string) error {
	if err := usable(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && f.size > 0 && info.Size() != f.size {
		return fmt.Errorf("%s has %d bytes, expected %d", path, info.Size(), f.size)
	}
	if f.Check == nil {
		return nil
	}
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		err = f.Check(file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, PathCause(err))
	}
	return nil
}

// usable reports what keeps a file from being read.
func usable(path string) error {
	info, err := regular(path)
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return errors.New(path + " is empty")
	case info.Size() > maxPointer:
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, PathCause(err))
	}
	defer file.Close()
	begin := make([]byte, len(pointer))
	if n, _ := io.ReadFull(file, begin); string(begin[:n]) == pointer {
		return pointerError(path)
	}
	return nil
}

// Kind says what a repository holds.
type Kind string

// The kinds of repositories that are read.
const (
	Models   Kind = "models"
	Datasets Kind = "datasets"
)

// noun is the word for a repository of the kind.
func (k Kind) noun() string {
	if k == Datasets {
		return "data set"
	}
	return "model"
}

// Repository is a model or a data set on the hub, in one of its revisions. Its parts are safe to build paths and
// addresses of. ParseRepository makes one.
type Repository struct {
	kind     Kind
	id       string // organisation/name, or the name alone for the oldest ones
	revision string // never empty
	asked    bool   // the revision was asked for, rather than main taken
}

// ParseRepository follows the hub's rules for ids, so that no name leads out of a cache. revision is a branch, tag or
// commit; empty is main.
func ParseRepository(kind Kind, id, revision string) (Repository, error) {
	r := Repository{kind, id, revision, revision != ""}
	if !r.asked {
		r.revision = "main"
	}
	parts := strings.Split(id, "/")
	valid := len(parts) <= 2 && !strings.Contains(id, "--") && !strings.Contains(id, "..") &&
		!strings.HasSuffix(id, ".git")
	for _, part := range parts {
		valid = valid && len(part) > 0 && len(part) <= 96 && plain(part, "-._") && strings.Trim(part, "-.") == part
	}
	if !valid {
		return r, fmt.Errorf("%q is not a valid name on the hub, such as organisation/name", id)
	}
	valid = len(r.revision) <= 255 && plain(r.revision, "-._/+")
	for part := range strings.SplitSeq(r.revision, "/") {
		valid = valid && part != "" && strings.Trim(part, ".") != ""
	}
	if !valid {
		return r, fmt.Errorf("%q is not a valid revision on the hub; give a branch, a tag or a commit", r.revision)
	}
	return r, nil
}

// plain reports whether s holds nothing but ASCII letters, digits and the marks given.
func plain(s, marks string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !letter && (c < '0' || c > '9') && !strings.ContainsRune(marks, c)
	})
}

// ID is the repository's name as the hub has it, such as organisation/name.
func (r Repository) ID() string { return r.id }

// directory is the name of the repository's directory in a cache.
func (r Repository) directory() string {
	return string(r.kind) + "--" + strings.ReplaceAll(r.id, "/", "--")
}

// path is where the repository is below the hub's address: models are at its root.
func (r Repository) path() string {
	if r.kind == Models {
		return r.id
	}
	return string(r.kind) + "/" + r.id
}

// environment looks up the variables that huggingface_hub goes by. An empty one counts as not set.
type environment func(string) string

// affirms reports whether a variable holds one of the words for yes.
func (e environment) affirms(name string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(e(name)))
}

// offline is the variable that forbids downloads of a kind, or "".
func (e environment) offline(kind Kind) string {
	const datasetsOnly = "HF_DATASETS_OFFLINE"
	for _, name := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", datasetsOnly} {
		if e.affirms(name) && (kind == Datasets || name != datasetsOnly) {
			return name
		}
	}
	return ""
}

// home is the user's directory, or "".
func (e environment) home() string {
	if runtime.GOOS == "windows" {
		return cmp.Or(e("USERPROFILE"), e("HOME"))
	}
	return e("HOME")
}

// expand replaces a leading ~ and variables in a path. Like Python it leaves variables that are not set.
func (e environment) expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = e.home() + path[1:]
	}
	return os.Expand(path, func(name string) string { return cmp.Or(e(name), "$"+name) })
}

// hubHome is where the Hugging Face libraries keep things, or "".
func (e environment) hubHome() string {
	if home := e("HF_HOME"); home != "" {
		return e.expand(home)
	}
	if cache := e("XDG_CACHE_HOME"); cache != "" {
		return filepath.Join(e.expand(cache), "huggingface")
	}
	if e.home() == "" {
		return ""
	}
	return filepath.Join(e.home(), ".cache", "huggingface")
}

// hubCaches are the directories that may hold repositories. The first is huggingface_hub's. transformers before version
// 5 kept its files in TRANSFORMERS_CACHE if that was set, so it is looked at as well.
func (e environment) hubCaches() []string {
	var caches []string
	if cache := cmp.Or(e("HF_HUB_CACHE"), e("HUGGINGFACE_HUB_CACHE")); cache != "" {
		caches = append(caches, e.expand(cache))
	} else if home := e.hubHome(); home != "" {
		caches = append(caches, filepath.Join(home, "hub"))
	}
	if old := e.expand(e("TRANSFORMERS_CACHE")); old != "" && !slices.Contains(caches, old) {
		caches = append(caches, old)
	}
	return caches
}

// endpoint is the address of the hub, without a slash at its end.
func (e environment) endpoint() (*url.URL, error) {
	address := cmp.Or(e("HF_ENDPOINT"), "https://huggingface.co")
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// Not quoted: it may hold a password.
		return nil, errors.New("HF_ENDPOINT is not the address of a hub, such as https://huggingface.co")
	}
	return u, nil
}

// token is the access token for the hub, or "".
func (e environment) token() (string, error) {
	if e.affirms("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
		return "", nil
	}
	token, from := strings.TrimSpace(cmp.Or(e("HF_TOKEN"), e("HUGGING_FACE_HUB_TOKEN"))), "HF_TOKEN"
	if token == "" {
		path := e.expand(e("HF_TOKEN_PATH"))
		if path == "" && e.hubHome() != "" {
			path = filepath.Join(e.hubHome(), "token")
		}
		if path == "" {
			return "", nil
		}
		data, err := ReadFile(path, 64<<10)
		if err != nil {
			return "", nil // not logged in; the hub says so if it matters
		}
		token, from = strings.TrimSpace(string(data)), path
	}
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("the token in %s holds characters that no token has", from)
	}
	return token, nil
}
