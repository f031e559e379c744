//go:build race

// Package race tells tests whether the race detector is on. It makes everything several times slower: long loops that one
// goroutine runs by itself, in which it has nothing to find, take a sample under it and run whole without it. It allocates,
// too, where the code alone does not.
package race

// Enabled reports whether the race detector is built in.
const Enabled = true
