package sweep

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
)

// Manifest is how an experiment is made. It stands in the experiment's directory, so that a sweep that is resumed mixes
// no results of other commands into it. Commands are without secrets.
type Manifest struct {
	Version string `json:"benchtop_version"`
	// Kind is the subcommand.
	Kind string `json:"kind"`
	// Settings are those under which results can be compared: the commands, and all that changes a measurement.
	Settings []Setting `json:"settings"`
	// Server and Bench are the entries of the parameter files. They may change: the results say themselves which they
	// are of.
	Server []json.RawMessage `json:"serve_params"`
	Bench  []json.RawMessage `json:"bench_params"`
}

// Setting is one of an experiment's settings: the flag that gives it, and its value.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// manifestFile is the name of the manifest in the directory of an experiment.
const manifestFile = "manifest.json"

// ID stands for the settings.
func (m *Manifest) ID() string {
	settings, _ := json.Marshal(append([]Setting{{"kind", m.Kind}}, m.Settings...)) // texts can always be written
	return fmt.Sprintf("%x", sha256.Sum256(settings))[:16]
}

// Params are the entries of a parameter file as a manifest has them, without secrets.
func Params(items []Item) (list []json.RawMessage) {
	for _, it := range items {
		list = append(list, it.Safe().JSON())
	}
	return list
}

// Open checks the directory of an experiment: a new one must not exist, one that is resumed must, with the same
// settings.
func (m *Manifest) Open(dir string, resume bool) error {
	_, err := os.Stat(dir)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case !resume && err == nil:
		return usage.Errorf(
			"cannot overwrite %s: it exists; give another --experiment-name, or --resume to continue there", dir)
	case !resume:
		return nil
	case err != nil:
		return usage.Errorf("cannot resume %s: no such directory; see --output-dir and --experiment-name", dir)
	}
	raw, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, os.ErrNotExist) {
		if entries, err := os.ReadDir(dir); err == nil &&
			!slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name()[0] != '.' }) {
			return nil // killed before it was written
		}
		return usage.Errorf("cannot resume %s: no %s in it, so the commands behind its results are unknown; give "+
			"another --experiment-name", dir, manifestFile)
	}
	if err != nil {
		return err
	}
	var old Manifest
	if err := json.Unmarshal(raw, &old); err != nil {
		return fmt.Errorf("cannot resume %s: %s: %s; give another --experiment-name", dir, manifestFile,
			jsonTrouble(raw, err))
	}
	return m.same(&old, dir)
}

// same refuses settings that differ.
func (m *Manifest) same(old *Manifest, dir string) error {
	var differ []string
	if m.Kind != old.Kind {
		differ = append(differ, fmt.Sprintf("it was made by sweep %s", usage.Quote(old.Kind)))
	}
	for _, s := range m.Settings {
		if was := setting(old, s.Flag); was != s.Value {
			differ = append(differ,
				fmt.Sprintf("--%s was %s and is %s now", s.Flag, strconv.Quote(was), strconv.Quote(s.Value)))
		}
	}
	if differ == nil {
		return nil
	}
	return usage.Errorf("cannot resume %s: %s; repeat the command as it was, or give another --experiment-name", dir,
		strings.Join(differ, "; "))
}

func setting(m *Manifest, flag string) string {
	for _, s := range m.Settings {
		if s.Flag == flag {
			return s.Value
		}
	}
	return ""
}

// Write stores the manifest in the experiment's directory, which it makes.
func (m *Manifest) Write(dir string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return writeAll(filepath.Join(dir, manifestFile), append(pyjson.AppendIndented(nil, raw, 4, 0), '\n'))
}
