package datasets

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets/agents"
	"benchtop/internal/assert"
	"benchtop/internal/hf/tokenizer"
)

// openAgents opens sessions; a nil tokenizer is none.
func openAgents(t *testing.T, content string, c Common, tok tokenizer.Tokenizer, timing string) (Flow, error) {
	t.Helper()
	c.Path = filepath.Join(t.TempDir(), "s.jsonl")
	write(t, c.Path, content)
	return agentsKind{c, timing}.open(t.Context(), toyTools{tok, new([]string)})
}

// prompted are the requests of all conversations in order, each with its prompt.
func prompted(t *testing.T, all []Conversation) (turns []Turn) {
	t.Helper()
	for _, c := range all {
		turns = append(turns, sent(t, c, "")...)
	}
	return turns
}

// Requests keep their places, delays, times and lengths.
func TestAgents(t *testing.T) {
	const content = `{"session":"a","block_size":16,"requests":[{"in":40,"out":7,"blocks":[[1,2]]},{"in":60,"out":0,` +
		`"blocks":[[1,3]],"after":[],"delay_ms":500,"at_ms":400},` +
		`{"in":80,"out":5,"blocks":[[1,3],[9,1]],"after":[0,1],"at_ms":900}]}`
	for _, timing := range []string{turnDelays, turnRecorded} {
		d := must(openAgents(t, content, Common{IDPrefix: "p-", DisableShuffle: true}, nil, timing))(t)
		all := drain(t, d)
		c := all[0]
		if len(all) != 1 || c.Session != "a" || c.ID != "p-a" || c.Timed != (timing == turnRecorded) || d.Turns != 3 {
			t.Errorf("got %+v", c)
		}
		for i, want := range []Turn{
			{InputTokens: 40, MaxTokens: 7, After: []int{}},
			{InputTokens: 60, MaxTokens: 1, After: []int{}, Delay: 500 * time.Millisecond, At: 400 * time.Millisecond,
				IdealTokens: 32},
			{InputTokens: 80, MaxTokens: 5, After: []int{0, 1}, At: 900 * time.Millisecond, IdealTokens: 48},
		} {
			got := c.Turns[i]
			got.Prompt, want.IdealKnown = Prompt{}, true
			same(t, fmt.Sprintf("request %d", i), got, want)
		}
		if n := len(prompted(t, all)[2].TokenIDs); n != 80 {
			t.Errorf("a prompt of %d tokens", n)
		}
	}
}

// checkIdeal compares the ideal hits with the longest beginnings that a prompt has in common with one before, in whole
// blocks and but for its last token.
func checkIdeal(t *testing.T, turns []Turn, block int) {
	t.Helper()
	for i, turn := range turns {
		if len(turn.TokenIDs) != turn.InputTokens {
			t.Fatalf("prompt %d has %d of %d tokens", i, len(turn.TokenIDs), turn.InputTokens)
		}
		most := 0
		for _, before := range turns[:i] {
			most = max(most, common(turn.TokenIDs, before.TokenIDs))
		}
		if want := min(most, turn.InputTokens-1) / block * block; turn.IdealTokens != want || !turn.IdealKnown {
			t.Fatalf("prompt %d: %d tokens are ideal, want %d", i, turn.IdealTokens, want)
		}
	}
}

// Blocks mean the same in sessions that say so, not in others, nor where sessions are repeated; the tokens behind the
// blocks are no other request's.
func TestAgentsShare(t *testing.T) {
	session := func(name, rest string, size int) string {
		return fmt.Sprintf(`{"session":"%s"%s,"block_size":%d,"requests":[{"in":%d,"out":1,"blocks":[[0,3]]},`+
			`{"in":%d,"out":1,"blocks":[[0,3],[7,1]]}]}`+"\n", name, rest, size, 4*size+1, 5*size+9)
	}
	for _, size := range []int{1, 16} {
		for _, c := range []struct {
			name, content string
			n             int
			want          []int // ideal blocks
		}{
			{"alone", session("a", "", size) + session("b", "", size), 2, []int{0, 3, 0, 3}},
			{"shared", session("a", `,"shared":true`, size) + session("b", `,"shared":true`, size), 2,
				[]int{0, 3, 3, 4}},
			{"repeated", session("a", `,"shared":true`, size), 2, []int{0, 3, 0, 3}},
		} {
			d := must(openAgents(t, c.content, Common{Prompts: c.n, Asked: true, DisableShuffle: true}, nil, ""))(t)
			turns := prompted(t, drain(t, d))
			checkIdeal(t, turns, size)
			var got []int
			for i, turn := range turns {
				got = append(got, turn.IdealTokens/size)
				for _, before := range turns[:i] {
					if n := common(turn.TokenIDs, before.TokenIDs); n%size > 0 || n > 4*size {
						t.Errorf("%s: blocks of %d: %d tokens in common", c.name, size, n)
					}
				}
			}
			same(t, fmt.Sprintf("%s: blocks of %d", c.name, size), got, c.want)
		}
	}
	mixed := session("a", `,"shared":true`, 16) + session("b", `,"shared":true`, 32)
	d := must(openAgents(t, mixed, Common{DisableShuffle: true}, nil, ""))(t)
	if turns := prompted(t, drain(t, d)); turns[2].IdealTokens != 0 ||
		common(turns[0].TokenIDs, turns[2].TokenIDs) > 0 {
		t.Error("blocks of several sizes mean the same")
	}
}

// Messages with tools have the form of one protocol.
func TestAgentsTools(t *testing.T) {
	const tools = `{"session":"a","block_size":4,"requests":[{"in":4,"out":1,` +
		`"messages":[{"role":"tool","content":"x"}]}]}`
	complains(t, failure(openAgents(t, tools, Common{Forms: AsText}, nil, "")), "use --backend openai-chat")
	must(openAgents(t, tools, Common{Forms: AsText | AsMessages}, nil, ""))(t)
	must(openAgents(t, strings.Replace(tools, `"tool"`, `"user"`, 1), Common{Forms: AsText}, nil, ""))(t)
}

// One seed gives the same tokens and order, another others.
func TestAgentsSeed(t *testing.T) {
	var content strings.Builder
	for i := range 20 {
		fmt.Fprintf(&content, `{"session":"%d","block_size":4,"requests":[{"in":9,"out":1,"blocks":[[1,2]]}]}`+"\n", i)
	}
	draw := func(seed int64) (names []string, tokens []int) {
		d := must(openAgents(t, content.String(), Common{Seed: seed}, nil, ""))(t)
		for _, c := range drain(t, d) {
			names = append(names, c.Session)
			tokens = append(tokens, sent(t, c, "")[0].TokenIDs...)
		}
		return names, tokens
	}
	names, tokens := draw(1)
	again, same := draw(1)
	other, different := draw(2)
	if !slices.Equal(names, again) || !slices.Equal(tokens, same) || slices.Equal(names, other) ||
		slices.Equal(tokens, different) {
		t.Errorf("got %v, %v, %v", names, again, other)
	}
}

// FuzzAgents holds the lengths and the ideal hits of any sessions to the tokens that are sent.
func FuzzAgents(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, uint8(4), true)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 9, 1, 9, 200, 17, 3, 3, 0, 0, 0}, uint8(0), false)
	f.Fuzz(func(t *testing.T, data []byte, size uint8, shared bool) {
		var content []byte
		s := &agents.Session{Shared: shared, BlockSize: 1 + int(size%32)}
		for len(data) >= 4 && len(content) < 4096 {
			q := agents.Request{Input: 1 + int(data[0]), Output: 1}
			for _, b := range data[1:3] {
				room := q.Input / s.BlockSize
				for _, run := range q.Blocks {
					room -= run.Count
				}
				q.Blocks = agents.AppendBlocks(q.Blocks, uint64(b%8), min(room, int(b/8%8)))
			}
			s.Requests = append(s.Requests, q)
			if data[3]%4 == 0 || len(data) < 8 {
				content = s.AppendJSON(content)
				s.Requests = nil
			}
			data = data[4:]
		}
		if len(content) == 0 {
			return
		}
		d := must(openAgents(t, string(content), Common{Prompts: 12, Asked: true}, nil, ""))(t)
		checkIdeal(t, prompted(t, drain(t, d)), 1+int(size%32))
	})
}

// Sessions have names that a header field can carry, each its own, also where they are repeated.
func TestSessionNames(t *testing.T) {
	const one = `,"block_size":1,"requests":[{"in":1,"out":0}]}` + "\n"
	names := []string{"a#2", "a", "a", "ä b", `q"\`, "", "", "s~2", "s", strings.Repeat("x", 300),
		strings.Repeat("x", 301), "a#12", "\u007f\n"}
	var content strings.Builder
	for _, name := range names {
		fmt.Fprintf(&content, `{"session":%q`+one, name)
	}
	d := must(openAgents(t, strings.ReplaceAll(content.String(), `\x7f`, `\u007f`),
		Common{Prompts: 3 * len(names), Asked: true, DisableShuffle: true}, nil, ""))(t)
	seen := map[string]bool{}
	for _, c := range drain(t, d) {
		header := http.Header{}
		header.Set("X-Session-ID", c.Session)
		if strings.ContainsFunc(c.Session, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) ||
			c.Session == "" || len(c.Session) > 220 || seen[c.Session] {
			t.Errorf("%q is no name, or not the only one", c.Session)
		}
		seen[c.Session] = true
	}
	if len(seen) != 3*len(names) || !seen["a#2"] || !seen["a~2"] {
		t.Errorf("got %v", seen)
	}
}

// Sessions come as often as asked for; by default once each, and without an end where a clock ends the run.
func TestAgentsCount(t *testing.T) {
	content := strings.Repeat(`{"block_size":1,"requests":[{"in":1,"out":0},{"in":1,"out":0}]}`+"\n", 3)
	for _, c := range []struct {
		common     Common
		len, turns int
	}{
		{Common{Prompts: 1000}, 3, 6}, {Common{Prompts: 2}, 2, 4}, {Common{Prompts: 0}, 3, 6},
		{Common{Prompts: 5, Asked: true}, 5, 10}, {Common{Prompts: 0, Asked: true}, 3, 6},
		{Common{Prompts: 5, Asked: true, Endless: true}, 0, 0},
	} {
		d, err := openAgents(t, content, c.common, nil, "")
		if err != nil || d.Len != c.len || d.Turns != c.turns {
			t.Errorf("%+v: %d sessions of %d requests, %v", c.common, d.Len, d.Turns, err)
			continue
		}
		if c.len > 0 {
			assert.Equal(t, len(drain(t, d)), c.len, "%+v: sessions", c.common)
		}
	}
}

// With --self-timed sessions start in the order of the record, at their times, each once.
func TestAgentsSelfTimed(t *testing.T) {
	one := func(name, start string) string {
		return `{"session":"` + name + `"` + start + `,"block_size":1,"requests":[{"in":1,"out":0}]}` + "\n"
	}
	c := Common{Prompts: 9, Asked: true, SelfTimed: true, Replay: Replay{MaxGap: 30 * time.Second, Scale: 2}}
	d := must(openAgents(t, one("b", `,"start_ms":4000`)+one("c", `,"start_ms":100000`)+one("a", `,"start_ms":2000`), c,
		nil, ""))(t)
	var got []string
	for _, c := range drain(t, d) {
		got = append(got, fmt.Sprint(c.Session, " ", c.At))
	}
	want := []string{"a 0s", "b 1s", "c 16s"}
	if diff := cmp.Diff(want, got); diff != "" ||
		!slices.Equal(d.Times(), []time.Duration{0, time.Second, 16 * time.Second}) {
		t.Errorf("%v %s", d.Times(), diff)
	}
	complains(t, failure(openAgents(t, one("a", "")+one("b", ""), c, nil, "")), "agents: ",
		"no session says when it starts (start_ms); leave out --self-timed")
	complains(t, failure(openAgents(t, one("a", ""), Common{Replay: Replay{From: time.Hour}}, nil, "")),
		"no session is in the part that was asked for")
}
