// Package metronome is a server that does no work: it answers a completions request with a stream of chunks at a fixed
// pace and keeps a log of when it wrote each of them. What a client measures of it beside that is the client's own error.
//
// The pace stands in the path before the endpoint, so that one server serves every measurement:
//
//	POST /ttft=50ms/itl=10ms/v1/completions   first chunk after 50 ms, then one every 10 ms
//	POST /v1/completions                      all chunks as fast as the client takes them
//	GET  /log                                 what was written since the last time, see FetchLog
//
// The number of chunks is max_tokens of the body. Nothing else of a request is looked at but its X-Request-Id.
package metronome
