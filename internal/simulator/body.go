package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
)

// maxBody is the longest request body that is read, in bytes. A prompt of a million token ids takes about eight
// million.
const maxBody = 64 << 20

// receivedBody is a body that was read whole before.
type receivedBody struct {
	*bytes.Reader
	all []byte
}

func (receivedBody) Close() error { return nil }

// read reads the whole body into v and checks the model. As in vLLM, unknown fields are ignored. v holds the
// defaults.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v interface{ model() string }) *apiError {
	body, problem := readBody(w, r)
	if problem != nil {
		return problem
	}
	r.Body = http.NoBody // it may be long, and the answer may take its time
	return s.unmarshal(body, v)
}

// unmarshal is read of a body.
func (s *Server) unmarshal(body []byte, v interface{ model() string }) *apiError {
	if err := json.Unmarshal(body, v); err != nil {
		return unreadable(err)
	}
	return s.checkModel(v.model())
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	if body, ok := r.Body.(receivedBody); ok {
		return body.all, nil
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength, mostAhead)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return body.Bytes(), &apiError{status: http.StatusRequestEntityTooLarge, message: err.Error(), framework: true}
	case err != nil:
		return body.Bytes(), unreadable(err)
	}
	return body.Bytes(), nil
}

// mostAhead bounds the memory that is given to a body before it has come.
const mostAhead = 16 << 20
