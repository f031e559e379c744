package argv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Bounds of a file of flags. mostNodes is for aliases, which a few lines can repeat without end.
const (
	mostFile  = 1 << 20
	mostNodes = 100_000
)

// ReadFile reads flags with their values from a YAML file, in its order. The key profiles holds named sets of flags: of
// these profile names the one whose values replace those of the file; "" for none. The error has every problem of the
// file, each with its line; the values are those without a problem.
//
//	model: org/name            # for all profiles
//	profiles:
//	  chat:
//	    dataset-name: sharegpt
//	    goodput: [ttft:500, tpot:50]
//	  code:
//	    dataset-name: random
func ReadFile(path, profile string) ([]Value, error) {
	top, err := readYAML(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &fileReader{path: path}
	all := r.mapping(top, true)
	var profiles []string
	for _, p := range r.profiles {
		profiles = append(profiles, p.name)
	}
	list := strings.Join(profiles, ", ")
	chosen := slices.Index(profiles, profile)
	switch {
	case profile == "" && len(profiles) > 0:
		r.problems.Bad("%s: choose a profile, as %s#%s; it has %s", path, path, profiles[0], list)
	case profile != "" && len(profiles) == 0:
		r.problems.Bad("%s has no profiles, so no %s", path, usage.Quote(profile))
	case profile != "" && chosen < 0:
		r.problems.Bad("%s has no profile %s%s; it has %s", path, usage.Quote(profile),
			usage.DidYouMean(profile, profiles), list)
	case chosen >= 0:
		own := r.mapping(r.profiles[chosen].node, false)
		for _, v := range own {
			all = slices.DeleteFunc(all, func(w Value) bool { return Dashes(w.Name) == Dashes(v.Name) })
		}
		all = append(all, own...)
	}
	for i := range all {
		all[i].beside(path)
	}
	return all, errors.Join(r.problems...)
}

// beside makes the path of a data set one from the working directory, if it is there beside the file.
func (v *Value) beside(file string) {
	if Dashes(v.Name) != "dataset-path" || len(v.Texts) != 1 || filepath.IsAbs(v.Texts[0]) {
		return
	}
	path := filepath.Join(filepath.Dir(file), v.Texts[0])
	if _, err := os.Stat(path); err == nil {
		v.Texts = []string{path}
	}
}

// readYAML reads the mapping that a file holds.
func readYAML(path string) (*yaml.Node, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostFile+1))
	if err == nil && len(data) > mostFile {
		err = fmt.Errorf("more than %d KiB", mostFile>>10)
	}
	if err != nil {
		return nil, withoutPath(err)
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	switch err := documents.Decode(&node); {
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("not YAML: %w", err)
	case err == io.EOF || node.Content[0].Kind != yaml.MappingNode:
		return nil, errors.New("expected flags with their values, such as 'dataset-name: random'")
	}
	if documents.Decode(new(yaml.Node)) != io.EOF {
		return nil, errors.New("more than one document; a file has its profiles under their names")
	}
	return node.Content[0], nil
}

// withoutPath is an error of a file whose path is said by others.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// fileReader makes values from the nodes of a file.
type fileReader struct {
	path     string
	profiles []fileProfile
	nodes    int // so far
	problems usage.Problems
}

type fileProfile struct {
	name string
	node *yaml.Node
}

// mapping reads flags, and at the top of a file its profiles.
func (r *fileReader) mapping(m *yaml.Node, top bool) (all []Value) {
	lines := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, node := m.Content[i], m.Content[i+1]
		name := Dashes(key.Value)
		where := fmt.Sprintf("%s:%d", r.path, key.Line)
		if first, twice := lines[name]; twice {
			r.problems.Bad("%s: %s is there already, in line %d; keep one", where, usage.Quote(key.Value), first)
			continue
		}
		lines[name] = key.Line
		if top && name == profilesKey {
			r.readProfiles(where, node)
			continue
		}
		v := Value{Name: key.Value, Where: where}
		if err := r.value(&v, node); err != nil {
			r.problems.Bad("%s: %s: %w", where, usage.Quote(key.Value), err)
			continue
		}
		all = append(all, v)
	}
	return all
}

// profilesKey holds the profiles of a file.
const profilesKey = "profiles"

// readProfiles notes the profiles of a file; only the chosen one is read.
func (r *fileReader) readProfiles(where string, node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, flags := node.Content[i].Value, node.Content[i+1]
		if flags.Kind == yaml.AliasNode {
			flags = flags.Alias
		}
		same := func(p fileProfile) bool { return p.name == name }
		switch {
		case flags.Kind != yaml.MappingNode:
			r.problems.Bad("%s:%d: profile %s: expected flags with their values", r.path, flags.Line, usage.Quote(name))
		case slices.ContainsFunc(r.profiles, same):
			r.problems.Bad("%s:%d: profile %s is there already; keep one", r.path, flags.Line, usage.Quote(name))
		default:
			r.profiles = append(r.profiles, fileProfile{name, flags})
		}
	}
	if node.Kind != yaml.MappingNode {
		r.problems.Bad("%s: profiles: expected names with their flags", where)
	}
}

// value reads the node of a flag.
func (r *fileReader) value(v *Value, node *yaml.Node) error {
	node, err := r.resolved(node, 0)
	if err != nil {
		return err
	}
	switch {
	case node.Kind == yaml.MappingNode:
		object, err := r.json(node, 0)
		v.Object = string(object)
		return err
	case node.Kind == yaml.SequenceNode:
		v.Listed = true
		for _, item := range node.Content {
			if item, err = r.resolved(item, 0); err != nil {
				return err
			}
			if item.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: expected a single value", item.Line)
			}
			v.Texts = append(v.Texts, item.Value)
		}
		return nil
	case node.Tag == "!!null":
		return nil
	}
	v.Texts = []string{node.Value}
	return nil
}

// resolved is a node, or the one that it is an alias of.
func (r *fileReader) resolved(node *yaml.Node, depth int) (*yaml.Node, error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if r.nodes++; r.nodes > mostNodes || depth > deepest {
		return nil, errors.New("too large, or an alias of itself")
	}
	return node, nil
}

// collection is a mapping, whose members are two nodes each, or a sequence as JSON.
func (r *fileReader) collection(node *yaml.Node, each int, open, end byte, depth int) ([]byte, error) {
	out := []byte{open}
	for member := range slices.Chunk(node.Content, each) {
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		if each == 2 {
			out = append(pyjson.AppendString(out, member[0].Value), ": "...)
		}
		value, err := r.json(member[each-1], depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, end), nil
}

// json is a node as JSON, with the members in their order.
func (r *fileReader) json(node *yaml.Node, depth int) ([]byte, error) {
	node, err := r.resolved(node, depth)
	if err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.MappingNode:
		return r.collection(node, 2, '{', '}', depth)
	case yaml.SequenceNode:
		return r.collection(node, 1, '[', ']', depth)
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, fmt.Errorf("line %d: %w", node.Line, err)
	}
	if _, isText := value.(string); isText {
		return pyjson.AppendString(nil, node.Value), nil
	}
	out, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("line %d: %s has no form in JSON; quote it", node.Line, usage.Quote(node.Value))
	}
	return out, nil
}

// WriteFile writes settings as a file that ReadFile reads.
func WriteFile(w io.Writer, settings []metrics.Setting) error {
	top := yaml.Node{Kind: yaml.MappingNode}
	for _, s := range settings {
		last := len(top.Content) - 2
		if last < 0 || top.Content[last].Value != s.Flag {
			value := yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
			top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: s.Flag}, &value)
		}
		list := top.Content[len(top.Content)-1]
		for _, text := range s.Values {
			item := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
			if strings.ContainsAny(text, "\n\r") || text == "" {
				item.Style = yaml.DoubleQuotedStyle
			}
			list.Content = append(list.Content, item)
		}
	}
	for i := 1; i < len(top.Content); i += 2 {
		if list := top.Content[i]; len(list.Content) == 1 {
			top.Content[i] = list.Content[0]
		}
	}
	if top.Content == nil {
		return nil
	}
	text, err := yaml.Marshal(&top)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
