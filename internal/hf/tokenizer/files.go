package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"benchtop/internal/hf/hub"
	"benchtop/internal/jsonscan"
)

// The files that describe a tokenizer, beside one another.
const (
	tokenizerFile     = "tokenizer.json"
	configFile        = "tokenizer_config.json"
	specialTokensFile = "special_tokens_map.json"
	modelFile         = "config.json"
	tekkenFile        = "tekken.json"
	jinjaFile         = "chat_template.jinja"
	toolJinjaFile     = "additional_chat_templates/tool_use.jinja"
	templateFile      = "chat_template.json"
)

// Bounds on the files in bytes. The largest vocabularies of today take some 35 MB; a file takes twice its size while it
// is read.
const (
	maxTokenizerFile = 96 << 20
	maxSideFile      = 16 << 20
)

// readDirectory reads the files of a tokenizer in dir. It fails with fs.ErrNotExist only if there is no tokenizer.json.
func readDirectory(dir string) (Found, error) {
	data, err := hub.ReadFile(filepath.Join(dir, tokenizerFile), maxTokenizerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, noTokenizerError{dir, otherKind(dir)}
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
	if name := filepath.Base(path); name == tekkenFile || strings.HasSuffix(name, ".model") ||
		strings.HasSuffix(name, ".tiktoken") {
		return Found{}, fmt.Errorf("%s: unsupported kind of file; %s", path, wayOut)
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
	for _, name := range []string{configFile, specialTokensFile, modelFile, jinjaFile, toolJinjaFile, templateFile} {
		data, err := hub.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), maxSideFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err // without it tokens might be counted otherwise, and look right
		}
		found.put(name, data)
	}
	_, err := os.Stat(filepath.Join(dir, tekkenFile))
	found.HasTekken = err == nil
	return nil
}

// put files data under the name that it has on disk.
func (f *Found) put(name string, data []byte) {
	*map[string]*[]byte{tokenizerFile: &f.Tokenizer, configFile: &f.Config, specialTokensFile: &f.SpecialTokens,
		modelFile: &f.Model,
		jinjaFile: &f.Jinja, toolJinjaFile: &f.ToolJinja, templateFile: &f.JSON}[name] = data
}

// noTokenizerError says that a place has no tokenizer.json. It is an fs.ErrNotExist.
type noTokenizerError struct{ where, other string }

func (l noTokenizerError) Error() string {
	if l.other == "" {
		return l.where + " has no " + tokenizerFile
	}
	return fmt.Sprintf("%s has no %s, only %s, which is not read here; %s", l.where, tokenizerFile, l.other, wayOut)
}

func (l noTokenizerError) Unwrap() error { return fs.ErrNotExist }

// wayOut is for tokenizers in the older forms, whose tokens depend on code that comes with the model.
const wayOut = "let the server count (it is asked when --tokenizer is left out), " +
	"or give a tokenizer.json that transformers' save_pretrained made of it"

// otherKind is a file in dir that describes a tokenizer in another form, or "": SentencePiece, tiktoken, Mistral's, and
// vocabularies in parts.
func otherKind(dir string) string {
	for _, name := range []string{"tokenizer.model", "tiktoken.model", "qwen.tiktoken", tekkenFile, "spiece.model",
		"sentencepiece.bpe.model",
		"vocab.json", "vocab.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	return ""
}

// checkJSON says where a file is not JSON, or not UTF-8.
func checkJSON(file []byte) error {
	if len(file) == 0 {
		return errors.New("the file is empty")
	}
	if !json.Valid(file) {
		var any json.RawMessage
		err := json.Unmarshal(file, &any)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("byte %d: %w; is the file complete?", syntax.Offset, err)
		}
		return err
	}
	if !utf8.Valid(file) {
		return errors.New("the file is not UTF-8")
	}
	return nil
}

// eachMember calls each for the members of an object, in JSON that has been checked.
func eachMember(object []byte, each func(name string, value []byte) error) error {
	object = bytes.TrimSpace(object)
	if object[0] != '{' {
		return errors.New("is not an object")
	}
	for quoted, value := range jsonscan.Members(object) {
		name, err := textOf(quoted)
		if err == nil {
			err = each(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachElement calls each for the elements of an array.
func eachElement(array []byte, each func(value []byte) error) error {
	if array[0] != '[' {
		return errors.New("is not a list")
	}
	for value := range jsonscan.Elements(array) {
		if err := each(value); err != nil {
			return err
		}
	}
	return nil
}

// two are the first two elements of an array; n is how many it has.
func two(array []byte) (first, second []byte, n int, err error) {
	err = eachElement(array, func(value []byte) error {
		switch n++; n {
		case 1:
			first = value
		case 2:
			second = value
		}
		return nil
	})
	return first, second, n, err
}

// textOf is the text of a string.
func textOf(value []byte) (string, error) {
	text, err := appendText(nil, value)
	return string(text), err
}

// appendText appends the text of a string. Half a surrogate pair is no text.
func appendText(text, value []byte) ([]byte, error) {
	if !jsonscan.IsString(value) {
		return text, fmt.Errorf("%.40q stands where a string should", value)
	}
	text, err := jsonscan.AppendText(text, value)
	if err != nil {
		return text, fmt.Errorf("the string %.40q holds half a surrogate pair", value[1:len(value)-1])
	}
	return text, nil
}

// wholeOf is a number that must be an integer from 0 to limit.
func wholeOf(digits []byte, limit int) (int, error) {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q stands where a number from 0 to %d should", digits, limit)
		}
		if n = n*10 + int(c-'0'); n > limit {
			return 0, fmt.Errorf("%.40s is above %d, the most that is taken", digits, limit)
		}
	}
	return n, nil
}

// strict decodes a JSON object into a struct that knows all the fields there may be: one it does not know could change
// the result.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// isNull reports whether there is no value, or null.
func isNull(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
