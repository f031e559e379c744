package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/parquet"
)

const forms = "a Parquet, JSON Lines, JSON or CSV file"

// Open opens the file of rows at path, whose content says what it is; only CSV goes by its name. Text is read once for
// the offsets of its rows, which ctx ends. Errors leave the path out.
func Open(ctx context.Context, path string) (Table, error) {
	file, err := textfile.Open(path, forms)
	if err != nil {
		return nil, err
	}
	t, err := open(ctx, file, strings.ToLower(filepath.Ext(path)))
	if err != nil {
		_ = file.Close() // it was only read
		return nil, textfile.Cause(err)
	}
	return t, nil
}

func open(ctx context.Context, file *os.File, ext string) (Table, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file; rows are read in any order: give %s", forms)
	}
	head := make([]byte, 1<<10)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if ext == ".parquet" || bytes.HasPrefix(head, []byte(parquet.Magic)) {
		return openParquet(file, info.Size())
	}
	mark, err := textfile.CheckHead(head)
	if err != nil {
		return nil, err
	}
	t := &textTable{file: file, size: info.Size(), window: textfile.Window{File: file}}
	first := bytes.TrimLeft(head[mark:], " \t\r\n")
	switch {
	case ext == ".csv":
		return openCSV(ctx, t)
	case len(first) == 0 && info.Size() > int64(len(head)):
		return nil, errors.New("the file begins with a thousand blanks; is it a file of rows?")
	case len(first) == 0:
		return t, nil // without rows
	case first[0] == '[':
		return openJSON(ctx, t, &arrayIndex{textTable: t}, mark)
	case first[0] == '{':
		return openJSON(ctx, t, &lineIndex{textTable: t, offset: int64(mark)}, mark)
	}
	return nil, fmt.Errorf("the file begins with %q, as none of these does: %s", first[:min(len(first), 12)], forms)
}
