// Package simulator is an OpenAI-compatible server that behaves like a continuous-batching engine, so that the tool can be
// shown and tested without a GPU. Requests queue, are admitted while key-value blocks and the batch allow, share the tokens
// of each step, share the blocks of beginnings they have in common, slow each other down and preempt each other, all from one
// Profile and one seed; so a ramp saturates it where a real server's would: time to first token climbs when the queue grows, inter-token latency when the batch fills.
//
//	handler ──submit──▶ pending ──▶ waiting ──admit──▶ running ──step──▶ token channel ──▶ handler
//	                                   ▲                  │
//	                                   └────preempted─────┘
//
// It speaks what vLLM speaks (models, completions, chat, tokenize, metrics) and leaves out what it cannot mean: there is no
// model, the text is invented. It shares no wire types with our client, on purpose: one struct on both sides would let a wrong
// field name pass every test. Time is Go's timers only, so that under testing/synctest, with Pipe as the network, a step
// lasts exactly what its profile says.
//
// What goes wrong between a client and a real server can be had on demand: a Fault says what, and which requests it happens
// to, by number, so that a test knows the counts. LogTo tells what clients sent and when.
package simulator
