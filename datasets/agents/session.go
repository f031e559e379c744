// Package agents is the format of recorded agent sessions: trees of requests with their lengths, shared prefixes and
// delays, one session on a line of JSON. It knows no model and no text: prompts are rows of blocks, and equal blocks
// stand for equal tokens.
//
//	{"session":"s1","block_size":64,"start_ms":250,"requests":[
//	  {"in":200,"out":50,"blocks":[[1,3]]},
//	  {"in":300,"out":20,"blocks":[[1,4]],"delay_ms":1500},
//	  {"in":150,"out":30,"blocks":[[9,2]],"after":[0],"delay_ms":10,"agent":"search"},
//	  {"in":420,"out":10,"blocks":[[1,6]],"after":[1,2]}]}
package agents

import (
	"encoding/json"
	"time"
)

// Session is one run of an agent: its requests, in an order in which each stands behind those that it waits for.
type Session struct {
	// Name identifies the session; foreign text.
	Name string
	// BlockSize is the number of tokens in a block.
	BlockSize int
	// Shared says that block numbers mean the same in all sessions of the file with Shared, not in this one alone.
	Shared bool
	// Start is the recorded start from that of the recording; 0 where it is not known.
	Start    time.Duration
	Requests []Request
}

// Request is a request of a session.
type Request struct {
	// Input and Output are the lengths of prompt and answer in tokens. Input is at least 1.
	Input, Output int
	// Blocks are those that the prompt begins with. The tokens behind the last block are the request's own; blocks that
	// do not fit into Input are cut.
	Blocks []Run
	// After are the places of the requests whose ends this one waits for, ascending; empty for one that starts with the
	// session.
	After []int
	// Delay is the time from the last of these ends, or from the start of the session, to the start of the request: the
	// time of tools and of the user. Tools is the part of it in which tools worked, as far as it is known.
	Delay, Tools time.Duration
	// At is the recorded start from the start of the session.
	At time.Duration
	// Agent is the name of the sub-agent, "" for the session's own.
	Agent string
	// Messages is the prompt as chat messages where texts were kept, else nil.
	Messages json.RawMessage
}

// UsesTools reports whether a message of the session calls tools, or is of one.
func (s *Session) UsesTools() bool {
	for i := range s.Requests {
		var all []struct {
			Role  string          `json:"role"`
			Calls json.RawMessage `json:"tool_calls"`
		}
		_ = json.Unmarshal(s.Requests[i].Messages, &all) // messages of no known form use none
		for _, m := range all {
			if m.Role == "tool" || m.Calls != nil {
				return true
			}
		}
	}
	return false
}

// Run is a row of blocks with consecutive numbers.
type Run struct {
	First uint64
	Count int
}
