package tokenizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchtop/internal/hf/hub"
)

// FindOptions says whose tokenizer is wanted and where to look for it.
type FindOptions struct {
	// Tokenizer is a file, a directory or a hub id, as --tokenizer takes it. Where it is given the others do not count.
	Tokenizer string
	// Root is what the server says that it has loaded: a directory, or a hub id such as Qwen/Qwen2.5-7B-Instruct. Empty
	// where it says nothing. Without an owner before the slash it may be a name of the server's own, so it is no hub
	// id.
	Root string
	// Model is the model as the user names it: a directory or a hub id. Where Root tells what is behind that name, the
	// name is taken for a hub id only if it has an owner.
	Model string
	// Revision is a branch, tag or commit on the hub; empty is main.
	Revision string
	// Hub is where hub ids are looked up; nil is a new one of the environment.
	Hub *hub.Hub
}

// candidate is a name that may lead to a tokenizer.
type candidate struct {
	name, by string
	onHub    bool // it may be a hub id
}

// candidates are the names in the order in which they are tried.
func (o FindOptions) candidates() []candidate {
	owned := func(name string) bool { return strings.Contains(name, "/") }
	switch {
	case o.Tokenizer != "":
		return []candidate{{o.Tokenizer, "--tokenizer", true}}
	case o.Root == o.Model && o.Model != "", o.Root == "" && o.Model != "":
		return []candidate{{o.Model, "--model", true}}
	case o.Model == "" && o.Root != "":
		return []candidate{{o.Root, byServer, owned(o.Root)}}
	case o.Root != "":
		return []candidate{{o.Root, byServer, owned(o.Root)}, {o.Model, "--model", owned(o.Model)}}
	}
	return nil
}

// byServer says that a server named its model.
const byServer = "the server's model root"

// Found is a tokenizer's files. They have not been looked into: Read does that.
type Found struct {
	Files
	Path string // the file or directory they were read from; for a download that could not be kept, its address
	Name string // of the tokenizer: the path that was given, or the hub id
	// Place is where a hub id was found, "hub" or "hub cache", "" for a path; By is what named it: "--tokenizer",
	// "--model" or "the server's model root".
	Place, By string
	// The files of chat templates, nil for one that is not there.
	Jinja     []byte // chat_template.jinja
	ToolJinja []byte // additional_chat_templates/tool_use.jinja
	JSON      []byte // chat_template.json
	// Tried says what was looked at in vain before, in order.
	Tried []string
}

// NotFoundError says that no tokenizer was named and that the model's own could not be had. Callers go on to the
// server then.
type NotFoundError struct {
	Model string   // "" if there was no name to go by
	Tried []string // the places looked at, and why they failed
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf(
		"no tokenizer for model %q on this machine or the hub: %s; give --tokenizer FILE, DIRECTORY or HUB/NAME",
		e.Model, strings.Join(e.Tried, "; "))
}

// Find looks for a tokenizer: in the file or directory named, in the caches of the Hugging Face libraries and in our
// own, and on the hub. It returns a *NotFoundError if it went by Root and Model and found none, another error if
// Tokenizer was named and cannot be had, and ctx's if that ended first.
func Find(ctx context.Context, o FindOptions) (Found, error) {
	f := search{FindOptions: o}
	if f.Hub == nil {
		f.Hub = hub.New(hub.Options{})
	}
	all := o.candidates()
	if len(all) == 0 {
		return Found{}, &NotFoundError{Tried: []string{"neither a tokenizer nor a model is named"}}
	}
	for _, c := range all {
		found, err := f.find(ctx, c)
		switch {
		case err == nil:
			found.Name, found.By, found.Tried = c.name, c.by, f.tried
			return found, nil
		case ctx.Err() != nil:
			return Found{}, context.Cause(ctx)
		case errors.Is(err, errHere):
			return Found{}, f.failed(c)
		}
	}
	return Found{}, f.failed(all[0])
}

// search is the state of Find.
type search struct {
	FindOptions
	tried []string
}

// failed is the error of a search that found nothing.
func (f *search) failed(c candidate) error {
	if f.Tokenizer != "" {
		return fmt.Errorf("--tokenizer %s cannot be had: %s", c.name, strings.Join(f.tried, "; "))
	}
	return &NotFoundError{Model: c.name, Tried: f.tried}
}

// The ways a candidate fails; the reasons stand in tried. errHere ends the whole search: the path on this machine is
// meant, not a model of that name on the hub.
var (
	errInVain = errors.New("not found")
	errHere   = errors.New("found, but of no use")
)

// find goes from the nearest place to the farthest.
func (f *search) find(ctx context.Context, c candidate) (Found, error) {
	found, here, err := f.local(c.name)
	if err == nil {
		return found, nil
	}
	f.tried = append(f.tried, err.Error())
	if here {
		return Found{}, errHere
	}
	if !c.onHub {
		f.tried = append(f.tried, fmt.Sprintf("%q has no owner, so the hub was not asked", c.name))
		return Found{}, errInVain
	}
	repo, err := hub.ParseRepository(hub.Models, c.name, f.Revision)
	if err != nil {
		if f.Tokenizer != "" || f.Revision != "" { // else it is a path, which was looked at
			f.tried = append(f.tried, err.Error())
		}
		return Found{}, errInVain
	}
	for _, source := range []struct {
		place string
		in    func(context.Context, hub.Repository) (Found, error)
	}{{"hub cache", f.hubCaches}, {"hub cache", f.ownCache}, {"hub", f.download}} {
		found, err := source.in(ctx, repo)
		if err == nil {
			found.Place, found.Repository = source.place, repo.ID()
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
		return Found{}, !errors.Is(err, os.ErrNotExist) && f.Tokenizer != "",
			fmt.Errorf("path %s: %w", name, hub.PathCause(err))
	case info.IsDir():
		found, err = readDirectory(name)
	case f.Tokenizer == "":
		return Found{}, false, fmt.Errorf("%s is a file, not the directory of a model", name)
	default:
		found, err = readNamed(name)
	}
	return found, true, err
}

// hubCaches looks into the caches of the Hugging Face libraries.
func (f *search) hubCaches(_ context.Context, repo hub.Repository) (found Found, err error) {
	err = f.Hub.Cached(repo, tokenizerFile, func(dir string) error {
		found, err = readDirectory(dir)
		return err
	})
	return found, err
}

// ownCache looks for an earlier download.
func (f *search) ownCache(_ context.Context, repo hub.Repository) (Found, error) {
	dir, err := f.Hub.Kept(repo)
	if err != nil {
		return Found{}, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return Found{}, errors.New("no earlier download")
	}
	return readKept(dir)
}

// readKept reads an earlier download. A file that was damaged on the disk is found by its ends, so that the download is
// done again; to look into it all here would take as long as reading it.
func readKept(dir string) (Found, error) {
	found, err := readDirectory(dir)
	if err != nil {
		return Found{}, err
	}
	for name, data := range map[string][]byte{tokenizerFile: found.Tokenizer, configFile: found.Config,
		specialTokensFile: found.SpecialTokens, modelFile: found.Model} {
		if text := bytes.TrimSpace(data); data != nil &&
			!(bytes.HasPrefix(text, []byte("{")) && bytes.HasSuffix(text, []byte("}"))) {
			return Found{}, fmt.Errorf("%s is damaged", filepath.Join(dir, name))
		}
	}
	return found, nil
}

// download fetches a tokenizer from the hub and keeps it in our own cache.
func (f *search) download(ctx context.Context, repo hub.Repository) (Found, error) {
	remote, err := f.Hub.Remote(repo)
	if err != nil {
		return Found{}, err
	}
	files, err := fetch(ctx, remote)
	if err != nil {
		return Found{}, err
	}
	found := Found{Path: remote.Page()}
	for name, data := range files {
		found.put(name, data)
	}
	dir, err := f.Hub.Kept(repo)
	if err == nil {
		err = hub.KeepDirectory(dir, files, func(dir string) error {
			_, err := readKept(dir)
			return err
		})
	}
	if err != nil { // the run goes on with the files in memory
		f.Hub.Report(fmt.Sprintf("the tokenizer of %s could not be kept for the next time: %v", repo.ID(), err))
		return found, nil
	}
	found.Path = dir
	return found, nil
}

// hubFiles are fetched in this order; only the first must be there.
func hubFiles() []hub.File {
	return []hub.File{
		{Name: tokenizerFile, Limit: maxTokenizerFile, JSON: true, Reported: true, Check: checkModel},
		{Name: configFile, Limit: maxSideFile, JSON: true},
		{Name: specialTokensFile, Limit: maxSideFile, JSON: true},
		{Name: modelFile, Limit: maxSideFile},
		{Name: jinjaFile, Limit: maxSideFile},
		{Name: toolJinjaFile, Limit: maxSideFile},
	}
}

// checkModel tells a tokenizer, be it of a kind that is read here or not, from other JSON, such as a proxy's excuse.
func checkModel(r io.Reader) error {
	var file struct{ Model json.RawMessage }
	if json.NewDecoder(r).Decode(&file) != nil || len(file.Model) == 0 {
		return errors.New("no model in it")
	}
	return nil
}

// fetch gets the files of the model's tokenizer.
func fetch(ctx context.Context, remote *hub.Remote) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, file := range hubFiles() {
		data, err := remote.Get(ctx, file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file.Name == tokenizerFile:
			return nil, explain(ctx, remote, err)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			files[file.Name] = data
		}
	}
	return files, nil
}

// explainWithin bounds the time for a better error.
const explainWithin = 5 * time.Second

// explain is the error that names the file that the hub has in place of a tokenizer.json.
func explain(ctx context.Context, remote *hub.Remote, missing error) error {
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	for _, name := range []string{"tokenizer.model", "tiktoken.model", tekkenFile} {
		if remote.Has(ctx, name) {
			return noTokenizerError{remote.Name(), name}
		}
	}
	return fmt.Errorf("%w; check the name, or give another --tokenizer", missing)
}
