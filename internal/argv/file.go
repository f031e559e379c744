package argv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Bounds of a file of flags. mostNodes is for aliases, which a few lines can repeat without end.
const (
	mostFile  = 1 << 20
	mostNodes = 100_000
)

// ReadFile reads flags with their values from a YAML file, in its order. The key profiles holds named sets of flags: of
// these profile names the one whose values replace those of the file; "" for none. The problems are all of the file,
// each with its line; the values are those without a problem.
//
//	model: org/name            # for all profiles
//	profiles:
//	  chat:
//	    dataset-name: sharegpt
//	    goodput: [ttft:500, tpot:50]
//	  code:
//	    dataset-name: random
func ReadFile(path, profile string) ([]Value, usage.Problems) {
	top, err := readYAML(path)
	if err != nil {
		return nil, usage.Problems{err}
	}
	r := &fileReader{path: path}
	all := r.mapping(top, true)
	profiles := metrics.Each(r.profiles, func(p fileProfile) string { return p.name })
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
	return all, r.problems
}

// Profiles are the names of the profiles of a file of flags, none for another file.
func Profiles(path string) []string {
	top, err := readYAML(path)
	if err != nil {
		return nil
	}
	r := &fileReader{path: path}
	for member := range slices.Chunk(top.Content, 2) {
		if member[0].Value == profilesKey {
			r.readProfiles(member[1])
		}
	}
	return metrics.Each(r.profiles, func(p fileProfile) string { return p.name })
}

// inputs are flags that name a file to read.
var inputs = []string{"dataset-path", "json-schema-path", "ca-file", "cert-file", "key-file", "baseline"}

// beside makes a path in the value one from the working directory, if it is there beside the file.
func (v *Value) beside(file string) {
	switch name := Dashes(v.Name); {
	case name == "mix":
		for i, text := range v.Texts {
			v.Texts[i] = workloadsBeside(file, text)
		}
	case v.Listed && name != "header":
	case slices.Contains(inputs, name) && len(v.Texts) == 1:
		v.Texts[0] = pathBeside(file, v.Texts[0])
	case name == "header":
		for i, pair := range v.Texts {
			key, value, _ := strings.Cut(pair, "=")
			at := secret.Reference.FindStringSubmatch(strings.TrimSpace(value))
			if at != nil && at[2] != "" && at[2][0] != '@' {
				v.Texts[i] = key + "=" + at[1] + "@" + pathBeside(file, at[2])
			}
		}
	}
}

// WorkloadEndings are those of the file of a workload, which is named without.
var WorkloadEndings = []string{"", ".yaml", ".yml", ".json"}

// workloadsBeside are the workloads of a mixture, WORKLOAD=SHARE,…, with their files as pathBeside.
func workloadsBeside(file, text string) string {
	all := strings.Split(text, ",")
	for i, item := range all {
		given, share, _ := strings.Cut(strings.TrimSpace(item), "=")
		for _, ending := range WorkloadEndings {
			if path := pathBeside(file, given+ending); path != given+ending && !strings.ContainsAny(path, ",=") {
				all[i] = path + "=" + share
				break
			}
		}
	}
	return strings.Join(all, ",")
}

// pathBeside is a path that a file names, as seen from the folder of the file if it is there.
func pathBeside(file, path string) string {
	joined := filepath.Join(filepath.Dir(file), path)
	if _, err := os.Stat(joined); err != nil || filepath.IsAbs(path) {
		return path
	}
	return joined
}

// readYAML reads the mapping that a file holds.
func readYAML(path string) (*yaml.Node, error) {
	data, err := readLimited(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	switch err := documents.Decode(&node); {
	case err != nil && err != io.EOF:
		return nil, syntaxError(path, data, err)
	case err == io.EOF || node.Content[0].Kind != yaml.MappingNode:
		return nil, fmt.Errorf("%s: expected flags with their values, such as 'dataset-name: random'", path)
	}
	if documents.Decode(new(yaml.Node)) != io.EOF {
		return nil, fmt.Errorf("%s: more than one document; a file has its profiles under their names", path)
	}
	return node.Content[0], nil
}

// readLimited reads a file of a bounded size. A pipe that the shell made, as by <(COMMAND), has a writer; one that lies
// among files may wait for one without end.
func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	ofShell := strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
	switch device := info.Mode()&os.ModeCharDevice != 0; {
	case info.IsDir():
		return nil, errors.New("a folder; expected a file")
	case !info.Mode().IsRegular() && (device || !ofShell):
		return nil, errors.New("a pipe or a device, which may never end; expected a file, /dev/stdin or <(COMMAND)")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostFile+1))
	if err == nil && len(data) > mostFile {
		err = fmt.Errorf("more than %d KiB", mostFile>>10)
	}
	return data, withoutPath(err)
}

var syntaxPlace = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?:unknown anchor '(.*)')?`)

// syntaxError is an error of the library with its line, which it leaves out for the first line and for anchors.
func syntaxError(path string, data []byte, err error) error {
	found := syntaxPlace.FindStringSubmatch(err.Error())
	if found == nil {
		return fmt.Errorf("%s: not YAML: %w", path, err)
	}
	line, _ := strconv.Atoi(found[1])
	words := strings.TrimPrefix(err.Error(), found[0])
	if found[2] != "" {
		before, _, _ := bytes.Cut(data, []byte("*"+found[2]))
		line = 1 + bytes.Count(before, []byte("\n"))
		words = "an alias of nothing; quote a text that begins with *"
	}
	return PlaceError{Place{path, max(line, 1)}, fmt.Errorf("not YAML: %s", words)}
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

// at is a problem at the line of a node.
func (r *fileReader) at(node *yaml.Node, format string, a ...any) error {
	return PlaceError{Place{r.path, node.Line}, fmt.Errorf(format, a...)}
}

// bad notes a problem at the line of a node.
func (r *fileReader) bad(node *yaml.Node, format string, a ...any) {
	r.problems = append(r.problems, r.at(node, format, a...))
}

// key is the name of a member. The error is about one that is none, or that is there already.
func (r *fileReader) key(node *yaml.Node, lines map[string]int, like func(string) string) (string, error) {
	where := node
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	name := node.Value
	first, twice := lines[like(name)]
	switch {
	case node.Kind != yaml.ScalarNode:
		return "", r.at(where, "expected a name, not a list or a mapping")
	case node.ShortTag() == "!!merge":
		return "", r.at(where, "<<: nothing is merged; write the members out; flags outside profiles count for all")
	case twice:
		return "", r.at(where, "%s is there already, in line %d; keep one", usage.Quote(name), first)
	}
	lines[like(name)] = where.Line
	return name, nil
}

// mapping reads flags, and at the top of a file its profiles.
func (r *fileReader) mapping(m *yaml.Node, top bool) (all []Value) {
	lines := map[string]int{}
	for member := range slices.Chunk(m.Content, 2) {
		name, err := r.key(member[0], lines, Dashes)
		switch {
		case err != nil:
			r.problems = append(r.problems, err)
		case top && name == profilesKey:
			r.readProfiles(member[1])
		default:
			v := Value{Name: name, Where: Place{r.path, member[0].Line}}
			r.value(&v, member[1])
			all = append(all, v)
		}
	}
	return all
}

// profilesKey holds the profiles of a file.
const profilesKey = "profiles"

// readProfiles notes the profiles of a file; only the chosen one is read.
func (r *fileReader) readProfiles(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.bad(node, "profiles: expected names with their flags")
		return
	}
	lines := map[string]int{}
	for member := range slices.Chunk(node.Content, 2) {
		name, err := r.key(member[0], lines, strings.Clone)
		flags := member[1]
		if flags.Kind == yaml.AliasNode {
			flags = flags.Alias
		}
		switch {
		case err != nil:
			r.problems = append(r.problems, err)
		case flags.Kind != yaml.MappingNode:
			r.bad(member[0], "profile %s: expected flags with their values", usage.Quote(name))
		default:
			r.profiles = append(r.profiles, fileProfile{name, flags})
		}
	}
}

// value reads the node of a flag. That of a member of JSON, such as extra-body.top_k, is JSON too, but for a list that
// is added to.
func (r *fileReader) value(v *Value, node *yaml.Node) {
	node, err := r.resolved(node, 0)
	switch {
	case err != nil:
		v.wrong = err
	case node.Kind == yaml.MappingNode, strings.Contains(v.Name, ".") && !strings.HasSuffix(v.Name, "+"):
		object, err := r.json(node, 0)
		if err == nil {
			v.Object = string(object)
		} else {
			v.Object, v.wrong = "?", placed(err, v.Name)
		}
		v.Texts = pairs(node)
	case node.Kind == yaml.SequenceNode:
		v.Listed = true
		for _, item := range node.Content {
			if item, err = r.resolved(item, 0); err == nil && item.Kind != yaml.ScalarNode {
				err = r.at(item, "expected a single value")
			}
			if err != nil {
				v.wrong = placed(err, v.Name)
				return
			}
			v.Texts = append(v.Texts, item.Value)
		}
	case node.Tag != "!!null":
		v.Texts = []string{node.Value}
	}
}

// placed is a problem of a value with the name of its flag behind the place.
func placed(err error, name string) error {
	at, _ := errors.AsType[PlaceError](err)
	return PlaceError{at.At, fmt.Errorf("%s: %w", usage.Quote(name), at.Err)}
}

// pairs are the members of a mapping of single values as KEY=VALUE, as they are written; nil for another node.
func pairs(node *yaml.Node) (all []string) {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	seen := map[string]bool{}
	for member := range slices.Chunk(node.Content, 2) {
		value := member[1]
		for value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		key := member[0].Value
		if member[0].Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || value.Tag == "!!null" || seen[key] {
			return nil
		}
		seen[key] = true
		all = append(all, key+"="+value.Value)
	}
	return all
}

// resolved is a node, or the one that it is an alias of.
func (r *fileReader) resolved(node *yaml.Node, depth int) (*yaml.Node, error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if r.nodes++; r.nodes > mostNodes || depth > deepest {
		return nil, r.at(node, "too large, or an alias of itself")
	}
	return node, nil
}

// json is a node as JSON, with the members in their order and numbers as they are written.
func (r *fileReader) json(node *yaml.Node, depth int) ([]byte, error) {
	node, err := r.resolved(node, depth)
	if err != nil {
		return nil, err
	}
	var out []byte
	switch node.Kind {
	case yaml.MappingNode:
		lines := map[string]int{}
		for member := range slices.Chunk(node.Content, 2) {
			name, err := r.key(member[0], lines, strings.Clone)
			if err != nil {
				return nil, err
			}
			value, err := r.json(member[1], depth+1)
			if err != nil {
				return nil, err
			}
			out = append(append(pyjson.AppendString(append(out, ", "...), name), ": "...), value...)
		}
		return slices.Concat([]byte("{"), bytes.TrimPrefix(out, []byte(", ")), []byte("}")), nil
	case yaml.SequenceNode:
		for _, item := range node.Content {
			value, err := r.json(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(append(out, ", "...), value...)
		}
		return slices.Concat([]byte("["), bytes.TrimPrefix(out, []byte(", ")), []byte("]")), nil
	}
	return r.scalar(node)
}

// scalar is a single value as JSON. Errors do not quote it, since it may be a secret.
func (r *fileReader) scalar(node *yaml.Node) ([]byte, error) {
	switch node.ShortTag() {
	case "!!str":
		return pyjson.AppendString(nil, node.Value), nil
	case "!!null":
		return []byte("null"), nil
	case "!!bool":
		if text := strings.ToLower(node.Value); text == "true" || text == "false" {
			return []byte(text), nil
		}
	case "!!int", "!!float":
		if json.Valid([]byte(node.Value)) && strings.ContainsAny(node.Value[:1], "-0123456789") {
			return []byte(node.Value), nil
		}
		return nil, r.at(node, "a number that JSON does not have; write it as 10, 0.5 or 1e3, or in quotes for a text")
	case "!!timestamp":
		return nil, r.at(node, "a date, which JSON does not have; write it in quotes for a text")
	}
	return nil, r.at(node, "a value with the tag %s, which JSON does not have; write it in quotes for a text",
		usage.Quote(node.ShortTag()))
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
			list.Content = append(list.Content, nodeOf(s.Flag, text))
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

// nodeOf is a value as ReadFile reads it. That of a member of JSON is JSON, or else a text.
func nodeOf(flag, value string) *yaml.Node {
	var written yaml.Node
	member := strings.Contains(flag, ".") && !strings.HasSuffix(flag, "+")
	if member && json.Valid([]byte(value)) && yaml.Unmarshal([]byte(value), &written) == nil {
		return written.Content[0]
	}
	item := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if member {
		item.Tag = "!!str"
	}
	if strings.ContainsAny(value, "\n\r") || value == "" {
		item.Style = yaml.DoubleQuotedStyle
	}
	return item
}
