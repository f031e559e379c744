package textfile

import "benchtop/internal/assert"

var same, complains = assert.Same, assert.Complains
