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
)

// part is a function or a file, and how many lines it has from the first to the last, blank ones and comments included.
type part struct {
	name  string
	lines int
}

// file is what is counted of a file.
type file struct {
	folder, name string
	test         bool
	code         int // lines that are neither blank nor comment
	length       int // all lines
	functions    []part
}

// walk counts the Go files of a tree; data of tests is left out.
func walk(tree fs.FS) (all []file, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := count(name, source)
		all = append(all, f)
		return err
	})
	return all, err
}

// count reads a file.
func count(name string, source []byte) (file, error) {
	f := file{folder: path.Dir(name), name: name, test: strings.HasSuffix(name, "_test.go"), code: codeLines(source),
		length: len(bytes.Split(bytes.TrimSuffix(source, []byte("\n")), []byte("\n")))}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return f, err
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.functions = append(f.functions, part{name + " " + fn.Name.Name, set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1})
		}
	}
	return f, nil
}

// codeLines is the number of lines with something of a token on them. Of a text in backquotes blank lines are left out, too.
func codeLines(source []byte) int {
	set := token.NewFileSet()
	in := set.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(in, source, nil, 0)
	code := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(code)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // at a line's end, which may be that of a comment
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
