package telemetry

import (
	"bytes"
	"strconv"
)

// mostCounted is more than a server ever counts, and little enough that a page of them can be summed.
const mostCounted = 1e12

// sample parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000
//
// A value that is no count, NaN for one, makes it none; a fraction is cut off. The position is the label of that name. The
// common library for the format brings protocol buffers along, which would make the program a fifth larger.
func sample(line []byte) (name string, value int, position string, ok bool) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return "", 0, "", false
	}
	name, line = string(line[:end]), line[end:]
	if line[0] == '{' {
		if position, line, ok = labels(line[1:]); !ok {
			return "", 0, "", false
		}
	}
	fields := bytes.Fields(line)
	if len(fields) == 0 || len(fields) > 2 {
		return "", 0, "", false
	}
	v, err := strconv.ParseFloat(string(fields[0]), 64)
	if len(fields) == 2 && err == nil {
		_, err = strconv.ParseInt(string(fields[1]), 10, 64) // a time stamp
	}
	return name, int(min(max(v, 0), mostCounted)), position, err == nil && v >= 0 && v <= mostCounted
}

// labels reads what stands between braces, the first of which is gone, and returns the position and what follows the
// second.
func labels(text []byte) (position string, rest []byte, ok bool) {
	for {
		text = bytes.TrimLeft(text, " \t,")
		if len(text) > 0 && text[0] == '}' {
			return position, text[1:], true
		}
		name, after, found := bytes.Cut(text, []byte{'='})
		after = bytes.TrimLeft(after, " \t")
		if !found || len(after) == 0 || after[0] != '"' {
			return "", nil, false
		}
		end := 1
		for ; end < len(after) && after[end] != '"'; end++ {
			if after[end] == '\\' {
				end++
			}
		}
		if end >= len(after) {
			return "", nil, false
		}
		if string(bytes.TrimSpace(name)) == "position" {
			position = string(after[1:end])
		}
		text = after[end+1:]
	}
}
