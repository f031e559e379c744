// Package metronome is a server that does no work: it answers a completions request with a stream of chunks at a fixed
// pace and keeps a log of when it wrote each of them. What a client measures of it beside that is the client's own error.
//
// The pace stands in the path before the endpoint, so that one server serves every measurement:
//
//	POST /ttft=50ms/itl=10ms/v1/completions   first chunk after 50 ms, then one every 10 ms
//	POST /v1/completions                      all chunks as fast as the client takes them
//	POST …/v1/chat/completions                the same as chat
//	GET  …/v1/models, …/health                for a client that asks first
//	GET  /log                                 what was written since the last time, see FetchLog
//
// The number of chunks is max_completion_tokens or max_tokens of the body, 16 if there is neither. Nothing else of a
// request is looked at but its X-Request-Id.
//
// Chunk k is due at the moment the request was read whole, plus ttft, plus k times itl, so lateness never adds up and no
// chunk is left out. If the first chunk has to wait, the header goes out ahead of it, as from servers that prefill; else it
// goes with it. Each chunk is one HTTP chunk and one write; the last one carries the finish reason and brings usage and the
// end of the stream with it.
//
// On Linux one goroutine writes all paced chunks, which leaves little but the system calls. Elsewhere, and on connections
// that are no sockets, each connection keeps its own time with Go's timers.
package metronome
