package simulator

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// maxBody is the longest request body that is read, in bytes.
const maxBody = 64 << 20

// readJSON reads the whole body into v. Unknown fields are ignored, as vLLM does; what stands in v already is the default.
func readJSON(w http.ResponseWriter, r *http.Request, v any) *apiError {
	body, problem := readBody(w, r)
	if problem != nil {
		return problem
	}
	if err := json.Unmarshal(body, v); err != nil {
		return unreadable(err)
	}
	return nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return body, &apiError{
			status: http.StatusRequestEntityTooLarge, kind: "Request Entity Too Large", message: err.Error(),
		}
	case err != nil:
		return body, unreadable(err)
	}
	return body, nil
}

func unreadable(err error) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "Bad Request", message: err.Error()}
}

// writeJSON answers with v. A client that has gone is no error of ours.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}
