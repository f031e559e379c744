// Package calibration measures the client itself: it runs a load against a metronome in another process and compares what
// the client saw with what the server wrote down.
package calibration
