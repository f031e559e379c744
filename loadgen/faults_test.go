package loadgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/ci"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// tongue is a protocol with the events of an answer of three chunks, 7 tokens of prompt and 12 of output.
type tongue struct {
	protocol          protocol.Protocol
	begin, chunk, end []string
	odd               []fault // which only this protocol has
}

// fault is something that a server puts into a stream. words are those of the failure that it makes; "" for none.
type fault struct{ text, words string }

// places of a fault in a stream.
const (
	placeFirst = iota
	placeMiddle
	placeLate // behind the usage
	places
)

// with is the stream with faults at places.
func (t *tongue) with(faults []fault, at []int) string {
	var b strings.Builder
	put := func(place int) {
		for i, f := range faults {
			if at[i] == place {
				b.WriteString(f.text)
			}
		}
	}
	for _, e := range t.begin {
		b.WriteString(e)
	}
	put(placeFirst)
	for i, e := range t.chunk {
		if i == 2 {
			put(placeMiddle)
		}
		b.WriteString(e)
	}
	last := len(t.end) - 1
	for _, e := range t.end[:last] {
		b.WriteString(e)
	}
	put(placeLate)
	b.WriteString(t.end[last])
	return b.String()
}

// typed is an event with its type as a name, as Responses and Messages have it.
func typed(kind, rest string) string {
	return "event: " + kind + "\n" + sseEvent(`{"type":"`+kind+`"`+rest+`}`)
}

func tongues() []tongue {
	choices := func(p protocol.Protocol, member string) tongue {
		choice := func(text, rest string) string {
			return sseEvent(`{"choices":[{"index":0,` + fmt.Sprintf(member, text) + rest + `}]}`)
		}
		usage := func(counts string) fault { return fault{text: sseEvent(`{"choices":[],"usage":` + counts + `}`)} }
		text := choice("two words ", "")
		return tongue{p, nil, []string{text, text, text},
			[]string{choice("", `,"finish_reason":"stop"`), usage(`{"prompt_tokens":7,"completion_tokens":12}`).text,
				done},
			[]fault{
				usage("null"), usage("{}"), usage(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`),
				usage(`{"prompt_tokens":7,"completion_tokens":null}`),
				usage(`{"output_tokens":0}`), usage(`{"cost":0.1}`), usage(`[1]`),
				{sseEvent(`{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":7,"completion_tokens":12}}}`), ""},
				{sseEvent(`{"choices":[{"index":0,"error":{"message":"engine fell"},` + fmt.Sprintf(member, "") +
					`}]}`), "engine fell"},
				{sseEvent(`{"choices":[{"index":0,"error":{"message":"engine fell"},"finish_reason":"error"}]}`),
					"engine fell"},
				{choice("", `,"finish_reason":"error"`), `the reason "error"`},
				{choice("a", `,"finish_reason":"abort"`), `the reason "abort"`},
				{choice("", `,"finish_reason":"aborted"`), `the reason "aborted"`},
				{choice("", `,"finish_reason":"ERROR"`), `the reason "ERROR"`},
				{choice("a", `,"finish_reason":{"type":"Abort","message":"out of pages"}`),
					`the reason "Abort": out of pages`},
				{choice("", `,"error":{}`), ""},
				{sseEvent(`{"choices":[{"index":0,"text":"","delta":{"content":"","error":{"message":"engine ` +
					`fell"}}}]}`), "engine fell"},
				{sseEvent(`{"choices":[],"detail":"a","errors":["b"],"message":"c","code":500}`), ""},
				{choice("", `,"finish_reason":"insufficient_system_resource"`),
					`the reason "insufficient_system_resource"`},
				{sseEvent(`{"choices":[],"x_groq":{"error":"over_capacity"}}`), "over_capacity"},
			}}
	}
	spoken := typed("response.output_text.delta", `,"delta":"two words "`)
	said := typed("content_block_delta", `,"delta":{"type":"text_delta","text":"two words "}`)
	delta := func(usage string) fault { return fault{text: typed("message_delta", `,"delta":{},"usage":`+usage)} }
	return []tongue{
		choices(protocol.Default(), `"text":%q`),
		choices(protocol.Chat{}, `"delta":{"content":%q}`),
		choices(protocol.Audio{}, `"delta":{"content":%q}`),
		{protocol.Responses{}, []string{typed("response.created", `,"response":{"status":"in_progress","error":null}`)},
			[]string{spoken, spoken, spoken},
			[]string{typed("response.completed",
				`,"response":{"status":"completed","error":null,"usage":{"input_tokens":7,"output_tokens":12}}`),
				sseEvent("[DONE]")},
			[]fault{
				{typed("response.in_progress", `,"response":{"usage":null}`), ""},
				{typed("response.failed", `,"response":{"error":{"message":"engine fell"}}`), "engine fell"},
				{typed("response.failed", `,"response":{"error":null,"status":"broken"}`), "broken"},
				{typed("response.completed", `,"response":{"status":"failed"}`), `the reason "failed"`},
				{typed("response.cancelled",
					`,"response":{"status":"cancelled","incomplete_details":{"reason":"by an operator"}}`),
					`the reason "cancelled": by an operator`},
				{typed("response.cancelled", ""), `the reason "cancelled"`},
				{typed("response.incomplete", `,"response":{"status":"Canceled"}`), `the reason "Canceled"`},
				{typed("response.queued", `,"detail":"a","message":"b","code":500`), ""},
			}},
		{protocol.Messages{}, []string{typed("message_start",
			`,"message":{"usage":{"input_tokens":7,"output_tokens":1}}`)}, []string{said, said, said},
			[]string{typed("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}`),
				typed("message_stop", "")},
			[]fault{
				delta(`null`), delta(`{"input_tokens":0,"output_tokens":0}`), delta(`{"input_tokens":null}`),
				delta(`{"completion_tokens":3}`),
				{typed("ping", ""), ""}, {"event: ping\ndata: \n\n", ""},
				{typed("message_delta", `,"delta":{"stop_reason":"error"}`), `the reason "error"`},
				{typed("message_delta", `,"delta":{"stop_reason":"Aborted"}`), `the reason "Aborted"`},
				{typed("content_block_start", `,"detail":"a","message":"b","code":500`), ""},
			}},
	}
}

// common are faults in any protocol: first what is none.
var common = []fault{
	{": ping\n\n", ""}, {":\n\n", ""}, {"data:\n\n", ""}, {"data: \n\n", ""}, {"data:\t\n\n", ""}, {"data\n\n", ""},
	{"data: \ndata:\n\n", ""}, {" \n\n", ""},
	{"id: 1\nretry: 3\n\n", ""}, {"event: keep-alive\n\n", ""}, {"hello\n\n", ""}, {"{\"status\":\"busy\"}\n\n", ""},
	{"{broken\n\n", ""}, {"errors: 0\n\n", ""},
	{sseEvent(`{"error":null}`), ""}, {sseEvent(`{"error":""}`), ""}, {sseEvent(`{"error":{}}`), ""},
	{sseEvent(`{"error":false,"object":"chat"}`), ""},
	{sseEvent(`{}`), ""}, {sseEvent(`{"type":"ping","message":"busy","code":503}`), ""},
	{sseEvent(`{"detail":null,"errors":[],"message":"","code":500}`), ""},
	{sseEvent(`{"message":"well","code":200}`), ""}, {sseEvent(`{"message":"well"}`), ""},
	{sseEvent(`{"code":500}`), ""}, {sseEvent(`{"errors":3}`), ""},
	{sseEvent(`{"status":"queued","detail":"2 before"}`), ""}, {"[INFO] busy\n\n", ""}, {"[1, 2]\n\n", ""},
	{"[{\"error\":null}]\n\n", ""}, {"[\n\n", ""},

	{sseEvent(`{"error":{"message":"no memory","code":500}}`), "no memory"},
	{sseEvent(`{"error":"no memory"}`), "no memory"},
	{sseEvent(`{"error":{"code":507}}`), `{"code":507}`},
	{sseEvent(`{"object":"error","message":"no memory","code":400}`), "no memory"},
	{sseEvent(`{"type":"error","message":"no memory"}`), "no memory"},
	{"event: error\n" + sseEvent(`{"type":"error","error":{"message":"no memory"}}`), "no memory"},
	{"event: error\n" + sseEvent(`{"detail":"no memory"}`), "no memory"},
	{"event: error\ndata: no memory\n\n", "no memory"},
	{"event: error\n\n", "without words"},
	{"event: error\ndata:\n\n", "without words"},
	{"error: {\"code\":500,\"message\":\"no memory\"}\n\n", "no memory"},
	{"error: {\"message\":\"no memory\"}\n", "no memory"}, // glued to what follows
	{"{\"error\": {\"message\": \"no memory\"}}\n\n", "no memory"},
	{"{\"error\": \"no memory\"}\n", "no memory"},
	{"{\"status\":\"busy\"}\n{\"error\": \"no memory\"}\n\n", "no memory"},
	{"[{\"error\": {\"message\": \"no memory\"}}]\n\n", "no memory"},
	{"{\"status\":\"busy\"}\n[{\"object\": \"error\", \"message\": \"no memory\"}]\n", "no memory"},
	{"[\n{\n  \"error\": {\"message\": \"no memory\"}\n}\n]\n\n", "no memory"},
	{sseEvent(`[{"error":{"message":"no memory"}}]`), "no memory"},
	{sseEvent(`{"detail":"no memory"}`), "no memory"},
	{sseEvent(`{"detail":[{"msg":"no memory"}]}`), "no memory"},
	{sseEvent(`{"errors":[{"message":"no memory"}]}`), "no memory"},
	{sseEvent(`{"message":"no memory","code":500}`), "no memory"},
	{"{\"detail\": \"no memory\"}\n\n", "no memory"},
	{"event: exception\ndata: no memory\n\n", "no memory"},
	{"event: Error\n" + sseEvent(`{"reason":"no memory"}`), "no memory"},
	{"event: EXCEPTION\n\n", "named EXCEPTION, without words"},
	{"  {\n  \"error\": {\n    \"id\": 3,\n    \"message\": \"no memory\"\n  }\n}\n\n", "no memory"},
}

// writings are ways to write the same stream.
var writings = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "data: ", "data:") },
}

// Faults alone and in pairs, at each place, in each protocol and with all line ends: a request fails where a server
// reported an error in any form, by the server's words, and only there; all others have the server's counts.
func TestFaultsInPairs(t *testing.T) {
	ci.SkipUnderRace(t)
	for n, tongue := range tongues() {
		t.Run(tongue.protocol.Traits().Name, func(t *testing.T) {
			var runs []faultRun
			add := func(faults []fault, at ...int) {
				r := faultRun{stream: writings[len(runs)%len(writings)](tongue.with(faults, at))}
				place := places
				for i, f := range faults { // the first error counts
					if f.words != "" && at[i] < place {
						r.words, place = f.words, at[i]
					}
				}
				runs = append(runs, r)
			}
			all := append(common[:len(common):len(common)], tongue.odd...)
			for i, f := range all {
				for place := range places {
					add([]fault{f}, place)
				}
				for k, g := range all[i:] {
					// each pair that is common is in one protocol or two
					if own := i+k >= len(common); own || (i+2*k+n)%3 == 0 {
						add([]fault{f, g}, (i+k)%places, (i+2*k)%places)
					}
				}
			}
			for batch := range slices.Chunk(runs, 60) {
				synctest.Test(t, func(t *testing.T) { judged(t, tongue.protocol, batch) })
				if t.Failed() {
					return
				}
			}
		})
	}
}

// faultRun is a stream with faults, and the words of the failure that it is.
type faultRun struct{ stream, words string }

// judged sends a request for each stream, and compares the outcomes.
func judged(t *testing.T, p protocol.Protocol, runs []faultRun) {
	var scripts []script
	var at []time.Duration
	for i, r := range runs {
		sent := []string{r.stream}
		if i%29 == 0 {
			sent = singly(r.stream)
		}
		scripts, at = append(scripts, pieces(true, 0, stream(sent...))), append(at, time.Duration(i)*time.Minute)
	}
	turn := protocol.Smallest(p, 8)
	requests := loadFrom(t, newScripted(t, scripts...), &prompts{n: len(runs), turn: &turn},
		func(o *Options) { o.Protocol, o.Schedule = p, shape.At(at) }, nil)
	input := 7
	if turn.Audio != nil {
		input = turn.InputTokens // the server counts frames of sound
	}
	for i, r := range runs {
		switch q := &requests[i]; {
		case r.words == "" && (q.Failure != "" || q.InputTokens != input || q.OutputTokens != 12 ||
			q.OutputSource != metrics.TokensFromUsage || q.Refusal):
			t.Errorf("%q: %s %q, %d and %d tokens by %s", r.stream, q.Failure, q.Error, q.InputTokens, q.OutputTokens,
				q.OutputSource)
		case r.words != "" && (q.Failure != metrics.FailedInStream || !strings.Contains(q.Error, r.words)):
			t.Errorf("%q: %q %q, want an error in the stream with %q", r.stream, q.Failure, q.Error, r.words)
		}
	}
}

// Counts come from the server only as far as it tells them, and a refusal is an answer.
func TestCountsAndRefusals(t *testing.T) {
	const byUsage, byChunks = metrics.TokensFromUsage, metrics.TokensFromChunks
	chat := func(delta, rest string) string { return sseEvent(`{"choices":[{"delta":` + delta + rest + `}]}`) }
	w, stop := chat(`{"content":"two words "}`, ""), chat(`{}`, `,"finish_reason":"stop"`)
	with := func(usage string) string { return chat(`{"content":"two words "}`, "}],"+usage+`,"x":[{"y":1`) }
	start := typed("message_start",
		`,"message":{"usage":{"input_tokens":9,"cache_read_input_tokens":4,"cache_creation_input_tokens":2,`+
			`"output_tokens":1}}`)
	said := typed("content_block_delta", `,"delta":{"text":"two words "}`)
	ended := typed("message_delta", `,"delta":{"stop_reason":"end_turn"}`) + typed("message_stop", "")
	no := typed("response.refusal.delta", `,"delta":"no "`)
	type want struct {
		input, output int
		source        metrics.TokenSource
		chunks        int
		refusal       bool
		text          string
	}
	two := func(n int) string { return strings.Repeat("two words ", n) }
	for _, c := range []struct {
		name     string
		protocol protocol.Protocol
		answer   string // in one piece where it is JSON
		n        int    // answers asked for
		want     want
	}{
		{"usage in the choice", protocol.Chat{}, w + chat(`{}`,
			`,"finish_reason":"stop","usage":{"prompt_tokens":7,"completion_tokens":12}`) + done, 1,
			want{7, 12, byUsage, 1, false, two(1)}},
		{"usage in one of two choices", protocol.Chat{},
			w + chat(`{}`, `,"finish_reason":"stop","usage":{"completion_tokens":12}`) + w + stop + done, 2,
			want{1, 2, byChunks, 2, false, two(2)}},
		{"a count before more output", protocol.Chat{}, with(`"usage":{"prompt_tokens":7,"completion_tokens":1}`) + w +
			w + stop + done, 1,
			want{7, 3, byChunks, 3, false, two(3)}},
		{"a count with the last output", protocol.Chat{},
			w + w + with(`"usage":{"prompt_tokens":7,"completion_tokens":2}`) + stop + done, 1,
			want{7, 2, byUsage, 3, false, two(3)}},
		{"a count of zero in each chunk", protocol.Chat{},
			with(`"usage":{"prompt_tokens":7,"completion_tokens":0}`) + with(`"usage":{"prompt_tokens":0}`) + stop +
				done, 1,
			want{7, 2, byChunks, 2, false, two(2)}},
		{"blanks around the end", protocol.Chat{}, w + stop + "data:  [DONE] \n\n" + w, 1,
			want{1, 1, byChunks, 1, false, two(1)}},
		{"Messages without usage", protocol.Messages{}, said + said + ended, 1, want{1, 2, byChunks, 2, false, two(2)}},
		{"Messages with a provisional count alone", protocol.Messages{}, start + said + ended, 1,
			want{15, 1, byChunks, 1, false, two(1)}},
		{"Messages with zeros at the end", protocol.Messages{}, start + said + said +
			typed("message_delta",
				`,"delta":{"stop_reason":"max_tokens"},"usage":{"input_tokens":0,"output_tokens":5,`+
					`"cache_read_input_tokens":0}`) + ended, 1,
			want{15, 5, byUsage, 2, false, two(2)}},

		{"chat refuses", protocol.Chat{}, chat(`{"role":"assistant","content":"","refusal":null}`, "") +
			chat(`{"refusal":"no "}`, "") + chat(`{"refusal":"way"}`, "") + stop, 1,
			want{1, 2, byChunks, 2, true, "no way"}},
		{"chat refuses after text", protocol.Chat{}, w + chat(`{"content":null,"refusal":"no"}`, "") + stop, 1,
			want{1, 2, byChunks, 2, true, two(1) + "no"}},
		{"chat refuses nothing", protocol.Chat{}, chat(`{"content":"two words ","refusal":""}`, "") + stop, 1,
			want{1, 1, byChunks, 1, false, two(1)}},
		{"chat refuses in one piece", protocol.Chat{},
			`{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}],` +
				`"usage":{"prompt_tokens":7,"completion_tokens":3}}`, 1,
			want{7, 3, byUsage, 1, true, "no"}},
		{"responses refuse", protocol.Responses{}, no + no + typed("response.refusal.done", `,"refusal":"no no "`) +
			typed("response.completed", `,"response":{"usage":{"input_tokens":9,"output_tokens":3}}`), 1,
			want{9, 3, byUsage, 2, true, "no no "}},
		{"responses refuse at once", protocol.Responses{},
			typed("response.refusal.done", `,"refusal":"no"`) + typed("response.completed", `,"response":{}`), 1,
			want{1, 1, byChunks, 1, true, ""}},
		{"responses refuse in one piece", protocol.Responses{},
			`{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"refusal",` +
				`"refusal":"no"}]}]}`, 1,
			want{1, 1, byChunks, 1, true, "no"}},
		{"Messages refuse", protocol.Messages{}, start +
			typed("message_delta", `,"delta":{"stop_reason":"refusal"},"usage":{"output_tokens":4}`) +
			typed("message_stop", ""), 1,
			want{15, 4, byUsage, 1, true, ""}},
		{"Messages refuse without a token", protocol.Messages{},
			start + typed("message_delta", `,"delta":{"stop_reason":"refusal"},"usage":{"output_tokens":0}`) +
				typed("message_stop", ""), 1,
			want{15, 0, byUsage, 1, true, ""}},
		{"Messages refuse after text, counted as nothing", protocol.Messages{},
			start + said + typed("message_delta", `,"delta":{"stop_reason":"refusal"},"usage":{"output_tokens":0}`) +
				typed("message_stop", ""), 1, want{15, 1, byChunks, 1, true, two(1)}},
		{"Messages refuse after text", protocol.Messages{},
			said + typed("message_delta", `,"delta":{"stop_reason":"refusal"}`) + typed("message_stop", ""), 1,
			want{1, 1, byChunks, 1, true, two(1)}},
		{"Messages refuse in one piece", protocol.Messages{},
			`{"type":"message","content":[],"stop_reason":"refusal","usage":{"input_tokens":7,"output_tokens":2}}`, 1,
			want{7, 2, byUsage, 1, true, ""}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			answer, extra := stream(c.answer), []protocol.Field(nil)
			if c.answer[0] == '{' {
				answer, extra = plainAnswer("200 OK", "application/json", c.answer),
					[]protocol.Field{{Name: "stream", JSON: "false"}}
			}
			if c.n > 1 {
				extra = append(extra, protocol.Field{Name: "n", JSON: fmt.Sprint(c.n)})
			}
			from := &prompts{n: 1, turn: &datasets.Turn{Text: "hi", InputTokens: 1, MaxTokens: 8}}
			q := loadFrom(t, newScripted(t, pieces(true, 0, answer)), from,
				func(o *Options) { o.Protocol, o.Extra, o.KeepText = c.protocol, extra, true }, nil)[0]
			got := want{q.InputTokens, q.OutputTokens, q.OutputSource, len(q.Chunks), q.Refusal, q.Text}
			if q.Failure != "" || got != c.want {
				t.Errorf("%s %q, %+v, want %+v", q.Failure, q.Error, got, c.want)
			}
		})
	}
}

// An error in an answer of status 200 that is no stream fails by the server's words, whether a stream was asked for or
// not.
func TestErrorsInOnePiece(t *testing.T) {
	type answer struct {
		protocol protocol.Protocol
		body     string
		words    string
	}
	var all []answer
	for _, p := range []protocol.Protocol{protocol.Default(), protocol.Chat{}, protocol.Responses{},
		protocol.Messages{}, protocol.Audio{}, protocol.Named("openai-embeddings"), protocol.Named("vllm-rerank")} {
		for _, body := range []string{`{"error":{"message":"no memory"}}`, `{"error":"no memory"}`,
			`{"object":"error","message":"no memory","code":400}`, `{"type":"error","error":{"message":"no memory"}}`,
			"{\n  \"error\": {\n\n    \"message\": \"no memory\"\n  }\n}\n"} {
			all = append(all, answer{p, body, "no memory"})
		}
	}
	all = append(all,
		answer{protocol.Chat{}, `{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}`,
			`the reason "error"`},
		answer{protocol.Chat{}, `{"choices":[{"error":{"message":"no memory"},"finish_reason":"stop"}]}`, "no memory"},
		answer{protocol.Default(), `{"choices":[{"text":"a","finish_reason":"abort"}]}`, `the reason "abort"`},
		answer{protocol.Responses{}, `{"status":"failed","error":null,"output":[]}`, `the reason "failed"`},
		answer{protocol.Messages{}, `{"type":"message","content":[{"text":"a"}],"stop_reason":"error"}`,
			`the reason "error"`})
	for _, c := range all {
		for _, streamed := range []string{"true", "false"} {
			synctest.Test(t, func(t *testing.T) {
				turn := protocol.Smallest(c.protocol, 8)
				s := newScripted(t, pieces(true, 0, plainAnswer("200 OK", "application/json", c.body)))
				q := loadFrom(t, s, &prompts{n: 1, turn: &turn}, func(o *Options) {
					if o.Protocol = c.protocol; streamed == "false" && c.protocol.Traits().Streams {
						o.Extra = []protocol.Field{{Name: "stream", JSON: "false"}}
					}
				}, nil)[0]
				if q.Failure != metrics.FailedInStream || !strings.Contains(q.Error, c.words) {
					t.Errorf("%s, stream %s, %s: %s %q", c.protocol.Traits().Name, streamed, c.body, q.Failure, q.Error)
				}
			})
		}
	}
}
