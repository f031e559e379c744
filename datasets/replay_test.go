package datasets

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/datasets/agents"
	"benchtop/internal/assert"
)

const second = time.Second

func TestReplayTimes(t *testing.T) {
	at := []time.Duration{10 * second, 11 * second, 11 * second, 15 * second, 75 * second}
	for _, c := range []struct {
		name string
		r    Replay
		most int
		want []time.Duration
		sent string
	}{
		{"as recorded", Replay{}, 0, []time.Duration{0, second, second, 5 * second, 65 * second}, "11111"},
		{"faster", Replay{Scale: 2}, 0, []time.Duration{0, second / 2, second / 2, 5 * second / 2, 65 * second / 2},
			"11111"},
		{"slower", Replay{Scale: 0.5}, 0, []time.Duration{0, 2 * second, 2 * second, 10 * second, 130 * second},
			"11111"},
		{"a window", Replay{From: second, To: 65 * second}, 0, []time.Duration{0, 0, 4 * second}, "01110"},
		{"a window that begins in a gap", Replay{From: 3 * second}, 0, []time.Duration{2 * second, 62 * second},
			"00011"},
		{"no long gaps", Replay{MaxGap: 3 * second}, 0, []time.Duration{0, second, second, 4 * second, 7 * second},
			"11111"},
		{"a gap is shortened before it is scaled", Replay{MaxGap: 3 * second, Scale: 3}, 0,
			[]time.Duration{0, second / 3, second / 3, 4 * second / 3, 7 * second / 3}, "11111"},
		{"at most two, of the window", Replay{From: second}, 2, []time.Duration{0, 0}, "01100"},
		{"nothing", Replay{From: 66 * second}, 0, nil, "00000"},
	} {
		times, sent := c.r.Times(at, 1, c.most)
		words := strings.NewReplacer("true", "1", "false", "0", " ", "", "[", "", "]", "").Replace(fmt.Sprint(sent))
		for i := range times {
			times[i] = times[i].Round(time.Microsecond)
		}
		for i := range c.want {
			c.want[i] = c.want[i].Round(time.Microsecond)
		}
		if diff := cmp.Diff(c.want, times); diff != "" || words != c.sent {
			t.Errorf("%s: %s %s", c.name, words, diff)
		}
	}
}

func TestReplaySample(t *testing.T) {
	at := make([]time.Duration, 10_000)
	for i := range at {
		at[i] = time.Duration(i) * second
	}
	r := Replay{Sample: 0.25}
	times, sent := r.Times(at, 1, 0)
	_, again := r.Times(at, 1, 0)
	_, other := r.Times(at, 2, 0)
	if n := len(times); n < 2300 || n > 2700 || !slices.Equal(sent, again) || slices.Equal(sent, other) {
		t.Errorf("%d of %d are sent", n, len(at))
	}
	for i, k := 0, 0; i < len(at); i++ { // each keeps its time
		if sent[i] {
			if k++; times[k-1] != at[i] {
				t.Fatalf("request %d at %v", i, times[k-1])
			}
		}
	}
}

func TestReplayValidate(t *testing.T) {
	for want, r := range map[string]Replay{
		"": {}, "--time-scale -1: must be above 0": {Scale: -1},
		"--trace-from 2s and --trace-to 1s: the part": {From: 2 * second, To: second},
		"--max-gap -1s: must not be negative":         {MaxGap: -second},
		"--sample 1.5: must be above 0 and at most 1": {Sample: 1.5},
	} {
		all := r.Validate()
		if (want == "") != (len(all) == 0) || len(all) > 1 || len(all) == 1 && !strings.Contains(all[0].Error(), want) {
			t.Errorf("%+v: got %v, want %s", r, all, want)
		}
	}
}

// sessionText is a session as JSON, without its name and blocks.
func sessionText(session *agents.Session) string {
	if session == nil {
		return ""
	}
	_, text, _ := strings.Cut(string(session.AppendJSON(nil)), `"requests":`)
	return strings.TrimSuffix(strings.ReplaceAll(text, `"in":1,"out":1,`, ""), "}\n")
}

// readSession is one session of these requests, given without their lengths.
func readSession(t *testing.T, requests string) *agents.Session {
	t.Helper()
	text := `{"block_size":1,"requests":` + strings.ReplaceAll(requests, "{", `{"in":1,"out":1,`) + "}"
	var out *agents.Session
	if err := agents.Read(t.Context(), strings.NewReader(text),
		func(session *agents.Session) error { out = session; return nil }); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestReplaySession(t *testing.T) {
	for _, c := range []struct {
		name     string
		r        Replay
		in, want string
	}{
		{"faster", Replay{Scale: 4}, `[{"at_ms":0},{"delay_ms":400,"tools_ms":200,"at_ms":1000}]`,
			`[{"at_ms":0},{"delay_ms":100,"tools_ms":50,"at_ms":250}]`},
		{"times are from the first request", Replay{}, `[{"at_ms":500},{"at_ms":700}]`, `[{"at_ms":0},{"at_ms":200}]`},
		{"no long gaps", Replay{MaxGap: 100 * time.Millisecond},
			`[{"at_ms":0},{"delay_ms":400,"tools_ms":200,"at_ms":1000},{"delay_ms":50,"at_ms":1050}]`,
			`[{"at_ms":0},{"delay_ms":100,"tools_ms":100,"at_ms":100},{"delay_ms":50,"at_ms":150}]`},
		{"a window links those that are left", Replay{From: second, To: 5 * second},
			`[{"at_ms":0},{"at_ms":1000},{"after":[0],"at_ms":1500},{"after":[1,2],"at_ms":6000},{"after":[3],` +
				`"at_ms":4000},{"after":[],"at_ms":2000}]`,
			`[{"at_ms":0},{"after":[],"delay_ms":500,"at_ms":500},{"after":[0,1],"at_ms":3000},{"after":[],` +
				`"delay_ms":1000,"at_ms":1000}]`},
		{"through several", Replay{From: second}, `[{"at_ms":1000},{"at_ms":0},{"at_ms":0},{"at_ms":2000}]`,
			`[{"at_ms":0},{"at_ms":1000}]`},
		{"roots behind the first", Replay{From: second},
			`[{"at_ms":0},{"after":[],"delay_ms":3000,"at_ms":3000},{"after":[],"delay_ms":5000,"at_ms":5000}]`,
			`[{"at_ms":0},{"after":[],"delay_ms":2000,"at_ms":2000}]`},
		{"nothing of it", Replay{From: 9 * second}, `[{"at_ms":1000}]`, ""},
	} {
		got, want := sessionText(c.r.Session(readSession(t, c.in))), ""
		if c.want != "" {
			want = sessionText(readSession(t, strings.ReplaceAll(c.want, `"at_ms":0`, `"x":0`)))
		}
		assert.Equal(t, got, want, "%s", c.name)
	}
}

// FuzzReplay holds that what is left of a session is valid and begins with its first request, and that the times of a
// replay ascend.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, 2.0, int64(0), int64(0), int64(0))
	f.Add([]byte{9, 0, 9, 0, 200, 17, 3, 3}, 0.5, int64(5), int64(100), int64(20))
	f.Fuzz(func(t *testing.T, data []byte, scale float64, from, to, gap int64) {
		r := Replay{Scale: scale, From: time.Duration(from), To: time.Duration(to), MaxGap: time.Duration(gap)}
		if len(r.Validate()) > 0 || scale < 1e-3 || len(data) < 2 {
			return
		}
		in := &agents.Session{BlockSize: 1}
		at := []time.Duration{}
		now := time.Duration(0)
		for i := 0; i+1 < len(data); i += 2 {
			q := agents.Request{Input: 1, At: time.Duration(data[i])}
			if n := len(in.Requests); n > 0 && data[i+1] > 3 {
				q.After = []int{int(data[i+1]) % n}
				if second := int(data[i+1]/2) % n; second > q.After[0] {
					q.After = append(q.After, second)
				}
			}
			in.Requests = append(in.Requests, q)
			now += time.Duration(data[i+1])
			at = append(at, now)
		}
		out := r.Session(in)
		if out == nil {
			return
		}
		fine(t, out.Validate())
		if len(out.Requests) > len(in.Requests) ||
			slices.MinFunc(out.Requests, func(a, b agents.Request) int { return int(a.At - b.At) }).At != 0 {
			t.Fatalf("got %s", out.AppendJSON(nil))
		}
		times, sent := r.Times(at, 1, 0)
		if !slices.IsSorted(times) || len(sent) != len(at) || len(times) > 0 && times[0] < 0 {
			t.Fatalf("got %v", times)
		}
	})
}

// Recordings with times are replayed alike; the number of prompts counts those that are left.
func TestReplayedSources(t *testing.T) {
	dir := t.TempDir()
	hashes, csv := filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "t.csv")
	var a, b strings.Builder
	b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	for i, at := range []int{0, 1, 5, 6, 100, 101} {
		fmt.Fprintf(&a, "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":1,\"hash_ids\":[%d]}\n", at, 10+i, i)
		fmt.Fprintf(&b, "%d,%d,1\n", at, 10+i)
	}
	write(t, hashes, a.String())
	write(t, csv, b.String())
	for _, c := range []struct {
		name   string
		replay Replay
		n      int
		times  []time.Duration
		inputs []int
	}{
		{"scaled", Replay{Scale: 2}, 3, []time.Duration{0, second / 2, 5 * second / 2}, []int{10, 11, 12}},
		{"a window behind the first prompts", Replay{From: 5 * second}, 2, []time.Duration{0, second}, []int{12, 13}},
		{"without the long gap", Replay{MaxGap: 2 * second}, 9,
			[]time.Duration{0, second, 3 * second, 4 * second, 6 * second, 7 * second}, []int{10, 11, 12, 13, 14, 15}},
		{"scaled, without the long gap", Replay{MaxGap: 2 * second, Scale: 2}, 9, []time.Duration{0, second / 2,
			3 * second / 2, 2 * second, 3 * second, 7 * second / 2}, []int{10, 11, 12, 13, 14, 15}},
	} {
		for name, path := range map[string]string{"timed_trace": hashes, "trace": csv} {
			source, err := openKind(t, name, Common{Path: path, Prompts: c.n, Forms: AsTokenIDs, Replay: c.replay}, nil)
			if err != nil {
				t.Errorf("%s of %s: %v", c.name, name, err)
				continue
			}
			var inputs []int
			for i, conversation := range drain(t, source) {
				inputs = append(inputs, conversation.Turns[0].InputTokens)
				assert.Equal(t, conversation.At, c.times[i], "%s of %s: request %d at", c.name, name, i)
			}
			if diff := cmp.Diff(c.times, source.Times()); diff != "" || source.Len != len(inputs) {
				t.Errorf("%s of %s: %d, %s", c.name, name, source.Len, diff)
			}
			if diff := cmp.Diff(c.inputs, inputs); name == "trace" && diff != "" {
				t.Errorf("%s of %s: %s", c.name, name, diff)
			}
		}
	}
	complains(t, failure(openKind(t, "timed_trace",
		Common{Path: hashes, Prompts: 9, Replay: Replay{From: 200 * second}}, nil)),
		"timed_trace: no request lies in the part of the recording that was asked for")
}

// --trace-speed and --time-scale multiply, and a gap is shortened before both.
func TestReplayOfFastTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write(t, path, "TIMESTAMP,ContextTokens,GeneratedTokens\n0,5,1\n100,5,1\n")
	source := must(openKind(t, "trace", Common{Path: path, Replay: Replay{Scale: 2, MaxGap: 20 * second}},
		given{"trace-speed": "5"}))(t)
	if times := source.Times(); times[1] != 2*second {
		t.Errorf("got %v", times)
	}
}
