package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"benchtop/datasets/agents"
	"benchtop/internal/text"
)

// Summary counts what was imported.
type Summary struct {
	Sessions, Requests, SubAgents int
	// InputTokens and OutputTokens are sums over all requests. IdealTokens are those of the input that a prefix cache
	// without limits would hold.
	InputTokens, OutputTokens, IdealTokens int64
	// MainInputTokens and MainIdealTokens are those of the sessions' own agents.
	MainInputTokens, MainIdealTokens int64
	// Estimates say in words which figures are not measured.
	Estimates []string

	skipped         map[string]int // by the reason
	inputs, outputs map[int]int    // how often there is each length
	tree            agents.RadixTree
}

// mostEdges bounds the memory of the tree of shared prompts.
const mostEdges = 1 << 22

// add counts a session.
func (s *Summary) add(session *agents.Session) {
	s.Sessions++
	tree := &agents.RadixTree{}
	if session.Shared {
		if tree = &s.tree; tree.Len() > mostEdges {
			*tree = agents.RadixTree{}
			s.estimate("the share of the prefix cache leaves out what sessions far from each other share")
		}
	}
	ideal := session.IdealIn(tree)
	names := map[string]bool{}
	for i := range session.Requests {
		q := &session.Requests[i]
		s.Requests++
		s.InputTokens += int64(q.Input)
		s.OutputTokens += int64(q.Output)
		s.IdealTokens += int64(ideal[i])
		s.inputs[q.Input]++
		s.outputs[q.Output]++
		if q.Agent != "" {
			names[q.Agent] = true
			continue
		}
		s.MainInputTokens += int64(q.Input)
		s.MainIdealTokens += int64(ideal[i])
	}
	s.SubAgents += len(names)
}

// skip counts something that was left out.
func (s *Summary) skip(reason string) { s.skipped[reason]++ }

// estimate says in words which figure is not measured.
func (s *Summary) estimate(words string) {
	if !slices.Contains(s.Estimates, words) {
		s.Estimates = append(s.Estimates, words)
	}
}

// Median are the median lengths of prompts and answers in tokens.
func (s *Summary) Median() (input, output int) { return median(s.inputs), median(s.outputs) }

// median is the lower one of a list that is given by how often there is each value.
func median(counts map[int]int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	passed := 0
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		if passed += counts[value]; 2*passed >= total {
			return value
		}
	}
	return 0
}

// Lines are the summary in words, a line for each figure.
func (s *Summary) Lines() []string {
	input, output := s.Median()
	lines := []string{
		fmt.Sprintf("%s, %s, %s", text.Count(s.Sessions, "session"), text.Count(s.Requests, "request"),
			text.Count(s.SubAgents, "sub-agent")),
		fmt.Sprintf("%d tokens in, %d out; a request has %d in and %d out in the median", s.InputTokens, s.OutputTokens,
			input, output),
	}
	share := fmt.Sprintf("a prefix cache without limits would hold %.3f of the input",
		part(s.IdealTokens, s.InputTokens))
	if s.SubAgents > 0 {
		share += fmt.Sprintf(", without sub-agents %.3f", part(s.MainIdealTokens, s.MainInputTokens))
	}
	lines = append(lines, share)
	for _, words := range s.Estimates {
		lines = append(lines, "estimated: "+words)
	}
	if words := s.skippedText(); words != "" {
		lines = append(lines, "skipped: "+words)
	}
	return lines
}

// skippedText lists what was left out, the most first.
func (s *Summary) skippedText() string {
	reasons := slices.SortedFunc(maps.Keys(s.skipped), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.skipped[b], s.skipped[a]), strings.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s (%d)", reason, s.skipped[reason])
	}
	return strings.Join(reasons, ", ")
}

func part(some, all int64) float64 { return float64(some) / float64(max(all, 1)) }
