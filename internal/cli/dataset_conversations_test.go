package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The preview shows conversations with their turns, whose later prompts it makes, and writes each turn as a line.
func TestDatasetConversations(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		assert.Fine(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	sessions, talks := write("s.jsonl", sessionsFile), talkFile(t, 2, 3)
	write("chat.yaml", "dataset-name: custom\ndataset-path: "+talks+"\nmulti-turn: true\n")
	write("agents.yaml", "dataset-name: agents\ndataset-path: "+sessions+"\n")
	for _, c := range []struct {
		name, args, turns string
		lines             int
		words             []string
	}{
		{"multi-turn",
			"--backend openai-chat --tokenizer estimate --multi-turn --dataset-name custom --num-prompts 2 " +
				"--disable-shuffle --output-len 3 --dataset-path " + talks, "2", 5,
			[]string{"sent as              chat messages", "r0-turn1, ", "answer answer answer"}},
		{"recorded", "--backend openai-chat --tokenizer estimate --multi-turn --replies recorded --dataset-name " +
			"custom --num-prompts 2 --disable-shuffle --dataset-path " + talks, "2", 5,
			[]string{`"recorded answer"`}},
		{"agents", "--dataset-name agents --disable-shuffle --dataset-path " + sessions, "2", 7,
			[]string{"sent as              token ids", "ra-turn1, 300 tokens, 5 requested, after a pause of 700ms"}},
		{"agents as words", "--backend openai-chat --dataset-name agents --disable-shuffle --dataset-path " + sessions,
			"2", 7, []string{"sent as              text"}},
		{"mix", "--num-prompts 20 --tokenizer estimate --mix " + filepath.Join(dir, "chat") + "=1," + filepath.Join(dir,
			"agents") + "=1", "20", 0, []string{"mix of chat 50 %", ", chat\n"}},
	} {
		args := append([]string{"dataset", "--request-id-prefix", "r", "--first", "20"}, strings.Fields(c.args)...)
		benchtop(args...).expect(t, session.ExitFine, append(c.words, "conversations        "+c.turns+"\n")...)
		r := benchtop(append(args, "--jsonl", "-")...)
		r.expect(t, session.ExitFine)
		turns := map[string]int{}
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		for _, text := range lines {
			var line struct {
				ID       string `json:"request_id"`
				Session  string
				Turn     *int
				Prompt   any
				Messages []any `json:"chat_messages"`
				Length   int   `json:"prompt_len"`
			}
			if err := json.Unmarshal([]byte(text), &line); err != nil || line.Session == "" || line.Turn == nil ||
				line.Prompt == nil && line.Messages == nil || line.Length == 0 {
				t.Fatalf("%s: %.200s: %v", c.name, text, err)
			}
			if ids, ok := line.Prompt.([]any); ok && len(ids) != line.Length || turns[line.Session] != *line.Turn ||
				!strings.HasSuffix(line.ID, line.Session+"-turn"+string(rune('0'+*line.Turn))) &&
					!strings.HasPrefix(line.ID, line.Session) {
				t.Errorf("%s: %.200s", c.name, text)
			}
			turns[line.Session]++
		}
		if c.lines > 0 && len(lines) != c.lines {
			t.Errorf("%s: %d lines, want %d", c.name, len(lines), c.lines)
		}
		benchtop(append([]string{"dataset", "analyze"}, strings.Fields(c.args)...)...).expect(t, session.ExitFine,
			"conversations        "+c.turns+"\n", "hits of a prefix cache")
	}
	benchtop("dataset", "analyze", sessions).expect(t, session.ExitFine, "form                 sessions of agents\n",
		"sub-agents           1 with 1 requests\n", "conversations        2\n")
}

// Commands without conversations know nothing of them, and each flag that needs them says so.
func TestConversationFlagsAlone(t *testing.T) {
	for _, name := range []string{"multi-turn", "mix", "time-scale", "sample", "session-header"} {
		if help := benchtop("throughput", "--help=all").stdout + benchtop("latency",
			"--help=all").stdout; strings.Contains(help, "--"+name) {
			t.Errorf("--%s is in the help of a command without conversations", name)
		}
	}
	for line, want := range map[string]string{
		"throughput --multi-turn":   "--multi-turn: not a flag of throughput",
		"throughput --time-scale 2": "--time-scale: not a flag of throughput",
		"serve --multi-turn-concurrency 2": "--multi-turn-concurrency: needs --multi-turn, or a data set of " +
			"conversations", "serve --max-active-conversations 2": "--max-active-conversations: needs --multi-turn",
		"serve --multi-turn --max-active-conversations -1": "--max-active-conversations -1: " +
			"must be more than 0, or 0 for no limit",
		"serve --multi-turn --multi-turn-concurrency -1": "--multi-turn-concurrency -1: must " +
			"be more than 0",
		"serve --multi-turn --multi-turn-concurrency 2 --max-concurrency 2": "--multi-turn-concurrency and " +
			"--max-concurrency: choose one",
		"serve --multi-turn-num-turns 2": "--multi-turn-num-turns: needs " +
			"--multi-turn",
		"serve --mix no-such=1": "workload no-such: no file " +
			"no-such.yaml",
		"dataset --replies recorded":                                             "--replies: needs --multi-turn",
		"serve --mix a=1 --tier gold=ttft:5 --goodput ttft:5":                    "--goodput and --tier: choose one",
		"dataset --dataset-name agents --dataset-path none.jsonl --time-scale 0": "--time-scale 0: must be above 0",
	} {
		benchtop(strings.Fields(line)...).expect(t, session.ExitUsage, want)
	}
}
