package simulator

import (
	"fmt"
	"net/http"
)

// apiError is an answer that is not the one asked for, in vLLM's words where it has them.
type apiError struct {
	status  int
	kind    string // the JSON field "type"
	param   string // the field of the request that is wrong, if it is a single one
	message string
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

func (e *apiError) body() errorBody {
	detail := errorDetail{Message: e.message, Type: e.kind, Code: e.status}
	if e.param != "" {
		detail.Param = &e.param
	}
	return errorBody{Error: detail}
}

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{
		status: http.StatusBadRequest, kind: "BadRequestError", param: param, message: fmt.Sprintf(format, args...),
	}
}

func notFound(message string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "NotFoundError", message: message}
}

// unavailable says that the engine has stopped.
func unavailable(err error) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, kind: "ServiceUnavailableError", message: err.Error()}
}

// broken is what a stream says when the engine stops under it; its status line has long been sent.
func broken(err error) *apiError {
	return &apiError{status: http.StatusInternalServerError, kind: "InternalServerError", message: err.Error()}
}
