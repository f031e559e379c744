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
	"time"

	"benchtop/datasets/hub"
)

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
	for name, data := range map[string][]byte{tokenizerFile: found.Tokenizer, configFile: found.Config, specialTokensFile: found.SpecialTokens} {
		if text := bytes.TrimSpace(data); data != nil && !(bytes.HasPrefix(text, []byte("{")) && bytes.HasSuffix(text, []byte("}"))) {
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
	for _, file := range hubFiles() {
		if data, ok := files[file.Name]; ok {
			found.put(file.Name, data)
		}
	}
	dir, err := f.Hub.Kept(repo)
	if err == nil {
		err = hub.KeepDirectory(dir, files, func(dir string) error {
			_, err := readKept(dir)
			return err
		})
	}
	if err != nil { // this run has what it needs
		f.Hub.Tell(fmt.Sprintf("the tokenizer of %s could not be kept for the next time: %v", repo.ID(), err))
		return found, nil
	}
	found.Path = dir
	return found, nil
}

// hubFiles are fetched in this order; only the first must be there.
func hubFiles() []hub.File {
	return []hub.File{
		{Name: tokenizerFile, Limit: maxTokenizerFile, JSON: true, Tell: true, Check: checkModel},
		{Name: configFile, Limit: maxSideFile, JSON: true},
		{Name: specialTokensFile, Limit: maxSideFile, JSON: true},
		{Name: jinjaFile, Limit: maxSideFile},
		{Name: toolJinjaFile, Limit: maxSideFile},
	}
}

// checkModel tells a tokenizer, be it of a kind that is read here or not, from other JSON, such as a proxy's excuse.
func checkModel(r io.Reader) error {
	var file struct{ Model json.RawMessage }
	if json.NewDecoder(r).Decode(&file) != nil || len(file.Model) == 0 {
		return errors.New("there is no model in it")
	}
	return nil
}

// fetch gets what describes the model's tokenizer.
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

// explainWithin bounds what is spent on saying it better.
const explainWithin = 5 * time.Second

// explain says what the hub has in place of a tokenizer.json.
func explain(ctx context.Context, remote *hub.Remote, missing error) error {
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	for _, name := range []string{"tokenizer.model", "tiktoken.model", "tekken.json"} {
		if remote.Has(ctx, name) {
			return lacking{remote.Name(), name}
		}
	}
	return fmt.Errorf("%w; check the name, or give another --tokenizer", missing)
}
