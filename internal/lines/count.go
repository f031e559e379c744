package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// function is a function and the number of its lines, blank ones and comments included.
type function struct {
	name  string
	lines int
}

// folder has the number of its files without tests, the lines of code of these and of its tests, and how many lines of these are
// too wide, comments included.
type folder struct{ files, code, tests, wide int }

// tree has the counts of folders and functions; tests and the packages that serve them, such as eventtest, count in folders only.
type tree struct {
	folders   map[string]folder
	functions []function
}

// walk counts the Go files of a tree without test data.
func walk(in fs.FS) (*tree, error) {
	t := &tree{folders: map[string]folder{}}
	return t, fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
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
	wide := wideLines(source)
	if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(name), "test") {
		f.tests += codeLines(source, wide)
		return nil
	}
	f.files++
	f.wide += len(wide)
	f.code += codeLines(source, wide)
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			t.functions = append(t.functions, function{
				name + " " + fn.Name.Name, set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1,
			})
		}
	}
	return nil
}

// wideLines are the numbers of the lines over the limit.
func wideLines(source []byte) map[int]bool {
	wide, number := map[int]bool{}, 0
	for line := range bytes.Lines(source) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if utf8.RuneCount(line)+(tabColumns-1)*bytes.Count(line, []byte("\t")) > mostColumns {
			wide[number] = true
		}
	}
	return wide
}

// codeLines is the number of lines with a part of a token; a wide one counts as two. Blank lines in raw strings do not count.
func codeLines(source []byte, wide map[int]bool) (lines int) {
	set := token.NewFileSet()
	in := set.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(in, source, nil, 0)
	code := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			for line := range code {
				lines++
				if wide[line] {
					lines++
				}
			}
			return lines
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // inserted at the end of a line, which may be in a comment
		}
		line := in.Line(pos)
		if tok != token.STRING {
			text = "x"
		}
		for i, part := range strings.Split(text, "\n") {
			if strings.TrimSpace(part) != "" {
				code[line+i] = true
			}
		}
	}
}
