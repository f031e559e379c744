// Package metrics is the common language of benchtop: what was observed (Request), the live view (Snapshot) and the
// verdict (Report). Everything that draws, prints or saves a number takes it from here, so that no two places can
// disagree about what a number means.
//
// It does no I/O, starts no goroutine but the publisher's and knows neither HTTP nor a screen. All times are offsets
// from the start of the run on the monotonic clock, in whole microseconds: they are rounded once, when they are taken,
// and every latency is a difference of two of them.
package metrics
