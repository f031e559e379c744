package tokenizer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"benchtop/datasets/hub"
)

// The files that describe a tokenizer, beside one another.
const (
	tokenizerFile     = "tokenizer.json"
	configFile        = "tokenizer_config.json"
	specialTokensFile = "special_tokens_map.json"
	jinjaFile         = "chat_template.jinja"
	toolJinjaFile     = "additional_chat_templates/tool_use.jinja"
	templateFile      = "chat_template.json"
)

// Bounds on the files in bytes. The largest vocabularies of today take some 35 MB; a file takes twice its size while it is
// read.
const (
	maxTokenizerFile = 96 << 20
	maxSideFile      = 16 << 20
)

// readDirectory reads the files of a tokenizer in dir. It fails with fs.ErrNotExist only if there is no tokenizer.json.
func readDirectory(dir string) (Found, error) {
	data, err := hub.ReadFile(filepath.Join(dir, tokenizerFile), maxTokenizerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, lacking{dir, otherKind(dir)}
	}
	if err != nil {
		return Found{}, err
	}
	found := Found{Path: dir, Files: Files{Tokenizer: data}}
	return found, readSides(&found, dir)
}

// readNamed reads a tokenizer from the file at path. Files beside it belong to it only if the file has the usual
// name.
func readNamed(path string) (Found, error) {
	if name := filepath.Base(path); unreadable(name) {
		return Found{}, fmt.Errorf("%s is of a kind that is not read here; %s", path, wayOut)
	}
	data, err := hub.ReadFile(path, maxTokenizerFile)
	if err != nil {
		return Found{}, err
	}
	found := Found{Path: path, Files: Files{Tokenizer: data}}
	if filepath.Base(path) == tokenizerFile {
		return found, readSides(&found, filepath.Dir(path))
	}
	return found, nil
}

// readSides reads the files beside tokenizer.json, which need not be there.
func readSides(found *Found, dir string) error {
	for _, name := range []string{configFile, specialTokensFile, jinjaFile, toolJinjaFile, templateFile} {
		data, err := hub.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), maxSideFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err // without it tokens might be counted otherwise, and look right
		}
		found.put(name, data)
	}
	return nil
}

// put files data under the name that it has on disk.
func (f *Found) put(name string, data []byte) {
	*map[string]*[]byte{tokenizerFile: &f.Tokenizer, configFile: &f.Config, specialTokensFile: &f.SpecialTokens,
		jinjaFile: &f.Jinja, toolJinjaFile: &f.ToolJinja, templateFile: &f.JSON}[name] = data
}

// lacking says that a place has no tokenizer.json. It is an fs.ErrNotExist.
type lacking struct{ where, other string }

func (l lacking) Error() string {
	if l.other == "" {
		return l.where + " has no " + tokenizerFile
	}
	return fmt.Sprintf("%s has no %s, only %s, which is not read here; %s", l.where, tokenizerFile, l.other, wayOut)
}

func (l lacking) Unwrap() error { return fs.ErrNotExist }

// wayOut is for tokenizers in the older forms, whose tokens depend on code that comes with the model.
const wayOut = "let the server count (it is asked when --tokenizer is left out), " +
	"or give a tokenizer.json that transformers' save_pretrained made of it"

// otherKinds are the files of tokenizers in other forms: SentencePiece, tiktoken, Mistral's, and vocabularies in parts.
func otherKinds() []string {
	return []string{"tokenizer.model", "tiktoken.model", "qwen.tiktoken", "tekken.json", "spiece.model",
		"sentencepiece.bpe.model", "vocab.json", "vocab.txt"}
}

// otherKind is a file in dir that describes a tokenizer in another form, or "".
func otherKind(dir string) string {
	for _, name := range otherKinds() {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	return ""
}

// unreadable tells a tokenizer in another form by its name.
func unreadable(name string) bool {
	return name == "tekken.json" || strings.HasSuffix(name, ".model") || strings.HasSuffix(name, ".tiktoken")
}
