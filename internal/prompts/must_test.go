package prompts

import "benchtop/internal/assert"

var complains, fine = assert.Complains, assert.Fine

func must[T any](v T, err error) T        { return assert.Must(v, err) }
func failure[T any](v T, err error) error { return assert.Failure(v, err) }
