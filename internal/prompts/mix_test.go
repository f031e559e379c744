package prompts

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
)

// workloads writes files of workloads into a directory, which is the working directory of the test.
func workloads(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		fine(t, os.MkdirAll(filepath.Dir(name), 0o700))
		fine(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

func TestMixFlag(t *testing.T) {
	var m Mix
	if err := m.Set("dir/chat.yaml=3, rag=0.5"); err != nil || m.String() != "dir/chat.yaml=3,rag=0.5" ||
		m[0].Name != "chat" {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"": `"": expected WORKLOAD=SHARE`, "chat": "expected WORKLOAD=SHARE", "chat=0": "expected WORKLOAD=SHARE",
		"chat=inf": "expected WORKLOAD=SHARE", "=1": "expected WORKLOAD=SHARE",
		"chat=NaN": "expected WORKLOAD=SHARE", "a/chat=1,b/chat.yaml=1": "workload chat is given twice",
		".yaml=1": "the name of a workload has no comma",
		"a=1,":    `"": expected`,
	} {
		complains(t, m.Set(text), want)
	}
	all := make([]string, mostWorkloads+1)
	for i := range all {
		all[i] = strings.Repeat("a", i+1) + "=1"
	}
	if err := m.Set(strings.Join(all, ",")); err == nil || err.Error() != "more than 32 workloads" {
		t.Errorf("got %v", err)
	}
}

// A workload's file is YAML or JSON with flags, lists and objectives; a path is relative to it, unless it is there from
// the working directory.
func TestWorkloadFile(t *testing.T) {
	workloads(t, map[string]string{
		"w/chat.yaml": "# of users\ndataset_name: custom\ndataset-path: c.jsonl\nmulti-turn: true\ngoodput: " +
			"[ttft:500, 'tpot:50 e2el:9000']\n", "w/c.jsonl": "",
		"w/rag.json": `{"dataset-name": "random", "random-input-len": 100, "bfcl-categories": ["a", "b"], "goodput": ` +
			`"ttft:9"}`,
		"here.yaml":  "dataset-name: sharegpt\ndataset-path: none.jsonl\n",
		"w/abs.yaml": "dataset-name: sharegpt\ndataset-path: /c.jsonl\n",
	})
	for _, c := range []struct{ path, name, file, slo string }{
		{"w/chat.yaml", "custom", "w/c.jsonl", "ttft:500 tpot:50 e2el:9000"},
		{"w/rag.json", "random", "", "ttft:9"},
		{"here.yaml", "sharegpt", "none.jsonl", ""},
		{"w/abs.yaml", "sharegpt", "/c.jsonl", ""},
	} {
		w := workload{given: c.path}
		_ = w.read(atOnce(4), 0, false, nil) // of files that are not there
		if o := w.options; o.Name != c.name || o.Path != c.file || w.Goodput.String() != c.slo {
			t.Errorf("%s: %s, %s, %s", c.path, o.Name, o.Path, w.Goodput)
		}
	}
}

func TestMixRefused(t *testing.T) {
	workloads(t, map[string]string{
		"list.yaml": "- a\n", "two.yaml": "a: 1\n---\nb: 2\n", "bad.yaml": "a: [\n", "empty.yaml": "",
		"nested.yaml":  "dataset-name: random\ninput-len:\n  a: 1\n",
		"goodput.yaml": "dataset-name: random\ngoodput: never:1\n", "unknown.yaml": "no-such-flag: random\n",
		"wrong.yaml": "dataset-name: random\nrandom-input-len: many\n",
		"none.yaml":  "dataset-name: sharegpt\ndataset-path: no.json\n",
		"run.yaml":   "dataset-name: random\ntokenizer: x\nsend_conversation_id: true\nrepeat-count: 2\nseed: 4\n",
		"fine.yaml":  "dataset-name: random\n", "large.yaml": strings.Repeat("#", 1<<20+1), "mix.yaml": "mix: a=1\n",
		"pairs.yaml": "dataset-name: random\n\nmulti_turn: true\nmulti-turn-min-turns: 9\nmulti-turn-max-turns: 3\n" +
			"random-input-len: -5\nrandom-cache-ratio: 7\n",
		"self.yaml": "mix: self=1\n", "timed.yaml": "self-timed: true\n",
	})
	for _, c := range []struct{ line, want string }{
		{"--mix no=1", "--mix, workload no: no file no.yaml, with the flags of its data set"},
		{"--mix list=1", "workload list: list.yaml: expected flags with their values"},
		{"--mix bad=1", "workload bad: bad.yaml:1: not YAML"},
		{"--mix empty=1", "workload empty: empty.yaml: expected flags with their values"},
		{"--mix nested=1", "workload nested: nested.yaml:2: --input-len: expected a whole number, not a mapping"},
		{"--mix goodput=1", "workload goodput: goodput.yaml:2: --goodput never:1: "},
		{"--mix unknown=1", "workload unknown: unknown.yaml:1: no-such-flag: unknown flag"},
		{"--mix wrong=1", "workload wrong: wrong.yaml:2: --random-input-len many: expected a whole number"},
		{"--mix none=1", "workload none: none.yaml:2: --dataset-path no.json: no such file"},
		{"--mix run=1", "--mix, workload run: run.yaml:2: --tokenizer: give it on the command line, for the whole run"},
		{"--mix run=1", "--mix, workload run: run.yaml:3: --send-conversation-id: give it on the command line"},
		{"--mix run=1", "--mix, workload run: run.yaml:4: --repeat-count: a workload of a mixture cannot have it"},
		{"--mix run=1", "--mix, workload run: run.yaml:5: --seed: give it on the command line, for the whole run"},
		{"--mix pairs=1", "--mix, workload pairs: pairs.yaml:4: --multi-turn-min-turns 9: must not be more than"},
		{"--mix pairs=1", "--mix, workload pairs: pairs.yaml:7: --random-cache-ratio 7 must be"},
		{"--mix pairs=1", "--mix, workload pairs: pairs.yaml: dataset random: input length -5 must be between"},
		{"--mix timed=1", "timed.yaml:1: --self-timed: a workload of a mixture cannot have it"},
		{"--mix mix=1", "mix.yaml:1: --mix: give it on the command line, for the whole run"},
		// and does not read itself without end
		{"--mix self=1", "--mix: give it on the command line, for the whole run"},
		{"--mix large=1", "workload large: large.yaml: more than 1024 KiB"},
		{"--mix fine=1 --dataset-name random",
			"--mix and --dataset-name: choose one; each workload's file has its own"},
		{"--mix fine=1 --random-input-len 5", "--mix and --random-input-len: choose one"},
		{"--mix fine=1 --multi-turn", "--mix and --multi-turn: choose one"},
		{"--mix fine=1 --self-timed", "--mix and --self-timed: choose one"},
		{"--mix fine=1 --time-scale 2", "--mix and --time-scale: choose one"},
		{"--mix fine=1 --send-conversation-id",
			"--send-conversation-id: needs --multi-turn, or a data set of conversations"},
	} {
		complains(t, failure(flagsOf(t, "http://127.0.0.1:1", c.line, atOnce(4))), c.want)
	}
	if _, err := flagsOf(t, "http://127.0.0.1:1", "--mix fine=1 --session-header X --max-model-len 500",
		atOnce(4)); err != nil {
		t.Error(err)
	}
}

// mixedTurns are the conversations of a mixture of chats of three turns and single requests.
func mixedTurns(t *testing.T, line string, n int) (all []datasets.Conversation, d *Supply) {
	t.Helper()
	d = must(drawnOf(t, simulated(t), line, atOnce(n)))(t)
	for {
		c, err := d.Next()
		if err == io.EOF {
			return all, d
		}
		fine(t, err)
		all = append(all, c)
	}
}

// Workloads are drawn by their shares, the same for a seed. Each request has the class of its workload; the answers of
// those that want a full length ignore the end of the text; conversations are named once.
func TestMixture(t *testing.T) {
	path := must(filepath.Abs(vectors + "sharegpt_small.json"))(t)
	pieces := must(filepath.Abs(sentencePieces))(t)
	workloads(t, map[string]string{
		"chat.yaml": "dataset-name: random\nrandom-input-len: 30\nrandom-output-len: 4\nmulti-turn: " +
			"true\nmulti-turn-num-turns: 3\n",
		"rag.yaml": "dataset-name: sharegpt\ndataset-path: " + path + "\n",
	})
	line := "--mix chat=3,rag=1 --backend openai-chat --session-header X-Flow --tokenizer " + pieces
	all, d := mixedTurns(t, line, 200)
	chats, turns := 0, 0
	var order []string
	for _, c := range all {
		turns += len(c.Turns)
		chat := len(c.Turns) == 3
		if chat {
			chats++
		}
		order = append(order, c.Turns[0].Class)
		for _, turn := range c.Turns {
			class, body := "rag", ""
			if chat {
				class, body = "chat", `{"ignore_eos": true}`
			}
			if turn.Class != class || string(turn.Overrides) != body {
				t.Fatalf("a request of %s has %s", turn.Class, turn.Overrides)
			}
			// single requests are conversations of a turn
			if !slices.Equal(turn.Headers, [][2]string{{"X-Flow", c.Session}}) {
				t.Fatalf("headers %v of %s", turn.Headers, class)
			}
		}
	}
	if len(all) != 200 || chats < 130 || chats > 170 || d.Len != 200 || d.Turns != turns || d.Requests(200) != turns {
		t.Errorf("%d conversations, %d of them chats, of %d turns; %d of %d were expected", len(all), chats, turns,
			d.Len, d.Turns)
	}
	again, _ := mixedTurns(t, line, 200)
	for i, c := range again {
		assert.Need(t, c.Turns[0].Class, order[i], "one seed gives two orders")
	}
	if want := "mix of chat 75 % (conversations of 3 turns, the model's replies: random: "; !strings.HasPrefix(d.About,
		want) {
		t.Errorf("got %s", d.About)
	}
}

// A workload with fewer conversations than its share, or some that are too long, leaves the others as many as were
// drawn.
func TestMixtureOfLittle(t *testing.T) {
	workloads(t, map[string]string{
		"short.yaml": "dataset-name: random\nrandom-input-len: 10\nrandom-output-len: 4\n",
		"few.yaml":   "dataset-name: agents\ndataset-path: s.jsonl\nno-oversample: true\n",
		"long.yaml": "dataset-name: random\nrandom-input-len: 60\nrandom-range-ratio: 0.9\nrandom-output-len: " +
			"4\nmax-model-len: 64\n",
		"s.jsonl": `{"block_size":1,"requests":[{"in":5,"out":3},{"in":9,"out":3}]}` + "\n",
	})
	all, d := mixedTurns(t, "--mix short=1,few=1,long=1", 60)
	count := map[string]int{}
	for _, c := range all {
		count[c.Turns[0].Class]++
	}
	if count["short"] < 10 || count["long"] < 1 || count["long"] > 20 || count["few"] < 10 || len(all) < 30 ||
		d.Len < len(all) {
		t.Errorf("%v of %d", count, d.Len)
	}
}

func TestWorkloadsOfThePlan(t *testing.T) {
	workloads(t, map[string]string{"a.yaml": "dataset-name: random\ngoodput: ttft:5\n",
		"b.yaml": "dataset-name: sonnet\n"})
	f := must(flagsOf(t, "http://127.0.0.1:1", "--mix a=1,b=3", atOnce(4)))(t)
	all := f.options.Workloads()
	if len(all) != 2 || all[0].Name != "a" || all[0].Share != 0.25 || all[0].Goodput.String() != "ttft:5" ||
		all[1].Share != 0.75 || len(all[1].Goodput) != 0 {
		t.Errorf("got %+v", all)
	}
	if (&Options{}).Workloads() != nil {
		t.Error("no mixture has workloads")
	}
}
