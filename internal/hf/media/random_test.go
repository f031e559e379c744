package media

import (
	"testing"

	"benchtop/internal/assert"
)

// The samples that wait take a bounded part of memory, and their buffers are used again.
func TestEncoderIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		bucket Bucket
		n      int
		spare  bool
	}{
		"many small": {Bucket{8, 8, 1, 1}, 100, true},
		"two large":  {Bucket{4096, 4096, 1, 1}, 2, false},
		"none":       {Bucket{}, 0, false},
	} {
		var e Encoder
		var last *Encoding
		for range c.n {
			last = e.Begin(c.bucket, func(samples []byte) {
				assert.Equal(t, len(samples), c.bucket.Size(), "%s: samples", name)
			})
			if len(e.work) > Window() || e.size > WindowBytes {
				t.Fatalf("%s: %d in work, of %d bytes", name, len(e.work), e.size)
			}
		}
		e.Close()
		if len(e.work) > 0 || e.size != 0 || (len(e.spare) > 0) != c.spare || len(e.spare) > Window() {
			t.Errorf("%s: %d in work, of %d bytes, %d spare", name, len(e.work), e.size, len(e.spare))
		}
		if last != nil {
			if part, err := last.Part(); err != nil || len(part) == 0 {
				t.Errorf("%s: %d bytes, %v", name, len(part), err)
			}
		}
	}
}
