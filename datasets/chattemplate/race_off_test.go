//go:build !race

package chattemplate

const raceDetector = false
