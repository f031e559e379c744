//go:build race

package loadgen

// raceDetector drops what is given back to pools now and then, so that allocations cannot be counted under it.
const raceDetector = true
