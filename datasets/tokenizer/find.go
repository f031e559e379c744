package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"benchtop/datasets/hub"
)

// FindOptions says whose tokenizer is wanted and where to look for it.
type FindOptions struct {
	// Tokenizer is a file, a directory or a hub id, as --tokenizer takes it. Empty goes by Model.
	Tokenizer string
	// Model is the model under test: a directory or a hub id, such as Qwen/Qwen2.5-7B-Instruct.
	Model string
	// Revision is a branch, tag or commit on the hub; empty is main.
	Revision string
	// Env looks up an environment variable; nil is os.Getenv.
	Env func(string) string
	// Client downloads; nil is http.DefaultClient. Its redirects and waits are governed by the download itself.
	Client *http.Client
	// Cache is the directory in which downloads are kept; empty is benchtop/hub in os.UserCacheDir. What is there is
	// used without asking the hub whether it has changed, as the caches of the Hugging Face libraries are when offline.
	Cache string
	// Progress hears in a line what a download is at; nil is nobody. It is called by the goroutine that called Find.
	Progress func(string)
}

// Found is a tokenizer's files. They have not been looked into: Read does that.
type Found struct {
	Files
	Path string // the file or directory they were read from; for a download that could not be kept, its address
	Name string // what to call the tokenizer: the path that was given, or the hub id
	// The files of chat templates, nil for one that is not there.
	Jinja     []byte // chat_template.jinja
	ToolJinja []byte // additional_chat_templates/tool_use.jinja
	JSON      []byte // chat_template.json
	// Tried says what was looked at in vain before, in order.
	Tried []string
}

// NotFoundError says that nobody named a tokenizer and that the model's own could not be had. Callers go on to the
// server then.
type NotFoundError struct {
	Model string
	Tried []string // what was looked at, and what came of it
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no tokenizer for model %q on this machine or the hub: %s; give --tokenizer FILE, DIRECTORY or HUB/NAME",
		e.Model, strings.Join(e.Tried, "; "))
}

// Find looks for a tokenizer: in the file or directory named, in the caches of the Hugging Face libraries and in our
// own, and on the hub. It returns a *NotFoundError if it went by Model and found none, another error if Tokenizer was
// named and cannot be had, and ctx's if that ended first.
//
// The environment counts as it does for huggingface_hub: HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN and their older
// names; HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids downloads.
func Find(ctx context.Context, o FindOptions) (Found, error) {
	f := search{FindOptions: o, hub: hub.New(hub.Options{Env: o.Env, Client: o.Client, Cache: o.Cache, Progress: o.Progress})}
	if f.Progress == nil {
		f.Progress = func(string) {}
	}
	name := o.Tokenizer
	if name == "" {
		name = o.Model
	}
	if name == "" {
		return Found{}, &NotFoundError{Tried: []string{"neither a tokenizer nor a model is named"}}
	}
	found, err := f.find(ctx, name)
	switch {
	case err == nil:
		found.Name, found.Tried = name, f.tried
		return found, nil
	case ctx.Err() != nil:
		return Found{}, context.Cause(ctx)
	case o.Tokenizer != "":
		return Found{}, fmt.Errorf("--tokenizer %s cannot be had: %s", name, strings.Join(f.tried, "; "))
	}
	return Found{}, &NotFoundError{Model: name, Tried: f.tried}
}

// search is one search.
type search struct {
	FindOptions
	hub   *hub.Hub
	tried []string
}

// errInVain ends a search; what came of it stands in tried.
var errInVain = errors.New("not found")

// find goes from the nearest place to the farthest.
func (f *search) find(ctx context.Context, name string) (Found, error) {
	found, here, err := f.local(name)
	if err == nil {
		return found, nil
	}
	f.tried = append(f.tried, err.Error())
	if here {
		return Found{}, errInVain // what lies here is what was meant, not a model of that name on the hub
	}
	repo, err := hub.ParseRepository(hub.Models, name, f.Revision)
	if err != nil {
		f.tried = append(f.tried, err.Error())
		return Found{}, errInVain
	}
	for _, look := range []func(context.Context, hub.Repository) (Found, error){f.hubCaches, f.ownCache, f.download} {
		found, err := look(ctx, repo)
		if err == nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		f.tried = append(f.tried, err.Error())
	}
	return Found{}, errInVain
}

// local takes name for a path: of a directory, or of a file if a tokenizer was named. here says that there is something
// at that path.
func (f *search) local(name string) (found Found, here bool, err error) {
	if f.Tokenizer == "" && len(name) > 1 && strings.Trim(name[:2], `/\`) == "" {
		// A model's name may come from the server, and Windows would log in at the host that such a path names.
		return Found{}, false, fmt.Errorf("%s is a path of the network and was not looked at", name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		if target, broken := hub.BrokenLink(name); broken {
			return Found{}, true, fmt.Errorf("%s is a broken link: its target %s is gone", name, target)
		}
		return Found{}, !errors.Is(err, os.ErrNotExist) && f.Tokenizer != "", fmt.Errorf("path %s: %w", name, hub.PathCause(err))
	case info.IsDir():
		found, err = readDirectory(name)
	case f.Tokenizer == "":
		return Found{}, false, fmt.Errorf("%s is a file, not the directory of a model", name)
	default:
		found, err = readNamed(name)
	}
	return found, true, err
}
