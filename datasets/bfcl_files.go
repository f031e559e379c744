package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/media"
	"benchtop/internal/jsonscan"
)

const (
	bfclPrefix = "BFCL_v3_"
	bfclSuffix = ".json"
)

// directory is where the categories' files are, "" where they have to be fetched.
func (o bfcl) directory() (string, error) {
	info, err := os.Stat(o.Path)
	switch {
	case err == nil && info.IsDir():
		return hub.Selection{Path: o.Path, Name: BFCLRepository}.Directory()
	case err == nil:
		return "", fmt.Errorf("this is a file; give the directory that holds files like %ssimple%s", bfclPrefix,
			bfclSuffix)
	case o.Path == BFCLRepository:
		return "", nil
	}
	return "", fmt.Errorf(
		"%w; give the directory that holds files like %ssimple%s, such as a clone of the repository %s",
		textfile.Cause(err), bfclPrefix, bfclSuffix, BFCLRepository)
}

// maxBFCLFile is the largest file of the leaderboard in bytes that is fetched. The largest of today has some 5 MB.
const maxBFCLFile = 64 << 20

// fetchBFCL gets a file of the leaderboard from the hub's caches, or from the hub.
func fetchBFCL(ctx context.Context, name string, h *hub.Hub) (path string, err error) {
	repo, err := hub.ParseRepository(hub.Datasets, BFCLRepository, "")
	if err != nil {
		return "", err
	}
	path, err = h.Fetch(ctx, repo, hub.File{Name: name, Limit: maxBFCLFile, Reported: true, Check: checkBFCL})
	if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s cannot be had: %w; without the hub, clone the repository elsewhere and give "+
			"--dataset-path DIRECTORY --hf-name %s",
			name, err, BFCLRepository)
	}
	return path, err
}

// checkBFCL reports why a content cannot be a category's file: it breaks off, or nothing in it is a question.
func checkBFCL(r io.Reader) error {
	questions := 0
	err := textfile.EachObject(r, bfclForm, func(object []byte, _ int) error {
		if jsonscan.Fields(object, "question")[0] != nil {
			questions++
		}
		return nil
	})
	if err == nil && questions == 0 {
		err = fmt.Errorf("no questions in it; expected %s on each line", bfclForm)
	}
	return err
}

// file is where the file of a category lies.
func (o bfcl) file(ctx context.Context, h *hub.Hub, dir, category string) (string, error) {
	name := bfclPrefix + category + bfclSuffix
	if dir == "" {
		path, err := fetchBFCL(ctx, name, h)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("unknown category %q: the repository has no file %s; see --bfcl-categories", category,
				name)
		}
		return path, err
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", missingCategory(dir, category)
	}
	return path, nil
}

// missingCategory says which categories there are instead.
func missingCategory(dir, category string) error {
	var names []string
	entries, _ := os.ReadDir(dir) // in order; an unreadable directory has no names
	for _, entry := range entries {
		name, first := strings.CutPrefix(entry.Name(), bfclPrefix)
		name, last := strings.CutSuffix(name, bfclSuffix)
		if first && last {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no file %s<category>%s; give the directory that holds them", bfclPrefix, bfclSuffix)
	}
	return fmt.Errorf("unknown category %q; give --bfcl-categories some of: %s", category, someOf(names))
}

// openAIType is the chat API's name of a type that the leaderboard has by its Python name.
func openAIType(name string) string {
	return cmp.Or(map[string]string{"dict": "object", "float": "number", "tuple": "array", "any": "string"}[name], name)
}

// asPython is a value the way Python holds it: without repeated names, everything else in its order. With types, every
// "type" that is a string is put into the chat API's words.
func asPython(raw []byte, types bool) []byte {
	var parts []byte
	switch raw[0] {
	case '{':
		for _, m := range jsonscan.Dict(raw) {
			value := asPython(m.Value, types)
			if types && m.Name == "type" && jsonscan.IsString(value) {
				value = jsonscan.Quote(openAIType(jsonscan.Text(value)))
			}
			parts = media.AppendPart(parts, fmt.Appendf(nil, "%s:%s", jsonscan.Quote(m.Name), value))
		}
		return fmt.Appendf(nil, "{%s}", parts)
	case '[':
		for element := range jsonscan.Elements(raw) {
			parts = media.AppendPart(parts, asPython(element, types))
		}
		return fmt.Appendf(nil, "[%s]", parts)
	}
	return raw
}

// tools are the functions of a row as the chat API takes them; nil where it has none. A single function may stand
// alone.
func tools(function []byte) (json.RawMessage, error) {
	if !jsonscan.Truthy(function) {
		return nil, nil
	}
	if function[0] == '{' {
		function = fmt.Appendf(nil, "[%s]", function)
	}
	if function[0] != '[' {
		return nil, fmt.Errorf(`expected "function" to be an object or an array of them: got %s`,
			jsonscan.Kind(function))
	}
	var list []byte
	for f := range jsonscan.Elements(function) {
		if f[0] != '{' {
			return nil, fmt.Errorf(`expected each "function" to be an object: got %s`, jsonscan.Kind(f))
		}
		list = media.AppendPart(list, fmt.Appendf(nil, `{"type":"function","function":%s}`, asPython(f, true)))
	}
	return fmt.Appendf(nil, "[%s]", list), nil
}

// firstTurn is the message list of a question's first turn; nil where there is none.
func firstTurn(question []byte) (json.RawMessage, error) {
	if !jsonscan.Truthy(question) {
		return nil, nil
	}
	if question[0] != '[' {
		return nil, fmt.Errorf(`expected "question" to be an array: got %s`, jsonscan.Kind(question))
	}
	for turn := range jsonscan.Elements(question) {
		if turn[0] != '[' || !jsonscan.Truthy(turn) {
			return nil, nil
		}
		for message := range jsonscan.Elements(turn) {
			if message[0] != '{' {
				return nil, fmt.Errorf("expected each message to be an object: got %s", jsonscan.Kind(message))
			}
		}
		return asPython(turn, false), nil
	}
	return nil, nil
}

// contents are the texts of messages, "" for one that is no string.
func contents(messages json.RawMessage) []string {
	var all []string
	for message := range jsonscan.Elements(messages) {
		text := ""
		if said := content(message); jsonscan.IsString(said) {
			text = jsonscan.Text(said)
		}
		all = append(all, text)
	}
	return all
}
