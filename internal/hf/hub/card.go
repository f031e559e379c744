package hub

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// subset is a part of a data set that is loaded by its name: "config" in the hub's files.
type subset struct {
	name      string
	dir       string // the folder that its files are looked for in; "" for the whole repository
	preferred bool   // it is the one to load where none is asked for
	splits    []split
}

// split is a part of a subset, such as train.
type split struct {
	name     string
	patterns []string // of its files; they may be names
	files    []string // instead of patterns
}

// cardName is the file whose front matter says which files make up which subset and split.
const cardName = "README.md"

// maxCard is the largest such file in bytes.
const maxCard = 16 << 20

// frontMatter is the YAML between two lines of dashes with which a text begins; nil where there is none.
func frontMatter(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	first := true
	begin, at := 0, 0
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimRight(line, "\r\n")
		at += len(line)
		switch dashes := string(trimmed) == "---"; {
		case first && len(bytes.TrimSpace(line)) == 0:
		case first && !dashes:
			return nil
		case first:
			first, begin = false, at
		case dashes:
			return text[begin : at-len(line)]
		}
	}
	return nil
}

// readCard reads the subsets that a README.md lists, in its order. There are none where files go by their names.
func readCard(text []byte) ([]subset, error) {
	var card struct {
		Configs []struct {
			Name    string    `yaml:"config_name"`
			Dir     string    `yaml:"data_dir"`
			Default bool      `yaml:"default"`
			Files   yaml.Node `yaml:"data_files"`
		} `yaml:"configs"`
	}
	if err := yaml.Unmarshal(frontMatter(text), &card); err != nil {
		if typed, ok := errors.AsType[*yaml.TypeError](err); ok { // which names our types
			line, _, _ := strings.Cut(typed.Errors[0], ": ")
			return nil, fmt.Errorf("invalid front matter: %s: configs must be a list of mappings with a config_name",
				line)
		}
		return nil, fmt.Errorf("invalid front matter: %s",
			strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	var subsets []subset
	for i, config := range card.Configs {
		s := subset{name: config.Name, dir: config.Dir, preferred: config.Default}
		if s.name == "" {
			return nil, fmt.Errorf("item %d of its configs has no config_name", i+1)
		}
		if slices.ContainsFunc(subsets, func(other subset) bool { return other.name == s.name }) {
			return nil, fmt.Errorf("two of its configs have the config_name %q", s.name)
		}
		var err error
		if s.splits, err = cardSplits(&config.Files); err != nil {
			return nil, fmt.Errorf("config %q: %w", s.name, err)
		}
		subsets = append(subsets, s)
	}
	return subsets, nil
}

var errDataFiles = errors.New("its data_files are neither names nor a list of {split, path}")

// cardSplits reads data_files: a pattern, a list of patterns, or patterns for each split.
func cardSplits(files *yaml.Node) ([]split, error) {
	var one, many = "", []string(nil)
	switch {
	case files.Kind == 0 || files.Tag == "!!null":
		return nil, nil
	case files.Decode(&one) == nil:
		return []split{{name: train, patterns: []string{one}}}, nil
	case files.Decode(&many) == nil && len(many) > 0:
		return []split{{name: train, patterns: many}}, nil
	}
	var list []struct {
		Split string    `yaml:"split"`
		Path  yaml.Node `yaml:"path"`
	}
	if files.Decode(&list) != nil || len(list) == 0 {
		return nil, errDataFiles
	}
	var splits []split
	for _, item := range list {
		s := split{name: item.Split}
		if item.Path.Decode(&one) == nil && item.Path.Kind != 0 {
			s.patterns = []string{one}
		} else if item.Path.Decode(&s.patterns) != nil {
			return nil, errDataFiles
		}
		if s.name == "" || len(s.patterns) == 0 {
			return nil, errDataFiles
		}
		if slices.ContainsFunc(splits, func(other split) bool { return other.name == s.name }) {
			return nil, fmt.Errorf("its data_files have the split %q twice", s.name)
		}
		splits = append(splits, s)
	}
	return splits, nil
}
