//go:build !race

package export

const raceDetector = false
