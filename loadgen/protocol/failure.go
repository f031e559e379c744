package protocol

import (
	"fmt"
	"strings"

	"github.com/valyala/fastjson"
)

// failure is the error of an event, a choice or a whole answer, "" for none: a member error, of the object or of its
// response, its delta, its message or Groq's own part, or an object that is an error by its type. A list has the error
// of an item.
func failure(v *fastjson.Value) string {
	for _, item := range v.GetArray() {
		if words := failure(item); words != "" {
			return words
		}
	}
	for _, path := range [][]string{{"error"}, {"response", "error"}, {"delta", "error"}, {"message", "error"},
		{"x_groq", "error"}} {
		if e := v.Get(path...); truthy(e) {
			return errorMessage(e)
		}
	}
	if string(v.GetStringBytes("type")) == "error" || string(v.GetStringBytes("object")) == "error" {
		return errorMessage(v)
	}
	return ""
}

// foreign is the error of an event without output that a web framework or a gateway wrote, "" for none. An object of
// the protocol has one of the first members; one with a status in words reports progress.
func foreign(v *fastjson.Value) string {
	for _, own := range []string{"choices", "usage", "object", "type"} {
		if v.Exists(own) {
			return ""
		}
	}
	detail, errors := v.Get("detail"), v.Get("errors")
	if truthy(detail) && v.GetStringBytes("status") == nil ||
		truthy(errors) && errors.Type() != fastjson.TypeNumber || // a number counts them
		len(v.GetStringBytes("message")) > 0 && v.GetInt("code") >= 400 { // lower codes are successes
		return errorMessage(v)
	}
	return ""
}

// end takes the finish reason of an answer, nil for none, and the server's words for it. Those of an answer that the
// server gave up are failures.
func (m *Message) end(reason, words []byte) {
	if len(reason) > 0 {
		m.Finish = reason
		m.Finished++
	}
	m.Refusal = m.Refusal || string(reason) == "refusal"
	if gaveUp(reason) {
		m.Failure = fmt.Sprintf("the server ended the answer with the reason %q", reason)
		if len(words) > 0 {
			m.Failure = Clip(m.Failure + ": " + string(words))
		}
	}
}

// gaveUp reports whether a finish reason or a status, in any case, is that of an answer that the server gave up.
func gaveUp(reason []byte) bool {
	for _, word := range []string{"error", "abort", "aborted", "insufficient_system_resource", "failed", "cancelled",
		"canceled"} {
		if strings.EqualFold(word, string(reason)) {
			return true
		}
	}
	return false
}

// errorMessage is the message of an error object, or its JSON.
func errorMessage(v *fastjson.Value) string {
	text := v.GetStringBytes("message")
	switch {
	case len(text) > 0:
	case v.Type() == fastjson.TypeString:
		text = v.GetStringBytes()
	default:
		text = v.MarshalTo(nil)
	}
	return Clip(string(text))
}
