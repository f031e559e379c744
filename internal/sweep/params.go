package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/jsonscan"
	"benchtop/internal/usage"
)

// mostParams limits the size of a parameter file: a larger one is another file by mistake.
const mostParams = 16 << 20

// ReadItems reads a parameter file: a list of objects, or an object of named objects. Without a file there is one item,
// the command as it is. The error has every problem of the file, each with its entry and key.
func ReadItems(path string) ([]Item, error) {
	if path == "" {
		return []Item{nil}, nil
	}
	return readFile(path, parseItems)
}

// readFile parses a small file. The error has every problem, each with the file's name.
func readFile[T any](path string, parse func(raw []byte) ([]T, usage.Problems)) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, mostParams+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(raw) > mostParams:
		return nil, fmt.Errorf("%s: larger than %d MiB; give a parameter file", path, mostParams>>20)
	case !utf8.Valid(raw):
		return nil, fmt.Errorf("%s: not UTF-8; convert it with iconv -t UTF-8", path)
	}
	all, problems := parse(raw)
	for i, p := range problems {
		problems[i] = fmt.Errorf("%s: %w", path, p)
	}
	return all, errors.Join(problems...)
}

const itemsExample = `; expected [{"max_num_seqs": 32}, …] or {"NAME": {"max_num_seqs": 32}, …}`

func parseItems(raw []byte) (items []Item, problems usage.Problems) {
	raw = bytes.TrimSpace(raw)
	var value json.RawMessage
	if err := json.Unmarshal(raw, &value); err != nil {
		problems.Bad("%s%s", jsonTrouble(raw, err), itemsExample)
		return nil, problems
	}
	add := func(where, name string, value []byte) {
		if item, ok := parseItem(where, name, value, &problems); ok {
			items = append(items, item)
		}
	}
	switch raw[0] {
	case '[':
		i := 0
		for value := range jsonscan.Elements(raw) {
			i++
			add(fmt.Sprintf("entry %d", i), "", value)
		}
	case '{':
		for _, m := range twice(raw, &problems) {
			if m.Name == "" {
				problems.Bad("an entry without a name%s", itemsExample)
				continue
			}
			add("entry "+usage.Quote(m.Name), m.Name, m.Value)
		}
	default:
		problems.Bad("%s%s", jsonscan.Kind(raw), itemsExample)
		return nil, problems
	}
	if len(items) == 0 && len(problems) == 0 {
		problems.Bad("no entries%s", itemsExample)
	}
	if len(problems) == 0 {
		apart(items)
		unique(items, &problems)
	}
	return items, problems
}

// parseItem reads an entry, which has a name in an object of named ones. ok is false if it is no object.
func parseItem(where, name string, value []byte, problems *usage.Problems) (item Item, ok bool) {
	if value[0] != '{' {
		problems.Bad("%s: %s instead of an object of flags%s", where, jsonscan.Kind(value), itemsExample)
		return nil, false
	}
	keys := map[string]bool{}
	for quoted := range jsonscan.Members(value) {
		key := jsonscan.Text(quoted)
		problems.BadIf(keys[key], "%s, key %s: it stands there twice; remove one", where, usage.Quote(key))
		keys[key] = true
	}
	item = jsonscan.Dict(value)
	if name != "" && item.Get(nameKey) == nil {
		item = append(Item{{Name: nameKey, Value: jsonscan.Quote(name)}}, item...)
	}
	for _, m := range item {
		problems.BadIf(!goodKey(m.Name),
			"%s, key %s: expected the name of a long flag without its dashes, such as max_num_seqs",
			where, usage.Quote(m.Name))
		problems.BadIf(m.Name == nameKey && (!jsonscan.IsString(m.Value) || len(m.Value) == 2),
			"%s, key %s: expected a name as a text, got %s", where, nameKey, usage.Quote(string(m.Value)))
	}
	return item, true
}

// twice are the members of an object, with a problem for each name that stands there again.
func twice(raw []byte, problems *usage.Problems) []jsonscan.Member {
	seen := map[string]bool{}
	for quoted := range jsonscan.Members(raw) {
		name := jsonscan.Text(quoted)
		problems.BadIf(seen[name], "entry %s stands there twice; rename one", usage.Quote(name))
		seen[name] = true
	}
	return jsonscan.Dict(raw)
}

// apart names items that are alike but for their secrets.
func apart(items []Item) {
	alike := map[string][]int{}
	for i, it := range items {
		alike[it.Name()] = append(alike[it.Name()], i)
	}
	for name, places := range alike {
		for _, i := range places {
			if it := items[i]; len(places) > 1 && it.Get(nameKey) == nil && !sameItem(it, it.Safe()) {
				name := fmt.Sprintf("%s-%.3x", name, sha256.Sum256(it.JSON()))
				items[i] = append(Item{{Name: nameKey, Value: jsonscan.Quote(name)}}, it...)
			}
		}
	}
}

// unique refuses items that would share a directory.
func unique(items []Item, problems *usage.Problems) {
	first := map[string]int{}
	for i, item := range items {
		name := FileName(item.Name())
		j, seen := first[name]
		switch {
		case !seen:
			first[name] = i
		case item.Get(nameKey) != nil || items[j].Get(nameKey) != nil:
			problems.Bad("entries %d and %d are both stored as %s; give one another %s",
				j+1, i+1, usage.Quote(name), nameKey)
		default:
			problems.Bad("entries %d and %d have the same parameters, %s; remove one, or give it a %s",
				j+1, i+1, usage.Quote(item.String()), nameKey)
		}
	}
}

// goodKey reports whether a key can be the name of a long flag.
func goodKey(key string) bool {
	return key != "" && key[0] != '-' && !strings.ContainsFunc(key, func(r rune) bool {
		return r == '=' || unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

// jsonTrouble says where a text is no JSON.
func jsonTrouble(raw []byte, err error) string {
	at := len(raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset)
	}
	line := 1 + bytes.Count(raw[:min(at, len(raw))], []byte{'\n'})
	return fmt.Sprintf("line %d: invalid JSON (%v)", line, err)
}
