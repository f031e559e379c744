package imports

import (
	"fmt"
	"strings"
	"testing"
)

// nested has a sub-agent inside another, with requests that start together.
const nested = `{"id":"n","block_size":10,"hash_id_scope":"global","requests":[
 {"t":1,"in":20,"out":1,"hash_ids":[1,2],"api_time":1},
 {"type":"subagent","t":3,"agent_id":"x","requests":[
  {"t":0,"in":20,"out":1,"hash_ids":[5,6],"api_time":1},
  {"type":"subagent","t":2,"agent_id":"y","subagent_type":"deep","requests":[{"t":0,"in":10,"out":1,"hash_ids":[9],"api_time":2}]},
  {"t":4,"in":20,"out":1,"hash_ids":[5,7],"api_time":0}]},
 {"t":7,"in":30,"out":1,"hash_ids":[1,2,3,4],"api_time":1}]}`

func TestAgentX(t *testing.T) {
	session := func(requests string) string { return `{"id":"a","block_size":64,"requests":[` + requests + `]}` }
	want := func(requests string) string {
		return `{"session":"a","block_size":64,"requests":[` + requests + `]}`
	}
	for _, c := range []struct{ name, text, want string }{
		{"nested", nested,
			`{"session":"n","block_size":10,"shared":true,"requests":[{"in":20,"out":1,"blocks":[[1,2]]},` +
				`{"in":20,"out":1,"blocks":[[5,2]],"delay_ms":1000,"at_ms":2000,"agent":"x"},` +
				`{"in":10,"out":1,"blocks":[[9,1]],"delay_ms":1000,"at_ms":4000,"agent":"deep/y"},` +
				`{"in":20,"out":1,"blocks":[[5,1],[7,1]],"after":[1,2],"at_ms":6000,"agent":"x"},` +
				`{"in":30,"out":1,"blocks":[[1,3]],"after":[0,3],"at_ms":6000}]}`},
		{"the end is not known",
			session(`{"t":0,"in":1,"out":90},{"t":5,"in":1,"out":900,"ttft":1},{"t":10,"in":1,"out":0}`),
			want(`{"in":1,"out":90},{"in":1,"out":900,"delay_ms":3000,"at_ms":5000},{"in":1,"out":1,"at_ms":10000}`)},
		{"tools and users",
			session(`{"t":0,"in":1,"out":1,"api_time":1},{"t":5,"in":1,"out":1,"api_time":1,"think_time":3,` +
				`"input_types":["text","tool_result"]},{"t":9,"in":1,"out":1,"think_time":3,"input_types":["text"]}`),
			want(`{"in":1,"out":1},{"in":1,"out":1,"delay_ms":4000,"tools_ms":3000,"at_ms":5000},{"in":1,"out":1,` +
				`"delay_ms":3000,"at_ms":9000}`)},
		{"requests that overlap", session(`{"t":0,"in":1,"out":1,"api_time":8},{"t":5,"in":1,"out":1}`),
			want(`{"in":1,"out":1},{"in":1,"out":1,"at_ms":5000}`)},
		{"out of order", session(`{"t":5,"in":2,"out":1,"api_time":1},{"t":0,"in":1,"out":1,"api_time":1}`),
			want(`{"in":1,"out":1},{"in":2,"out":1,"delay_ms":4000,"at_ms":5000}`)},
		{"no prompt",
			session(`{"t":0,"in":3,"out":1,"api_time":1},{"t":5,"in":0,"out":1,"api_time":1},{"t":9,"in":1,"out":1}`),
			want(`{"in":3,"out":1},{"in":1,"out":1,"delay_ms":8000,"at_ms":9000}`)},
		{"it was launched and goes on",
			session(`{"t":0,"in":3,"out":1,"api_time":1},{"t":2,"type":"subagent","agent_id":"b","duration_ms":null,` +
				`"requests":[{"t":0,"in":1,"out":1,"api_time":9}]},{"t":3,"in":2,"out":1}`),
			want(`{"in":3,"out":1},{"in":1,"out":1,"delay_ms":1000,"at_ms":2000,"agent":"b"},{"in":2,"out":1,` +
				`"after":[0],"delay_ms":2000,"at_ms":3000}`)},
	} {
		same(t, c.name, c.text, c.want, Options{})
	}
}

func TestAgentXErrors(t *testing.T) {
	refused(t, [][3]string{
		{"requests", `{"block_size":1,"requests":5}`, `line 1: "requests": expected an array: got a number`},
		{"a request", `{"block_size":1,"requests":[5]}`, `requests[0]: expected an object: got a number`},
		{"a block", `{"block_size":0,"requests":[]}`, `"block_size": expected a whole number from 1 to 1048576: got 0`},
		{"no time", `{"block_size":1,"requests":[{"in":1,"out":1}]}`,
			`requests[0]: "t": expected a time from 0 to a year: got nothing`},
		{"a negative one", `{"block_size":1,"requests":[{"t":-1,"in":1,"out":1}]}`,
			`"t": expected a time from 0 to a year: got -1`},
		{"no length", `{"block_size":1,"requests":[{"t":1,"out":1}]}`,
			`"in": expected a whole number from 0 to 16777216: got nothing`},
		{"hashes", `{"block_size":1,"requests":[{"t":1,"in":9,"out":1,"hash_ids":[1,"a"]}]}`,
			`"hash_ids": expected whole numbers from 0 with at most 18 digits: got "a"`},
		{"fractions", `{"block_size":1,"requests":[{"t":1,"in":9,"out":1,"hash_ids":[1.5]}]}`,
			`"hash_ids": expected whole numbers`},
		{"a sub-agent's", `{"block_size":1,"requests":[{"type":"subagent","t":0,"agent_id":"x","requests":[{}]}]}`,
			`requests[0]: sub-agent "x", requests[0]: "t": expected a time`},
		{"deep ones",
			`{"block_size":1,"requests":` + strings.Repeat(`[{"type":"subagent","t":0,"requests":`, 20) + `[]` +
				strings.Repeat(`}]`, 20) + `}`, "sub-agents stand in each other more than 16 deep"},
		{"nothing", `{"block_size":1,"requests":[]}`, "no sessions were found; skipped: sessions without requests (1)"},
	})
}

func BenchmarkAgentX(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"id":"a","block_size":64,"hash_id_scope":"local","requests":[`)
	for i := range 50 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"t":%d,"type":"n","in":%d,"out":100,"api_time":3.5,"hash_ids":[0`, 10*i, 64*(1000+20*i))
		for block := range 999 + 20*i {
			fmt.Fprintf(&text, ",%d", block+1)
		}
		text.WriteString("]}")
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := imported(b, text.String(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
