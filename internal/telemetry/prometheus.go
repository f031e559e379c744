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
	// longestLine is far beyond a line with a counter; longer ones are passed over.
	longestLine = 64 << 10
)

var (
	errTooLong = fmt.Errorf("the page is longer than %d MB", longestPage/1_000_000)
	errWebPage = errors.New("it is a web page, not Prometheus text")
)

// eachLine hands over the lines of Prometheus text that are not empty, without blanks around them; each is valid until the
// next. Its caller parses only those that begin with a name that matters, each for itself, so that nothing else on the
// page can spoil them and a page costs no more memory than its longest line.
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

// limited is a page that ends where no page of a server is as long.
func limited(page io.Reader) *io.LimitedReader { return &io.LimitedReader{R: page, N: longestPage + 1} }

// mostCounted is more than a server ever counts, and little enough that a page of them can be summed.
const mostCounted = 1e12

// sample parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000
//
// with the value of the label asked for. Name and label are parts of the line. A value that no server counts, NaN for one, is
// none; a minus one is how some servers say that they do not know. The common library for the format brings protocol buffers
// along, which would make the program a fifth larger.
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

// sampleName cuts a line behind its name, which is nil if there is none.
func sampleName(line []byte) (name, rest []byte) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return nil, nil
	}
	return line[:end], line[end:]
}

// labels reads what stands between braces, the first of which is gone, and returns the value of one label, still escaped,
// and what follows the second.
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
