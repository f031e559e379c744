package main

import (
	"fmt"
	"os"
	"strings"
)

// pagePath is the page with the tables; the text around them is written by hand. Each table stands between two markers:
//
//	<!-- table: streams -->
//	<!-- end: streams -->
const pagePath = "docs/accuracy.md"

func markers(name string) (begin, end string) {
	return "<!-- table: " + name + " -->\n", "<!-- end: " + name + " -->\n"
}

// replaced is a page with another text between the markers of a name.
func replaced(page, name, text string) (string, error) {
	begin, end := markers(name)
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("%s: the lines %q and %q are missing, between which the table stands", pagePath, begin, end)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// checkPage tells before anything is measured that its table has no place.
func checkPage(chosen []table) error {
	b, err := os.ReadFile(pagePath)
	if err != nil {
		return err
	}
	for _, t := range chosen {
		if _, err := replaced(string(b), t.name, ""); err != nil {
			return err
		}
	}
	return nil
}

// file writes a table into the page and its figures into the record.
func file(t table, m measured, here machine, text string) error {
	b, err := os.ReadFile(pagePath)
	if err != nil {
		return err
	}
	page, err := replaced(string(b), t.name, text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(pagePath, []byte(page), 0o644); err != nil {
		return err
	}
	return keepRecord(t, m, here)
}
