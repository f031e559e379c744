package telemetry

import (
	"bytes"
	"strconv"
)

// mostCounted is more than a server ever counts, and little enough that a page of them can be summed.
const mostCounted = 1e12

// count parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000
//
// A value that is no count, NaN for one, makes it none; a fraction is cut off. The position is the label of that name.
func count(line []byte) (name string, value int, position string, ok bool) {
	named, v, at, ok := sample(line, "position")
	if !ok || !(v >= 0 && v <= mostCounted) {
		return "", 0, "", false
	}
	return string(named), int(v), string(at), true
}

// sample parses one line of Prometheus text, with the value of the label asked for. Name and label are parts of the line. Any
// number is a value, NaN too. The common library for the format brings protocol buffers along, which would make the program
// a fifth larger.
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
	return name, value, labelled, err == nil
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
