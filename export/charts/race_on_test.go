//go:build race

package charts

// raceDetector makes everything several times slower. Long loops that one goroutine runs by itself, in which it has nothing to
// find, take a sample under it; without it they run whole.
const raceDetector = true
