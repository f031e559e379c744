package prompts

import (
	"testing"

	"benchtop/internal/assert"
)

var complains, fine = assert.Complains, assert.Fine

func must[T any](v T, err error) func(testing.TB) T { return assert.Must(v, err) }
func failure[T any](v T, err error) error           { return assert.Failure(v, err) }
