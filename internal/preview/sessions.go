package preview

import (
	"bytes"
	"context"
	"slices"

	"benchtop/datasets"
	"benchtop/datasets/agents"
	"benchtop/internal/text"
)

// sessions are figures of conversations of several turns. A session of a file counts if it has one turn, too.
type sessions struct {
	turns     lengths // of each
	subAgents int
	requests  int // of sub-agents
}

type sessionsJSON struct {
	Turns            *lengthsJSON `json:"turns"`
	SubAgents        int          `json:"sub_agents"`
	SubAgentRequests int          `json:"sub_agent_requests"`
}

func (s *sessions) json() *sessionsJSON {
	if s.turns.n == 0 {
		return nil
	}
	return &sessionsJSON{s.turns.json(), s.subAgents, s.requests}
}

func (s *sessions) rows(f figures) {
	if s.turns.n == 0 {
		return
	}
	f.row("conversations", "%s", text.Grouped(s.turns.n))
	f.row("turns", "%s", s.turns.describe())
	if s.subAgents > 0 {
		f.row("sub-agents", "%s with %s requests", text.Grouped(s.subAgents), text.Grouped(s.requests))
	}
}

// sessionForm is the form of files of sessions of agents.
var sessionForm = form{name: "sessions of agents", dataset: "agents", files: []string{".jsonl"}, sessions: true}

// isSession tells from the columns of a file that its rows are sessions of agents.
func isSession(names []string) bool {
	return slices.Contains(names, "requests") && slices.Contains(names, "block_size")
}

// takeSession reads a row that is a session of agents.
func (r *fileReader) takeSession(ctx context.Context, object []byte) error {
	return agents.Read(ctx, bytes.NewReader(object), func(s *agents.Session) error {
		a := r.analysis
		scope := datasets.NextName(0, uint64(s.BlockSize))
		if !s.Shared {
			scope = datasets.NextName(scope, uint64(a.sessions.turns.n)+1)
		}
		a.sessions.turns.add(len(s.Requests))
		names := map[string]bool{}
		for i := range s.Requests {
			q := &s.Requests[i]
			p := Prompt{Tokens: q.Input, Blocks: []uint64{}, BlockTokens: s.BlockSize}
			for _, run := range q.Blocks {
				for k := range run.Count {
					p.Blocks = append(p.Blocks, datasets.NextName(scope, run.First+uint64(k)))
				}
			}
			a.Add(Request{Input: q.Input, Output: q.Output, Prompts: []Prompt{p}})
			if q.Agent != "" {
				names[q.Agent] = true
				a.sessions.requests++
			}
		}
		a.sessions.subAgents += len(names)
		return nil
	})
}
