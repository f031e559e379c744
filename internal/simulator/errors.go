package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// apiError is the answer to a request that fails, in vLLM's words where it has them.
type apiError struct {
	status  int
	param   string // the field of the request that is wrong, if it is a single one
	message string
	// framework: the error is of vLLM's HTTP framework, whose type is the text of the status.
	framework bool
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

func (e *apiError) body() any { return errorBody{e.detail()} }

func (e *apiError) detail() errorDetail {
	detail := errorDetail{Message: e.message, Type: statusText(e.status), Code: e.status}
	if !e.framework {
		detail.Type = strings.TrimSuffix(strings.ReplaceAll(detail.Type, " ", ""), "Error") + "Error"
	}
	if e.param != "" {
		detail.Param = &e.param
	}
	return detail
}

func statusText(status int) string { return cmp.Or(http.StatusText(status), "Unknown") }

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

func unreadable(err error) *apiError {
	return &apiError{status: http.StatusBadRequest, message: err.Error(), framework: true}
}

// unavailable is the answer of a stopped engine.
func unavailable(err error) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, message: err.Error()}
}

// broken is the event of a stream whose engine has stopped, after its status line was sent.
func broken(err error) *apiError {
	return &apiError{status: http.StatusInternalServerError, message: err.Error()}
}
