package imports

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"benchtop/datasets/agents"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

const (
	// mostNested bounds sub-agents of sub-agents.
	mostNested = 16
	// estimatedRate is how many tokens a second an answer has where its time was not recorded: about the median of the
	// requests that have both.
	estimatedRate = 45
)

// agentxKeys are those of a request and of a sub-agent, for one walk through both. The constants are their places.
var agentxKeys = []string{"t", "in", "out", "hash_ids", "api_time", "ttft", "think_time", "input_types", "type",
	"duration_ms", "agent_id", "subagent_type", "requests"}

const (
	timeKey = iota
	inputKey
	outputKey
	hashesKey
	apiKey
	ttftKey
	thinkKey
	inputTypesKey
	typeKey
	durationKey
	idKey
	kindKey
	requestsKey
)

// timedRequest is a request of agentx with its times, from the start of the session.
type timedRequest struct {
	agents.Request
	end     time.Duration
	timed   bool          // the end was recorded
	ttft    time.Duration // of one whose end was not
	tool    bool          // it brings results of tools
	think   time.Duration // recorded time between the end of the one before and its start, -1 for none
	after   []int         // indexes in the trace's list
	depth   int           // of the agent in the tree
	missing bool          // it has no prompt, and is left out
}

// agentTrace collects the requests of a session.
type agentTrace struct {
	m         *importer
	blockSize int
	all       []timedRequest
	nameless  int // sub-agents without an id
}

// agentx reads a session of kv-cache-tester.
func (m *importer) agentx(object []byte) error {
	fields := jsonscan.Fields(object, "id", "block_size", "hash_id_scope", "requests")
	var r reader
	s := &agents.Session{BlockSize: m.BlockSize, Name: r.name("id", fields[0])}
	if !absent(fields[1]) {
		var err error
		if s.BlockSize, err = tokens(fields[1]); err != nil || s.BlockSize < 1 || s.BlockSize > agents.MaxBlockSize {
			r.fail("block_size", fmt.Errorf("expected a whole number from 1 to %d: got %s", agents.MaxBlockSize,
				textfile.Value(fields[1])))
		}
	}
	scope := r.name("hash_id_scope", fields[2])
	if r.err != nil {
		return r.err
	}
	s.Shared = scope != "" && scope != "local"
	t := &agentTrace{m: m, blockSize: s.BlockSize}
	if _, err := t.agent(fields[3], "", 0, 0, -1); err != nil {
		return err
	}
	if s.Requests = t.requests(); len(s.Requests) == 0 {
		m.summary.skip("sessions without requests")
		return nil
	}
	return m.each(s)
}

// agentPart is the part of a session that one agent made: its last request, -1 for none, and when the agent ended.
type agentPart struct {
	last int
	end  time.Duration
}

// agent reads the requests of an agent that starts at some time, behind its parent's request, -1 for none.
func (t *agentTrace) agent(list []byte, agentName string, depth int, start time.Duration,
	parent int) (agentPart, error) {
	if len(list) == 0 || list[0] != '[' {
		return agentPart{}, inKey("requests", fmt.Errorf("expected an array: got %s", jsonscan.Kind(list)))
	}
	if depth > mostNested {
		return agentPart{}, fmt.Errorf("sub-agents stand in each other more than %d deep", mostNested)
	}
	var own []int       // indexes of the agent's requests
	var subs [][][]byte // fields of sub-agents, in the order of the file
	var places []int    // of the subs
	place := -1
	for object := range jsonscan.Elements(list) {
		place++
		if object[0] != '{' {
			return agentPart{},
				inPlace(agentName, place, fmt.Errorf("expected an object: got %s", jsonscan.Kind(object)))
		}
		fields := jsonscan.Fields(object, agentxKeys...)
		if string(fields[typeKey]) == `"subagent"` {
			subs, places = append(subs, fields), append(places, place)
			continue
		}
		if len(t.all) == agents.MaxRequests {
			return agentPart{}, fmt.Errorf("more than %d requests in a session", agents.MaxRequests)
		}
		q, err := t.request(fields, start)
		if err != nil {
			return agentPart{}, inPlace(agentName, place, err)
		}
		q.Agent, q.depth = agentName, depth
		own = append(own, len(t.all))
		t.all = append(t.all, q)
	}
	slices.SortStableFunc(own, func(a, b int) int { return cmp.Compare(t.all[a].At, t.all[b].At) })
	t.chain(own, parent)
	end := start
	for _, i := range own {
		end = max(end, t.all[i].end)
	}
	for i, sub := range subs {
		if err := t.subagent(sub, own, depth, start); err != nil {
			return agentPart{}, inPlace(agentName, places[i], err)
		}
	}
	last := -1
	if len(own) > 0 {
		last = own[len(own)-1]
	}
	return agentPart{last, end}, nil
}

// chain has the requests of an agent run one after the other, and estimates the ends that were not recorded.
func (t *agentTrace) chain(own []int, parent int) {
	for n, i := range own {
		q := &t.all[i]
		if before := parent; n > 0 || before >= 0 {
			if n > 0 {
				before = own[n-1]
			}
			q.after = append(q.after, before)
		}
		if q.timed {
			continue
		}
		took := q.ttft + time.Duration(q.Output)*time.Second/estimatedRate
		if n+1 < len(own) {
			took = min(took, t.all[own[n+1]].At-q.At)
		}
		q.end = q.At + took
	}
}

// subagent reads a sub-agent, and has it start and join where its parent's requests did.
func (t *agentTrace) subagent(fields [][]byte, parents []int, depth int, origin time.Duration) error {
	var r reader
	at := origin + r.duration("t", fields[timeKey], time.Second)
	id, kind := r.name("agent_id", fields[idKey]), r.name("subagent_type", fields[kindKey])
	if r.err != nil {
		return r.err
	}
	if id == "" {
		t.nameless++
		id = fmt.Sprintf("sub-agent %d", t.nameless)
	}
	if kind != "" {
		id = kind + "/" + id
	}
	parent := -1
	if n := t.begun(parents, at); n > 0 {
		parent = parents[n-1]
	}
	part, err := t.agent(fields[requestsKey], id, depth+1, at, parent)
	if err != nil || part.last < 0 {
		return err
	}
	end := part.end
	if !absent(fields[durationKey]) {
		took := r.duration("duration_ms", fields[durationKey], time.Millisecond)
		end = max(at+took, t.all[part.last].At)
	}
	if n := t.begun(parents, end); n < len(parents) {
		next := &t.all[parents[n]]
		next.after = append(next.after, part.last)
	}
	return r.err
}

// begun is how many of the requests of an agent began before a time.
func (t *agentTrace) begun(own []int, at time.Duration) int {
	return sort.Search(len(own), func(n int) bool { return t.all[own[n]].At >= at })
}

// request reads a request of an agent that started at some time.
func (t *agentTrace) request(fields [][]byte, start time.Duration) (q timedRequest, err error) {
	var r reader
	q.At = start + r.duration("t", fields[timeKey], time.Second)
	q.Input, q.Output = r.tokens("in", fields[inputKey]), max(1, r.tokens("out", fields[outputKey]))
	if q.missing = q.Input == 0; q.missing {
		t.m.summary.skip("requests without input tokens")
	}
	q.Blocks, err = hashIDs(fields[hashesKey], q.Input/t.blockSize)
	r.fail("hash_ids", err)
	q.think = -1
	took := time.Duration(0)
	for i, to := range []*time.Duration{&took, &q.ttft, &q.think} {
		if raw := fields[apiKey+i]; !absent(raw) {
			*to = r.duration(agentxKeys[apiKey+i], raw, time.Second)
		}
	}
	q.timed = !absent(fields[apiKey])
	q.end = q.At + took
	q.tool = bytes.Contains(fields[inputTypesKey], []byte(`"tool_result"`))
	return q, r.err
}

// hashIDs reads the numbers of blocks, as many as fit.
func hashIDs(raw []byte, most int) (runs []agents.Run, err error) {
	if absent(raw) {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, fmt.Errorf("expected an array: got %s", jsonscan.Kind(raw))
	}
	for i := 1; most > 0; most-- {
		for i < len(raw) && (raw[i] == ' ' || raw[i] == ',' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
			i++
		}
		if i >= len(raw) || raw[i] == ']' {
			break
		}
		from, n := i, uint64(0)
		for ; i < len(raw) && raw[i] >= '0' && raw[i] <= '9'; i++ {
			n = n*10 + uint64(raw[i]-'0')
		}
		if i == from || i-from > 18 || bytes.IndexByte([]byte(",] \r\n\t"), raw[i]) < 0 {
			return nil, fmt.Errorf("expected whole numbers from 0 with at most 18 digits: got %s",
				textfile.Value(raw[from:min(len(raw), from+40)]))
		}
		runs = agents.AppendBlocks(runs, n, 1)
	}
	return runs, nil
}

// inPlace says which request of which agent an error is about.
func inPlace(agentName string, place int, err error) error {
	if agentName == "" {
		return fmt.Errorf("requests[%d]: %w", place, err)
	}
	return fmt.Errorf("sub-agent %s, requests[%d]: %w", textfile.Quote(agentName), place, err)
}
