// Package sweep runs many benchmarks, one after the other: combinations of server and benchmark parameters, each some
// times, in the directories and files of vLLM's sweeps. It neither speaks HTTP nor draws: servers, runs and the screen
// are its caller's.
package sweep

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
)

// nameKey is the parameter that names an item. It is no flag.
const nameKey = "_benchmark_name"

// Item is one entry of a parameter file: flags of a command with their values, in the order of the file. The zero value
// is the command as it is.
type Item []jsonscan.Member

// Get is the value of a parameter as JSON, nil if the item lacks it.
func (it Item) Get(key string) []byte {
	if i := slices.IndexFunc(it, func(m jsonscan.Member) bool { return m.Name == key }); i >= 0 {
		return it[i].Value
	}
	return nil
}

// Sets reports whether the item sets a flag, in either spelling.
func (it Item) Sets(flag string) bool {
	return slices.ContainsFunc(it, func(m jsonscan.Member) bool { return dashed(m.Name) == dashed(flag) })
}

// With is the item with another value, as JSON, at its old place or at the end.
func (it Item) With(key, value string) Item {
	changed := slices.Clone(it)
	for i, m := range changed {
		if m.Name == key {
			changed[i].Value = []byte(value)
			return changed
		}
	}
	return append(changed, jsonscan.Member{Name: key, Value: []byte(value)})
}

// Safe is the item as it may be shown and saved: without secrets.
func (it Item) Safe() Item {
	safe := slices.Clone(it)
	for i, m := range safe {
		if m.Name != nameKey {
			safe[i].Value = secret.HideValue(m.Name, m.Value)
		}
	}
	return safe
}

// Name stands for the item in the names of directories: its own name, or else all its parameters.
func (it Item) Name() string {
	if name := it.Get(nameKey); name != nil {
		return pyjson.Str(name)
	}
	return it.text("-")
}

// String lists the parameters for a person.
func (it Item) String() string { return it.text(", ") }

func (it Item) text(separator string) string {
	var pairs []string
	for _, m := range it.Safe() {
		pairs = append(pairs, m.Name+"="+pyjson.Str(m.Value))
	}
	return strings.Join(pairs, separator)
}

// JSON is the item as an object, on one line.
func (it Item) JSON() []byte {
	b := []byte{'{'}
	for i, m := range it {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(pyjson.AppendString(b, m.Name), ": "...)
		b = pyjson.Append(b, m.Value)
	}
	return append(b, '}')
}

// Repr is the item as Python shows a dict, without secrets.
func (it Item) Repr() string { return pyjson.Str(it.Safe().JSON()) }

// Apply is a command line with the parameters of the item as flags. A flag that the command has, as --flag value,
// --flag=value or a switch, gets the new value where it stands, the last one if there are several, since that counts;
// other flags follow at the end.
//
//	true, false        --flag, --no-flag; with a dot in the name --outer.inner=true, =false
//	an object          --flag and its JSON
//	any other value    --flag and its text, as Python's str writes it
//
// Dashes and underscores are the same up to the first dot.
func (it Item) Apply(command []string) []string {
	command = slices.Clone(command)
	for _, m := range it {
		if m.Name != nameKey {
			command = apply(command, m.Name, m.Value)
		}
	}
	return command
}

func apply(command []string, key string, value []byte) []string {
	at := lastFlag(command, key)
	end := len(command) // behind the flag and its value
	if at < 0 {
		at = len(command)
	} else {
		end = at + 1
		if !strings.Contains(command[at], "=") && takesNext(command, at, key, value) {
			end++
		}
	}
	return slices.Replace(command, at, end, words(key, value)...)
}

// takesNext reports whether the word behind a flag is its value, which goes with it.
func takesNext(command []string, at int, key string, value []byte) bool {
	if at+1 == len(command) || strings.HasPrefix(command[at+1], "--") {
		return false
	}
	if !isBool(value) {
		return true
	}
	return strings.Contains(key, ".") && (command[at+1] == "true" || command[at+1] == "false")
}

func isBool(value []byte) bool { return value[0] == 't' || value[0] == 'f' }

// words are a flag with its value.
func words(key string, value []byte) []string {
	flag := "--" + dashed(key)
	switch {
	case isBool(value) && strings.Contains(key, "."):
		return []string{flag + "=" + string(value)}
	case value[0] == 't':
		return []string{flag}
	case value[0] == 'f':
		return []string{"--no-" + dashed(key)}
	case value[0] == '{':
		return []string{flag, string(pyjson.Append(nil, value))}
	}
	return []string{flag, pyjson.Str(value)}
}

// lastFlag is the place of the last word that gives a flag, -1 for none.
func lastFlag(command []string, key string) int {
	for i, word := range slices.Backward(command) {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && dashed(name) == dashed(key) {
			return i
		}
	}
	return -1
}

// dashed is the name of a flag with dashes for underscores, up to the first dot.
func dashed(key string) string {
	outer, inner, dotted := strings.Cut(key, ".")
	outer = strings.ReplaceAll(outer, "_", "-")
	if dotted {
		return outer + "." + inner
	}
	return outer
}

// equal reports whether two values are the same as Python compares them: 8 and 8.0 are, 8 and "8" are not.
func equal(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
