package telemetry

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// longestPage is far beyond the page of any server: 50 MB.
	longestPage = 50_000_000
	// longestLine is far beyond a line with a counter; longer ones are skipped.
	longestLine = 64 << 10
)

var (
	errTooLong = fmt.Errorf("the page is longer than %d MB", longestPage/1_000_000)
	errWebPage = errors.New("it is a web page, not Prometheus text")
)

// eachLine passes the lines of Prometheus text to take, trimmed and without empty ones; each is valid until the next. Its caller
// parses only lines that begin with a significant name, each on its own, so that nothing else on the page can spoil them and a page
// costs no more memory than its longest line.
func eachLine(page *io.LimitedReader, take func(line []byte)) error {
	lines := bufio.NewReaderSize(page, longestLine)
	first := true
	for {
		line, err := lines.ReadSlice('\n')
		whole := true
		for errors.Is(err, bufio.ErrBufferFull) {
			whole = false
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return err
		}
		if page.N <= 0 {
			return errTooLong
		}
		if line = bytes.TrimSpace(line); whole && len(line) > 0 {
			if first && line[0] == '<' {
				return errWebPage
			}
			first = false
			take(line)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// limited is a page with a limit on its length.
func limited(page io.Reader) *io.LimitedReader { return &io.LimitedReader{R: page, N: longestPage + 1} }

// mostCounted is beyond any counter, and small enough to sum a page of them.
const mostCounted = 1e12

// sample parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000
//
// with the value of a label. Name and label are slices of the line. It rejects values that are no count, such as NaN and the -1 of
// some servers for unknown. The common library for the format depends on protocol buffers, which would make the program a fifth
// larger.
func sample(line []byte, label string) (name []byte, value float64, labelled []byte, ok bool) {
	name, line = sampleName(line)
	if name == nil {
		return nil, 0, nil, false
	}
	if line[0] == '{' {
		if labelled, line, ok = labels(line[1:], label); !ok {
			return nil, 0, nil, false
		}
	}
	fields := bytes.Fields(line)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, 0, nil, false
	}
	value, err := strconv.ParseFloat(string(fields[0]), 64)
	if len(fields) == 2 && err == nil {
		_, err = strconv.ParseInt(string(fields[1]), 10, 64) // a time stamp
	}
	return name, value, labelled, err == nil && value >= 0 && value <= mostCounted
}

// sampleName splits a line after its name, which is nil if there is none.
func sampleName(line []byte) (name, rest []byte) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return nil, nil
	}
	return line[:end], line[end:]
}

// labels reads labels up to the closing brace and returns the value of one of them, still escaped, and the rest of the line.
func labels(text []byte, want string) (value, rest []byte, ok bool) {
	for {
		text = bytes.TrimLeft(text, " \t,")
		if len(text) > 0 && text[0] == '}' {
			return value, text[1:], true
		}
		name, after, found := bytes.Cut(text, []byte{'='})
		after = bytes.TrimLeft(after, " \t")
		if !found || len(after) == 0 || after[0] != '"' {
			return nil, nil, false
		}
		end := 1
		for ; end < len(after) && after[end] != '"'; end++ {
			if after[end] == '\\' {
				end++
			}
		}
		if end >= len(after) {
			return nil, nil, false
		}
		if string(bytes.TrimSpace(name)) == want {
			value = after[1:end]
		}
		text = after[end+1:]
	}
}
