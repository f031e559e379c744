package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// converse runs serve in virtual time, and returns its report and its requests in the order of their indices.
func converse(t *testing.T, c scenario) (metrics.Report, []metrics.Request) {
	t.Helper()
	written := drive(t, &c).journal
	events := func(yield func(event.Event, error) bool) { journal.From(bytes.NewReader(written), "journal")(yield) }
	r := assert.Must(report.Of(events))(t)
	var all []metrics.Request
	for q, err := range event.Requests(events) {
		assert.Fine(t, err)
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b metrics.Request) int { return a.Index - b.Index })
	return r, all
}

// talkFile has conversations of so many turns each.
func talkFile(t *testing.T, turns ...int) string {
	t.Helper()
	var all []string
	for i, n := range turns {
		var list []string
		for k := range n {
			list = append(list,
				fmt.Sprintf(`{"role":"user","content":"This is question %d of conversation %d, which is long `+
					`enough."},{"role":"assistant","content":"recorded answer"}`, k, i))
		}
		all = append(all, `{"messages":[`+strings.Join(list, ",")+"]}")
	}
	path := filepath.Join(t.TempDir(), "talks.jsonl")
	assert.Fine(t, os.WriteFile(path, []byte(strings.Join(all, "\n")), 0o600))
	return path
}

// chats are the flags of conversations of a file.
func chats(path string, more ...string) []string {
	return append([]string{"--backend", "openai-chat", "--multi-turn", "--dataset-name", "custom", "--dataset-path",
		path, "--disable-shuffle", "--output-len", "6"}, more...)
}

// Each prompt begins with all that was said, the model's answers among it. All turns of a conversation have its name,
// their own numbers and one adapter, and come one after the other.
func TestServeConversations(t *testing.T) {
	t.Parallel()
	server, dir := recorded(t, nil), t.TempDir()
	args := append([]string{"serve", "--base-url", server.url, "--no-tui", "--gpu", "none", "--num-prompts", "3",
		"--request-id-prefix", "r", "--send-conversation-id", "--lora-modules", "one", "two",
		"--lora-assignment", "round-robin", "--save-result", "--save-detailed", "--result-dir", dir},
		chats(talkFile(t, 3, 2, 3))...)
	benchtop(args...).expect(t, session.ExitFine,
		"Conversations: 3 completed, 0 failed, 0 unfinished; 2.7 of 2.7 turns on average")
	type message struct{ Role, Content string }
	prompts, models := map[string][]message{}, map[string]any{}
	for _, call := range server.all() {
		id := call.header.Get("X-Request-Id")
		if id == "" { // whether the server knows all fields
			continue
		}
		name, _, ok := strings.Cut(id, "-turn")
		if !ok || call.header.Get("X-Session-ID") != name || call.fields["conversation_id"] != name ||
			len(call.header.Values("X-Session-ID")) != 1 {
			t.Errorf("request %q of %q, conversation %v", id, call.header.Values("X-Session-ID"),
				call.fields["conversation_id"])
		}
		if before := models[name]; before != nil && before != call.fields["model"] {
			t.Errorf("%s asks for %v and %v", name, before, call.fields["model"])
		}
		models[name] = call.fields["model"]
		var body struct{ Messages []message }
		assert.Fine(t, json.Unmarshal([]byte(call.body), &body))
		prompts[id] = body.Messages
	}
	if diff := cmp.Diff(map[string]any{"r0": "one", "r1": "two", "r2": "one"}, models); diff != "" {
		t.Error(diff)
	}
	answers := resultIn(t, dir)["generated_texts"].([]any)
	for _, id := range []string{"r0-turn0", "r0-turn1", "r1-turn0", "r2-turn0", "r2-turn1"} {
		name, number, _ := strings.Cut(id, "-turn")
		before := prompts[id]
		after := prompts[fmt.Sprintf("%s-turn%c", name, number[0]+1)]
		if len(after) != len(before)+2 || !slices.Equal(after[:len(before)], before) {
			t.Errorf("%s: %v is followed by %v", id, before, after)
			continue
		}
		if answer := after[len(before)]; answer.Role != "assistant" || answer.Content == "" ||
			!slices.Contains(answers, any(answer.Content)) {
			t.Errorf("%s: %v is no answer of the model", id, answer)
		}
	}
	assert.Equal(t, len(prompts), 8, "requests")
}

// sessionsFile are two sessions with sub-agents, whose blocks mean the same.
const sessionsFile = `{"session":"a","block_size":16,"shared":true,"requests":[{"in":200,"out":8,"blocks":[[1,12]]},` +
	`{"in":300,"out":5,"blocks":[[1,12],[50,6]],"delay_ms":700},` +
	`{"in":100,"out":9,"blocks":[[90,6]],"after":[0],"delay_ms":150,"agent":"x"},{"in":320,"out":4,"blocks":[[1,12],[50,7]],"after":[1,2]},{"in":120,"out":3,"blocks":[[90,7]],"after":[],"delay_ms":2000}]}
{"session":"b","block_size":16,"shared":true,"requests":[{"in":250,"out":6,"blocks":[[1,14]]},{"in":250,"out":7,"blocks":[[1,14],[80,1]]}]}
`

// No request of an agent starts before its delay after those that it waits for; lengths are exact, and a cache without
// bounds hits what was said to be ideal.
func TestServeAgents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	assert.Fine(t, os.WriteFile(path, []byte(sessionsFile), 0o600))
	r, all := converse(t,
		scenario{args: []string{"--dataset-name", "agents", "--dataset-path", path, "--disable-shuffle",
			"--num-prompts", "3", "--max-active-conversations", "1"},
			server: func(p *simulator.Profile) { p.Blocks, p.BlockSize = 0, 16 }})
	inputs, outputs := []int{200, 300, 100, 320, 120, 250, 250}, []int{8, 5, 9, 4, 3, 6, 7}
	after := [][]int{{}, {0}, {0}, {1, 2}, {}, {}, {5}}
	delays := []time.Duration{0, 700 * msec, 150 * msec, 0, 2 * time.Second, 0, 0}
	if len(all) != 12 || r.Completed != 12 || r.Sessions == nil || r.Sessions.Completed != 3 {
		t.Fatalf("%d requests, %d completed, %+v", len(all), r.Completed, r.Sessions)
	}
	for i, q := range all {
		place, first := i%7, i/7*7
		if q.InputTokens != inputs[place] || q.OutputTokens != outputs[place] || q.Conversation != []int{0, 0, 0, 0, 0,
			1, 1, 2, 2, 2, 2, 2}[i] || q.CachedTokens != q.IdealTokens || !q.IdealKnown {
			t.Errorf("request %d: %d tokens in, %d out, %d cached, %d ideal", i, q.InputTokens, q.OutputTokens,
				q.CachedTokens, q.IdealTokens)
		}
		from := time.Duration(0)
		if place != 0 && place != 5 {
			from = all[i-[]int{0, 1, 2, 3, 4, 0, 1}[place]].Sent // of the session
		}
		for _, k := range after[place] {
			if from = max(from, all[first+k].Done); k == after[place][0] && len(after[place]) == 1 &&
				q.Parent != all[first+k].ID {
				t.Errorf("request %d is the child of %q", i, q.Parent)
			}
		}
		if q.Sent < from+delays[place] || len(after[place]) > 0 && q.Sent > from+delays[place]+time.Millisecond {
			t.Errorf("request %d: sent at %v, %v after %v", i, q.Sent, q.Sent-from, from)
		}
	}
	if all[4].IdealTokens == 0 || all[5].IdealTokens != 192 || all[7].IdealTokens != 0 {
		t.Errorf("ideal are %d, %d and %d", all[4].IdealTokens, all[5].IdealTokens, all[7].IdealTokens)
	}
}

// A turn that fails ends its conversation; those that were not sent are counted.
func TestServeFailedTurn(t *testing.T) {
	r, all := converse(t,
		scenario{args: chats(talkFile(t, 3, 3), "--num-prompts", "2", "--max-active-conversations", "1"),
			faults: []string{"status=503,from=2,to=2"}})
	s := r.Sessions
	if len(all) != 5 || r.Failed != 1 || s == nil || s.Conversations != 2 || s.Completed != 1 || s.Failed != 1 ||
		s.NotSent != 1 {
		t.Errorf("%d requests, %d failed, %+v", len(all), r.Failed, s)
	}
}

// Leaving a run in which all conversations pause ends it at once, and leaves them unfinished; so does the end of its
// time.
func TestServeEndsInAPause(t *testing.T) {
	const left = 5 * time.Second
	for _, c := range []struct {
		name string
		args []string
		acts []act
		end  time.Duration
	}{
		{"left", []string{"--num-prompts", "2"}, []act{order(left, metrics.Command{Do: metrics.Drain})}, left},
		{"aborted", []string{"--num-prompts", "2"}, []act{order(left, metrics.Command{Do: metrics.Abort})}, left},
		{"over", []string{"--num-prompts", "2", "--duration", "7s"}, nil, 7 * time.Second},
	} {
		r, all := converse(t,
			scenario{args: chats(talkFile(t, 3, 3), append(c.args, "--multi-turn-delay-ms", "60000")...), acts: c.acts})
		if len(all) != 2 || r.Completed != 2 || r.Sessions == nil || r.Sessions.Unfinished != 2 ||
			r.Sessions.Completed+r.Sessions.Failed != 0 || r.Ended > c.end+100*msec {
			t.Errorf("%s: %d requests until %v, %+v", c.name, len(all), r.Ended, r.Sessions)
		}
	}
}

// Pauses are those of the flag, from the end of a turn on, and no turn waits behind new conversations.
func TestServePauses(t *testing.T) {
	_, all := converse(t,
		scenario{args: chats(talkFile(t, 2, 2, 2, 2, 2, 2), "--num-prompts", "6", "--multi-turn-delay-ms", "40",
			"--multi-turn-concurrency", "1")})
	assert.Need(t, len(all), 12, "requests")
	for i := 0; i < 12; i += 2 {
		assert.Equal(t, all[i+1].Scheduled-all[i].Done, 40*msec, "conversation %d pauses for", i/2)
	}
	for _, q := range all {
		for _, other := range all {
			if other.Turn == 0 && q.Turn == 1 && q.Due < other.Admitted && other.Admitted < q.Admitted {
				t.Errorf("a new conversation went before %s", q.ID)
			}
		}
	}
}

// --time-scale divides the times of recordings.
func TestServeTimeScale(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"timed_trace": `{"timestamp":0,"input_length":16,"output_length":2,"hash_ids":[1]}` + "\n" +
			`{"timestamp":3,"input_length":16,"output_length":2,"hash_ids":[2]}`,
		"trace": `{"timestamp":0,"input_length":16,"output_length":2}` + "\n" +
			`{"timestamp":3000,"input_length":16,"output_length":2}`,
		"agents": `{"block_size":1,"requests":[{"in":9,"out":2}]}` + "\n" +
			`{"start_ms":3000,"block_size":1,"requests":[{"in":9,"out":2},{"in":9,"out":2,"delay_ms":500}]}`,
	} {
		path := filepath.Join(dir, name+".jsonl")
		assert.Fine(t, os.WriteFile(path, []byte(content), 0o600))
		args := []string{"--dataset-name", name, "--dataset-path", path, "--time-scale", "2"}
		if name == "agents" {
			args = append(args, "--self-timed")
		}
		_, all := converse(t, scenario{args: args})
		if len(all) < 2 || all[1].Scheduled != 1500*msec {
			t.Errorf("%s: %d requests", name, len(all))
		} else if name == "agents" && (len(all) != 3 || all[2].Scheduled != all[1].Done+250*msec) {
			t.Errorf("%d requests of agents", len(all))
		}
	}
}

// A mixture has figures for each workload by its own objectives, and --fail-on counts them.
func TestServeMix(t *testing.T) {
	t.Parallel()
	server, dir := recorded(t, nil), t.TempDir()
	for name, content := range map[string]string{
		"chat.yaml": "dataset-name: custom\ndataset-path: " + talkFile(t, 2, 2) + "\nmulti-turn: true\noutput-len: " +
			"4\ngoodput: e2el:100000\n",
		"hard.json": `{"dataset-name": "sonnet", "output-len": 4, "goodput": ["e2el:0.000001"]}`,
	} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	out := filepath.Join(dir, "out")
	benchtop("serve", "--base-url", server.url, "--backend", "openai-chat", "--no-tui", "--gpu", "none",
		"--num-prompts", "20", "--mix", filepath.Join(dir, "chat")+"=1,"+filepath.Join(dir, "hard")+"=1",
		"--fail-on", "goodput<90%", "--save-result", "--result-dir", out, "--seed", "3").expect(t, session.ExitMissed,
		"goodput<90%")
	classes := map[string][2]float64{}
	for _, c := range resultIn(t, out)["benchtop"].(map[string]any)["classes"].([]any) {
		c := c.(map[string]any)
		good, _ := c["good"].(float64)
		classes[c["class"].(string)] = [2]float64{c["completed"].(float64), good}
	}
	chat, hard := classes["chat"], classes["hard"]
	if len(classes) != 2 || chat[0] < 4 || chat[1] != chat[0] || hard[0] < 4 || hard[1] != 0 ||
		chat[0]/2+hard[0] != 20 || int(chat[0]+hard[0]) != len(server.all()) {
		t.Errorf("got %v for %d requests", classes, len(server.all()))
	}
}
