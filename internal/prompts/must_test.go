package prompts

import "benchtop/internal/assert"

func must[T any](v T, err error) T { return assert.Must(v, err) }
