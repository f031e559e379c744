package sweep

import (
	"io"
	"math"
	"strconv"
	"strings"

	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/table"
	"benchtop/metrics"
)

// writeCSV writes all records as pandas writes the table of them: an index, a column for each key in order of first
// appearance, numbers of a column as floats if one of them is or is missing, lists as Python shows them. The object
// benchtop has no column, and a text that a spreadsheet would run gets a quotation mark.
func writeCSV(path string, records []Record) error {
	columns := columnsOf(records)
	t := table.New("", "")
	for _, c := range columns {
		t.Columns = append(t.Columns, table.Column{Name: c.key})
	}
	for i, r := range records {
		t.Add(i, metrics.Each(columns, func(c *column) any { return c.cell(r.Get(c.key)) }))
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, t.CSV())
		return err
	})
}

// column is a key of the records, and the kind of its values.
type column struct {
	key string
	// numeric: all values are numbers or missing. floating: one of them is a float or missing.
	numeric, floating bool
	seen              int
}

func columnsOf(records []Record) (columns []*column) {
	byKey := map[string]*column{}
	for _, r := range records {
		for _, m := range r.Item {
			if m.Name == ownKey {
				continue
			}
			c := byKey[m.Name]
			if c == nil {
				c = &column{key: m.Name, numeric: true}
				byKey[m.Name] = c
				columns = append(columns, c)
			}
			c.take(m.Value)
		}
	}
	for _, c := range columns {
		c.floating = c.floating || c.seen < len(records)
	}
	return columns
}

func (c *column) take(value []byte) {
	c.seen++
	switch {
	case value[0] == 'n':
		c.floating = true
	case jsonscan.Kind(value) != "a number":
		c.numeric = false
	case strings.ContainsAny(string(value), ".eE"):
		c.floating = true
	}
}

func (c *column) cell(value []byte) string {
	if value == nil || value[0] == 'n' {
		return ""
	}
	if c.numeric && c.floating {
		v, _ := strconv.ParseFloat(string(value), 64) // a number too large is an infinity
		if math.IsNaN(v) {
			return ""
		}
		return pyjson.Float(v)
	}
	return pyjson.Str(value)
}
