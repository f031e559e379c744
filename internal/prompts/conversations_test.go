package prompts

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestConversationFlagsRefused(t *testing.T) {
	sessions := filepath.Join(t.TempDir(), "s.jsonl")
	fine(t, os.WriteFile(sessions, []byte(`{"block_size":1,"requests":[{"in":1,"out":0}]}`), 0o600))
	agents := "--dataset-name agents --dataset-path " + sessions
	for _, c := range []struct{ line, want string }{
		{"--multi-turn-num-turns 2", "--multi-turn-num-turns: needs --multi-turn"},
		{"--multi-turn-min-turns 2", "--multi-turn-min-turns: needs --multi-turn"},
		{"--multi-turn-max-turns 2", "--multi-turn-max-turns: needs --multi-turn"},
		{"--multi-turn-delay-ms 2", "--multi-turn-delay-ms: needs --multi-turn"},
		{"--multi-turn-delay-dist 2", "--multi-turn-delay-dist: needs --multi-turn"},
		{"--multi-turn-prefix-global-ratio 0.1", "--multi-turn-prefix-global-ratio: needs --multi-turn"},
		{"--multi-turn-prefix-conversation-ratio 0.1", "--multi-turn-prefix-conversation-ratio: needs --multi-turn"},
		{"--per-turn-input-len 5", "--per-turn-input-len: needs --multi-turn"},
		{agents + " --per-turn-input-len 5", "--per-turn-input-len: needs --multi-turn"},
		{"--replies model", "--replies: needs --multi-turn, or a data set of conversations"},
		{"--send-conversation-id", "--send-conversation-id: needs --multi-turn, or a data set of conversations"},
		{"--multi-turn --replies mine", "--replies mine: use model or recorded"},
		{"--multi-turn --session-header a:b", "--session-header: "},
		{"--echo-header x-token", "--echo-header: needs --multi-turn, or a data set of conversations"},
		{"--multi-turn --echo-header a:b", "--echo-header: "},
		{"--multi-turn --echo-header host", "--echo-header host: each request has that field already"},
		{"--multi-turn --echo-header x-session-id", "--echo-header x-session-id: it is that of --session-header"},
		{"--multi-turn --multi-turn-delay-ms -1", "--multi-turn-delay-ms -1: must be from 0 to 2147483647"},
		{"--multi-turn --multi-turn-delay-ms NaN", "--multi-turn-delay-ms NaN: must be from 0"},
		{"--multi-turn --multi-turn-delay-ms 5 --multi-turn-delay-dist 5",
			"--multi-turn-delay-ms and --multi-turn-delay-dist: choose one"},
		{"--multi-turn --multi-turn-delay-dist never", "--multi-turn-delay-dist "},
		{"--multi-turn --multi-turn-num-turns 0", "--multi-turn-num-turns 0: must be from 1"},
		{"--multi-turn " + agents, "--multi-turn with --dataset-name agents: its sessions have turns of their own"},
		{"--multi-turn --dataset-name trace --dataset-path " + sessions,
			"--multi-turn with --dataset-name trace: each of its requests has a time of its own"},
		{"--multi-turn --backend openai-chat --dataset-name random-mm",
			"--multi-turn with --dataset-name random-mm: conversations are of texts"},
		{"--multi-turn --backend openai-embeddings", "--multi-turn: backend openai-embeddings generates no text"},
		{"--multi-turn --prompt-token-ids", "--multi-turn and --prompt-token-ids: choose one"},
		{"--multi-turn --repeat-count 2", "--multi-turn and --repeat-count: choose one"},
		{"--multi-turn --multi-turn-prefix-global-ratio 0.1 --dataset-name sonnet",
			"only random has them; sonnet does not"},
		{"--multi-turn --per-turn-input-len 5 --dataset-name sonnet",
			"--per-turn-input-len: only random has it; sonnet does not"},
		{"--time-scale 2", "--time-scale: needs a recording (timed_trace, trace or agents); random is none"},
		{"--max-gap 2s", "--max-gap: needs a recording"},
		{"--sample 0.5", "--sample: needs a recording"},
		{"--turn-timing recorded", "--turn-timing: needs a recording"},
		{agents + " --sample 0", "--sample 0: must be above 0 and at most 1"},
		{agents + " --time-scale 0", "--time-scale 0: must be above 0"},
		{agents + " --turn-timing never", "turn-timing"},
		{agents + " --self-timed --no-self-timed", "--self-timed and --no-self-timed: choose one"},
		{"--self-timed", "--self-timed: needs a data set with time stamps"},
	} {
		complains(t, failure(flagsOf(t, "http://127.0.0.1:1", c.line, atOnce(4))), c.want)
	}
	for _, line := range []string{"--multi-turn", agents,
		agents + " --time-scale 2 --max-gap 1s --sample 0.5 --self-timed --turn-timing recorded --replies model " +
			"--send-conversation-id",
		"--multi-turn --backend openai-chat --multi-turn-delay-dist uniform,min=1,max=5 --replies recorded " +
			"--session-header X-Flow --send-conversation-id"} {
		if _, err := flagsOf(t, "http://127.0.0.1:1", line, atOnce(4)); err != nil {
			t.Errorf("%s: got %v", line, err)
		}
	}
}

// A conversation's requests carry its id as the user wants, beside the headers and members that they have.
func TestConversationsAreNamed(t *testing.T) {
	given := datasets.Conversation{Session: "s1",
		Turns: []datasets.Turn{{Headers: [][2]string{{"A", "b"}}, Overrides: json.RawMessage(`{"n":1}`)}, {}}}
	for _, c := range []struct {
		o       conversationOptions
		session string
		headers [][2]string
		body    string
	}{
		{conversationOptions{header: "X-Session-ID"}, "s1", [][2]string{{"A", "b"}, {"X-Session-ID", "s1"}}, `{"n":1}`},
		{conversationOptions{bodyID: true}, "s1", [][2]string{{"A", "b"}}, `{"n":1, "conversation_id": "s1"}`},
		{conversationOptions{header: "X", bodyID: true}, "", [][2]string{{"A", "b"}}, `{"n":1}`},
	} {
		named := given
		named.Session = c.session
		c.o.name(&named)
		if diff := cmp.Diff(c.headers, named.Turns[0].Headers); diff != "" ||
			string(named.Turns[0].Overrides) != c.body {
			t.Errorf("%+v: %s %s", c.o, named.Turns[0].Overrides, diff)
		}
	}
	if len(given.Turns[0].Headers) != 1 || given.Turns[1].Headers != nil {
		t.Errorf("the data set was changed: %+v", given)
	}
}

// --max-model-len ends conversations before the turn that is too long, or leaves them out; what is left is counted.
func TestConversationsAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	request := func(n string) string { return `{"in":` + n + `,"out":10}` }
	session := func(all ...string) string { return `{"block_size":1,"requests":[` + strings.Join(all, ",") + "]}\n" }
	content := session(request("50"), request("60"), request("200"), request("5")) + session(request("50"),
		request("200")) + session(request("90")) + session(request("91"))
	fine(t, os.WriteFile(path, []byte(content), 0o600))
	d := must(drawnOf(t, simulated(t),
		"--dataset-name agents --disable-shuffle --max-model-len 100 --dataset-path "+path, atOnce(4)))(t)
	var lengths [][]int
	for {
		c, err := d.Next()
		if err == io.EOF {
			break
		}
		own := metrics.Each(c.Turns, func(turn datasets.Turn) int { return turn.InputTokens })
		lengths = append(lengths, own)
	}
	if diff := cmp.Diff([][]int{{50, 60}, {90}}, lengths); diff != "" || d.Len != 2 || d.Turns != 3 ||
		d.Requests(2) != 3 {
		t.Errorf("%d conversations of %d turns: %s", d.Len, d.Turns, diff)
	}
	want := "--max-model-len 100: 2 of 4 requests are left out, whose prompt and answer together are longer; 1 of 2 " +
		"conversations end before a turn whose prompt and answer together are longer"
	assert.Has(t, strings.Join(d.Notes, "\n"), want)
}

// The plan of a run knows its conversations.
func TestConversationsOfThePlan(t *testing.T) {
	for _, c := range []struct {
		line string
		want *metrics.Conversations
	}{
		{"", nil},
		{"--multi-turn --multi-turn-min-turns 2 --multi-turn-max-turns 2 --multi-turn-delay-ms 250",
			&metrics.Conversations{Count: 3, Turns: 2, Delay: 250 * time.Millisecond, Replies: "model"}},
		{"--multi-turn --multi-turn-delay-dist uniform,min=1,max=5 --replies recorded",
			&metrics.Conversations{Count: 3, Turns: 3, Replies: "recorded"}},
		{"--multi-turn --multi-turn-prefix-global-ratio 0.5",
			&metrics.Conversations{Count: 3, Turns: 3, GlobalPrefix: 0.5}},
	} {
		url := simulated(t)
		line := "--backend openai-chat --dataset-name random --random-input-len 20 --random-output-len 4 " +
			"--tokenizer " + sentencePieces + " " + c.line
		d := must(drawnOf(t, url, line, atOnce(3)))(t)
		f, _ := flagsOf(t, url, line, atOnce(3))
		assert.Same(t, c.line, f.options.Conversations(d), c.want)
	}
}
