package export

import (
	"strconv"
	"strings"
)

// CSVRow guards the cells of a row of CSV, in place: one that a spreadsheet would run as a formula gets a quotation
// mark in front. Numbers and single characters stay.
func CSVRow(cells []string) []string {
	for i, c := range cells {
		if _, err := strconv.ParseFloat(c, 64); err != nil && len(c) > 1 && strings.ContainsAny(c[:1], "=+-@\t\r\n") {
			cells[i] = "'" + c
		}
	}
	return cells
}
