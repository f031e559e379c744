package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"benchtop/internal/telemetry"
)

// pagePath is the page with the tables; the text around them is written by hand. Each table stands between two markers:
//
//	<!-- table: streams -->
//	<!-- end: streams -->
const pagePath = "docs/accuracy.md"

// replaced is the page with another text between the markers of a name.
func replaced(page, name, text string) (string, error) {
	begin, end := "<!-- table: "+name+" -->\n", "<!-- end: "+name+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("%s: the lines %q and %q are missing, between which the table stands", pagePath, begin, end)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// withTable is the page with a new text of a table. It is an error if the page has no place for the table.
func withTable(name, text string) (string, error) {
	b, err := os.ReadFile(pagePath)
	if err != nil {
		return "", err
	}
	return replaced(string(b), name, text)
}

// save writes a table into the page and its figures into the record.
func save(t table, m measured, here machine, text string) error {
	page, err := withTable(t.name, text)
	if err == nil {
		err = os.WriteFile(pagePath, []byte(page), 0o644)
	}
	if err == nil {
		err = saveRecord(t, m, here)
	}
	return err
}

// recordPath holds every round of every table.
const recordPath = "docs/accuracy.json"

// record has the figures of all tables, a recordTable by the name of the table. Each may have been measured on another day, and does
// not change when another one is measured.
type record struct {
	Schema int                        `json:"schema"`
	Tables map[string]json.RawMessage `json:"tables"`
}

// recordSchema changes with the format.
const recordSchema = 1

type recordTable struct {
	Machine machine     `json:"machine"`
	Rows    []recordRow `json:"rows"`
}

type recordRow struct {
	Name   string   `json:"name"`
	Rounds []sample `json:"rounds"`
}

// saveRecord replaces the rounds of a table in the file.
func saveRecord(t table, m measured, here machine) error {
	all := record{Tables: map[string]json.RawMessage{}}
	b, err := os.ReadFile(recordPath)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; remove it to begin anew", recordPath, err)
	}
	kept := recordTable{Machine: here}
	for _, r := range t.rows {
		kept.Rows = append(kept.Rows, recordRow{r.name, m[r.name]})
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	all.Schema, all.Tables[t.name] = recordSchema, text
	if b, err = json.MarshalIndent(all, "", " "); err != nil {
		return err
	}
	return os.WriteFile(recordPath, append(b, '\n'), 0o644)
}

// machine identifies the machine and version of a measurement, without names of a host, user or folder.
type machine struct {
	System string `json:"system"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
	// Commit ends in a plus sign if files have changed since.
	Commit string `json:"commit"`
	Date   string `json:"date"`
	// Pinned: server and clients ran on separate cores.
	Pinned bool `json:"pinned"`
}

func thisMachine(ctx context.Context) machine {
	m := machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cmp.Or(telemetry.CPUModel(), "unknown processor"), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Commit: commit(ctx), Date: time.Now().UTC().Format(time.DateOnly),
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + string(bytes.TrimSpace(b))
	}
	if runtime.GOOS == "linux" {
		_, err := exec.LookPath("taskset")
		m.Pinned = err == nil
	}
	return m
}

func commit(ctx context.Context) string {
	b, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	id := string(bytes.TrimSpace(b))
	// The page and the record do not count, as this program writes them.
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", ".", ":!"+pagePath, ":!"+recordPath).Output()
	if err != nil || len(bytes.TrimSpace(changed)) > 0 {
		id += "+"
	}
	return id
}

// String describes the machine and version.
func (m machine) String() string {
	pinned := "server and clients pinned to cores"
	if !m.Pinned {
		pinned = "nothing pinned to cores"
	}
	return fmt.Sprintf("commit %s, %s, %d cores of %s, %s, %s, %s", m.Commit, m.Date, m.Cores, m.CPU, m.System, m.Go, pinned)
}
