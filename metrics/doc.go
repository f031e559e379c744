// Package metrics is the common language of benchtop: requests, latencies, histograms, windows, snapshots and reports, and the folds that
// live view and report share. Code that draws, prints or saves a number takes it from here, so that each number has one meaning.
//
// It does no I/O, starts no goroutine and knows neither HTTP nor a screen. All times are offsets from the start of the run on the
// monotonic clock, in whole microseconds: they are rounded once, when they are taken, and every latency is a difference of two of
// them.
package metrics
