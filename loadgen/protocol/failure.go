package protocol

import (
	"fmt"
	"strings"

	"github.com/valyala/fastjson"
)

// failure is the error of an event or a whole answer, "" for none: a member error, of the object, of its response or of Groq's own part, or
// an object that is an error by its type; alone or as the first of a list.
func failure(v *fastjson.Value) string {
	if v.Type() == fastjson.TypeArray {
		v = v.Get("0")
	}
	for _, path := range [][]string{{"error"}, {"response", "error"}, {"x_groq", "error"}} {
		if e := v.Get(path...); truthy(e) {
			return errorMessage(e)
		}
	}
	if string(v.GetStringBytes("type")) == "error" || string(v.GetStringBytes("object")) == "error" {
		return errorMessage(v)
	}
	return ""
}

// gatewayFailure is the error of an event without choices in the forms of servers before the engine, "" for none.
func gatewayFailure(v *fastjson.Value) string {
	if truthy(v.Get("detail")) || truthy(v.Get("errors")) || truthy(v.Get("message")) && v.Exists("code") {
		return errorMessage(v)
	}
	return ""
}

// end takes the finish reason of an answer, nil for none. Those of an answer that the server gave up are failures.
func (m *Message) end(reason []byte) {
	if len(reason) > 0 {
		m.Finish = reason
		m.Finished++
	}
	switch strings.ToLower(string(reason)) {
	case "refusal":
		m.Refusal = true
	case "error", "abort", "aborted", "insufficient_system_resource", "failed", "cancelled":
		m.Failure = fmt.Sprintf("the server ended the answer with the reason %q", reason)
	}
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
