package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const burstForm = `expected a CSV file in BurstGPT's format, whose header is "Timestamp,Model,Request tokens,Response tokens,…"`

// burstRow is the lengths of a recorded request and of its answer, in tokens.
type burstRow struct{ request, response int32 }

// maxBurstRows bounds the rows kept, and with them memory, at a hundred times what has been published.
const maxBurstRows = 1 << 25

// readBurstGPT hands over the rows that count, which are those of GPT-4 that were answered, each with its line in the
// file. It returns how many rows there are in all.
func readBurstGPT(r io.Reader, keep func(row burstRow, line int)) (total int, err error) {
	rows, err := newCSVRows(r, burstForm)
	if err != nil {
		return 0, err
	}
	model, response := rows.column("Model"), rows.column("Response tokens")
	if model < 0 || response < 0 || len(rows.header) < 4 {
		return 0, &lineError{rows.line, fmt.Errorf("%s; got %s", burstForm, headerWords(rows.header))}
	}
	for kept := 0; ; total++ {
		cells, line, err := rows.next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
		row, ok, err := readBurstRow(cells, model, response)
		if err != nil {
			return 0, &lineError{line, err}
		}
		if !ok {
			continue
		}
		if kept++; kept > maxBurstRows {
			return 0, &lineError{line, fmt.Errorf("more than %d rows; cut the file down, with head", maxBurstRows)}
		}
		keep(row, line)
	}
}

// readBurstRow reports whether the row counts. The column of that name decides whether there was an answer; lengths are
// read by place, the third and the fourth column, as vLLM has it.
func readBurstRow(cells []string, model, response int) (row burstRow, ok bool, err error) {
	cell := func(i int) string {
		if i < len(cells) {
			return cells[i]
		}
		return ""
	}
	if cell(model) != "GPT-4" {
		return row, false, nil
	}
	answered, err := tableNumber(cell(response))
	if err != nil || !(answered > 0) {
		return row, false, inColumn("Response tokens", err)
	}
	if row.request, err = tableLength(cell(2), 0); err != nil {
		return row, false, inColumn("request tokens, the third", err)
	}
	if row.response, err = tableLength(cell(3), 1); err != nil {
		return row, false, inColumn("response tokens, the fourth", err)
	}
	return row, true, nil
}

func inColumn(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("column %s: %w", name, err)
}

// tableLength reads a cell as a length in tokens. Whole numbers may be written as pandas writes them where cells of the
// column are empty: 12.0.
func tableLength(cell string, least float64) (int32, error) {
	f, err := tableNumber(cell)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(f) {
		return 0, errors.New("there is no number")
	}
	if f < least || f > maxLen || f != math.Trunc(f) {
		return 0, fmt.Errorf("expected a whole number from %v to %d: got %s", least, maxLen, quoteCell(cell))
	}
	return int32(f), nil
}

// tableNumber reads a cell, NaN where it is empty or says so in one of the ways that pandas knows.
func tableNumber(cell string) (float64, error) {
	text := strings.TrimSpace(cell)
	if slices.Contains([]string{"", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NULL", "null", "None", "NaN", "nan", "-NaN", "-nan"}, text) {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("expected a number: got %s", quoteCell(cell))
	}
	return f, nil
}

// quoteCell quotes a cell, or the beginning of a long one.
func quoteCell(cell string) string {
	const limit = 60
	if runes := []rune(cell[:min(len(cell), 4*limit)]); len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + " …"
	}
	return strconv.Quote(cell)
}

// headerWords lists the columns of a header, or the first of very many.
func headerWords(header []string) string {
	const limit = 12
	var quoted []string
	for _, cell := range header[:min(len(header), limit)] {
		quoted = append(quoted, quoteCell(cell))
	}
	words := strings.Join(quoted, ", ")
	if more := len(header) - limit; more > 0 {
		words += fmt.Sprintf(" and %d more columns", more)
	}
	return words
}
