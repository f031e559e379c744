// Package steering decides what load comes next while a run is on: along a ramp, or in search of the highest load within the
// objectives. It has no clock, no goroutine and no socket: whoever steers asks it, and tells it what requests felt.
package steering
