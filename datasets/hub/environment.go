package hub

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// environment looks up the variables that huggingface_hub goes by. An empty one counts as not set.
type environment func(string) string

// affirms reports whether a variable holds one of the words for yes.
func (e environment) affirms(name string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(e(name)))
}

// offline is the variable that forbids downloads of a kind, or "".
func (e environment) offline(kind Kind) string {
	names := []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}
	if kind == Datasets {
		names = append(names, "HF_DATASETS_OFFLINE")
	}
	for _, name := range names {
		if e.affirms(name) {
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

// hubCaches are the directories that may hold repositories. The first is huggingface_hub's. transformers before version 5
// kept its files in TRANSFORMERS_CACHE if that was set, so it is looked at as well.
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
