package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// recordPath holds every round of every table.
const recordPath = "docs/accuracy.json"

// record is what the tables were made from: a recordTable by the name of the table. Each was measured on its own, maybe on
// another day, and is left as it stands when another is measured.
type record struct {
	Schema int                        `json:"schema"`
	Tables map[string]json.RawMessage `json:"tables"`
}

// recordSchema changes when a reader of the file has to.
const recordSchema = 1

type recordTable struct {
	Machine machine     `json:"machine"`
	Rows    []recordRow `json:"rows"`
}

type recordRow struct {
	Name   string   `json:"name"`
	Rounds []sample `json:"rounds"`
}

// keepRecord puts the rounds of a table into the file in place of what it had of that table.
func keepRecord(t table, m measured, here machine) error {
	all := record{}
	b, err := os.ReadFile(recordPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("%s: %w; remove it to begin anew", recordPath, err)
		}
	}
	if all.Tables == nil {
		all.Tables = map[string]json.RawMessage{}
	}
	text, err := json.Marshal(t.record(m, here))
	if err != nil {
		return err
	}
	all.Schema, all.Tables[t.name] = recordSchema, text
	if b, err = json.MarshalIndent(all, "", " "); err != nil {
		return err
	}
	return os.WriteFile(recordPath, append(b, '\n'), 0o644)
}

// record is a table with all its rounds, in the order of its rows.
func (t *table) record(m measured, here machine) recordTable {
	kept := recordTable{Machine: here}
	for _, r := range t.rows {
		kept.Rows = append(kept.Rows, recordRow{r.name, m[r.name]})
	}
	return kept
}
