//go:build race

// Package race tells whether the race detector is on. It makes everything about ten times slower, and allocates where
// the code alone does not.
package race

// Enabled reports whether the race detector is built in.
const Enabled = true
