package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
)

// AppendJSON appends the session as a line, with its end. The session must be valid, and so must the JSON of its
// messages.
func (s *Session) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"session":`...)
	dst = appendText(dst, s.Name)
	dst = append(dst, `,"block_size":`...)
	dst = strconv.AppendInt(dst, int64(s.BlockSize), 10)
	if s.Shared {
		dst = append(dst, `,"shared":true`...)
	}
	dst = appendTime(dst, `,"start_ms":`, s.Start)
	dst = append(dst, `,"requests":[`...)
	for i := range s.Requests {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.Requests[i].appendJSON(dst, i)
	}
	return append(dst, "]}\n"...)
}

// appendJSON appends the request at a place.
func (q *Request) appendJSON(dst []byte, place int) []byte {
	dst = append(dst, `{"in":`...)
	dst = strconv.AppendInt(dst, int64(q.Input), 10)
	dst = append(dst, `,"out":`...)
	dst = strconv.AppendInt(dst, int64(q.Output), 10)
	if len(q.Blocks) > 0 {
		dst = append(dst, `,"blocks":[`...)
		for i, run := range q.Blocks {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '[')
			dst = strconv.AppendUint(dst, run.First, 10)
			dst = append(dst, ',')
			dst = strconv.AppendInt(dst, int64(run.Count), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, ']')
	}
	if before, _ := after(nil, place); !slices.Equal(q.After, before) {
		dst = append(dst, `,"after":[`...)
		for i, p := range q.After {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, int64(p), 10)
		}
		dst = append(dst, ']')
	}
	dst = appendTime(dst, `,"delay_ms":`, q.Delay)
	dst = appendTime(dst, `,"tools_ms":`, q.Tools)
	dst = appendTime(dst, `,"at_ms":`, q.At)
	if q.Agent != "" {
		dst = appendText(append(dst, `,"agent":`...), q.Agent)
	}
	if q.Messages != nil {
		dst = append(dst, `,"messages":`...)
		dst = appendLine(dst, q.Messages)
	}
	return append(dst, '}')
}

// appendTime appends a key and its time, which is left out if it is 0.
func appendTime(dst []byte, key string, d time.Duration) []byte {
	if d == 0 {
		return dst
	}
	return appendMilliseconds(append(dst, key...), d)
}

// appendText appends a string. Half of a character becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	return jsonscan.AppendQuoted(dst, []byte(strings.ToValidUTF8(s, "\ufffd")))
}

// appendLine appends JSON without line ends.
func appendLine(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 {
		return append(dst, raw...)
	}
	line := bytes.NewBuffer(dst)
	if json.Compact(line, raw) != nil {
		return append(dst, "null"...)
	}
	return line.Bytes()
}
