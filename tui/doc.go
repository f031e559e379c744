// Package tui is the dashboard: it turns a metrics.Snapshot, a size and the keys pressed into a screen.
//
// It leaves out everything else: it opens no socket, reads no file and never learns how load is made. Snapshots come in
// on a channel, two wishes (drain, abort) go out through Control. Nobody ever waits for the screen.
//
//	snapshots ──> model (Bubble Tea's loop alone writes it) ──> layout: named rectangles
//	keys, size ──>   │                                              │
//	                 └─ drawing tick ──> view: plain data ──> panels draw on one canvas ──> one string
package tui
