package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// function is a function and the number of its lines, blank ones and comments included.
type function struct {
	name  string
	lines int
}

// folder has the number of its files without tests, and the lines of code of these and of its tests.
type folder struct{ files, code, tests int }

// tree has the counts of folders, functions, and the places of lines that are too wide. Tests and the packages that
// serve them, such as eventtest, have no functions here.
type tree struct {
	folders   map[string]folder
	functions []function
	wide      []string
}

// walk counts the Go files of a tree without test data.
func walk(in fs.FS) (*tree, error) {
	t := &tree{folders: map[string]folder{}}
	return t, fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." &&
			(base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(in, name)
		if err != nil {
			return err
		}
		return t.add(name, source)
	})
}

// add counts a file.
func (t *tree) add(name string, source []byte) error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := t.folders[path.Dir(name)]
	defer func() { t.folders[path.Dir(name)] = f }()
	for _, line := range slices.Sorted(maps.Keys(wideLines(source))) {
		t.wide = append(t.wide, fmt.Sprintf("%s:%d", name, line))
	}
	if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(name), "test") {
		f.tests += codeLines(source)
		return nil
	}
	f.files++
	f.code += codeLines(source)
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			t.functions = append(t.functions, function{
				name + " " + fn.Name.Name, set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1,
			})
		}
	}
	return nil
}

// wideLines are the numbers of the lines over the limit. Those of a raw string over several lines, such as a page of
// help, are as wide as their text.
func wideLines(source []byte) map[int]bool {
	wide, number := map[int]bool{}, 0
	for line := range bytes.Lines(source) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if utf8.RuneCount(line)+(tabColumns-1)*bytes.Count(line, []byte("\t")) > mostColumns {
			wide[number] = true
		}
	}
	for line, text := range tokens(source) {
		if strings.HasPrefix(text, "`") {
			for i := range strings.Count(text, "\n") {
				delete(wide, line+i)
				delete(wide, line+i+1)
			}
		}
	}
	return wide
}

// tokens are the lines in which tokens begin, with the text of those that are strings and "x" for others. Semicolons at
// the end of a line do not count, since they may be in a comment.
func tokens(source []byte) iter.Seq2[int, string] {
	return func(yield func(line int, text string) bool) {
		set := token.NewFileSet()
		in := set.AddFile("", -1, len(source))
		var s scanner.Scanner
		s.Init(in, source, nil, 0)
		for {
			pos, tok, text := s.Scan()
			switch {
			case tok == token.EOF:
				return
			case tok == token.SEMICOLON && text == "\n":
				continue
			case tok != token.STRING:
				text = "x"
			}
			if !yield(in.Line(pos), text) {
				return
			}
		}
	}
}

// codeLines is the number of lines with a part of a token. Blank lines in raw strings do not count.
func codeLines(source []byte) int {
	code := map[int]bool{}
	for line, text := range tokens(source) {
		for i, part := range strings.Split(text, "\n") {
			if strings.TrimSpace(part) != "" {
				code[line+i] = true
			}
		}
	}
	return len(code)
}
