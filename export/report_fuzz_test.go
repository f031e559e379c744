package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// Whatever a journal says, every form of its report can be written and is what it claims to be.
func FuzzReport(f *testing.F) {
	run, requests := sampleRun()
	var sample bytes.Buffer
	w := assert.Must(journal.NewWriter(nil, run.Plan))(f)
	for e := range eventtest.Of(run, eventtest.Each(requests)) {
		w.Take(&e)
	}
	w.WriteTo(&sample)
	f.Add(sample.Bytes())
	f.Add([]byte(
		`{"benchtop_journal":1,"plan":{"request_rate":"inf","metrics":["ttft"],"percentiles":[-5,1e308],` +
			`"goodput":[{"metric":"ttft","limit_ms":"nan"}],` +
			`"ramp":{"strategy":"exponential","from":"inf","to":-1},"gates":[{"metric":"goodput","op":"<",` +
			`"limit":"inf",` +
			`"percent":true}],` +
			`"metadata":[{"key":"benchtop","value":"\u001b"}],"skip_tokenizer":true,"max_concurrency":3}}` + "\n" +
			`{"index":1,"scheduled_us":1,"due_us":1,"admitted_us":1,"sent_us":2,"first_chunk_us":3,` +
			`"last_chunk_us":9000000,"done_us":9000000,"chunks_us":[3,9000000]}` + "\nx\n" +
			`{"event":{"at_us":5,"mark":"a\u001b[1m"}}` + "\n" +
			`{"end":{"ended_us":9000000,"probes":{"latencies_us":[-1]},"spec_decode":{"draft_tokens":1,` +
			`"accepted_per_position":[1]},` +
			`"diffusion":{"committed_tokens":1,"denoising_steps":1}}}` + "\n"))
	f.Add([]byte(
		`{"benchtop_journal":1,"plan":{"stages":[{"rate":"inf"},{"users":-1,"start_ns":-5}],"warmup_ns":1000000}}` +
			"\n" +
			`{"index":1,"sent_us":-5,"done_us":-9,"output_tokens":-4,"failure":"\u202e","error":"\u001b"}` + "\n"))
	f.Add([]byte(`{"benchtop_journal":1,"plan":{"timestamps":"kernel","request_rate":9}}` + "\n" +
		`{"index":1,"scheduled_us":1,"sent_us":900000,"chunks_us":[3,0,0],"done_us":9000000}` + "\n" +
		`{"client":{"at_ns":1,"took_ns":5,"cpu":9e15,"cores":1e-9,"stall_ns":31622400000000000,"clock_step":true,` +
		`"delay_p99_ns":0}}` + "\n" +
		`{"client":{"took_ns":31622400000000000,"cpu":9e15,"sched_ns":31622400000000000,"gc_pause_ns":1}}` + "\n" +
		`{"end":{"ended_us":9000000,"stamps":{"chunks":1,"shared":9007199254740992,"unstamped":9007199254740992,` +
		`"delay_p999_ns":0}}}` + "\n"))
	f.Add([]byte(
		`{"benchtop_journal":1,"plan":{"gpu_price":"inf","find":{"from":"-inf","most":"nan","step_ns":-5,` +
			`"hold_ns":1}}}` + "\n" +
			`{"index":1,"scheduled_us":1,"sent_us":2,"first_chunk_us":3,"chunks_us":[3,9],"done_us":12,` +
			`"server_queue_us":5000000,"server_prefill_us":-3}` + "\n" +
			`{"server":{"at_ns":1,"running":9e15,"waiting":-1,"kv_usage":1e308,"ttft":{"n":9e15,` +
			`"mean_ns":31622400000000000}}}` + "\n" +
			`{"server":{"running":9e15,"kv_usage":1e15,"prefix_queries":0,"prefix_hits":5,"queue":{"n":1e-300,` +
			`"mean_ns":5}}}` + "\n" +
			`{"gpus":{"took_ns":31622400000000000,"each":[{"name":"\u001b[1m","power_w":9e15,"use":-5},{"index":7}]}}` +
			"\n" +
			`{"gpus":{}}` + "\n" +
			`{"event":{"at_us":5,"set":{"rate":"inf","users":3,"paused":true,"ramp_to":9e15,"by":"\u202e"},` +
			`"objectives":[{"metric":"x"},{"limit_ms":"inf"}]}}` + "\n" +
			`{"event":{"at_us":6,"objectives":[]}}` + "\n" +
			`{"end":{"ended_us":12,"server_kind":"\u001b","server_absent":"x","gpus_absent":"y"}}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		var events []event.Event
		const longest = time.Minute // so that no input asks for a timeline of a week
		for e, err := range journal.From(bytes.NewReader(content), "fuzz") {
			if err != nil {
				break
			}
			events = append(events, e)
			if q := e.Request; q != nil {
				for _, at := range append([]metrics.Chunk{{At: q.Done}, {At: q.Due}, {At: q.Sent}, {At: q.LastChunk},
					{At: q.FirstToken}, {At: q.Scheduled}}, q.Chunks...) {
					if at.At > longest {
						return
					}
				}
			}
			if end, ok := e.Value.(metrics.End); ok && end.Ended > longest {
				return
			}
		}
		if len(events) == 0 {
			return
		}
		r := assert.Must(report.Of(func(yield func(event.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}))(t)
		FileName(r.Plan)
		answer := Answer(r)
		if answer == "" || len(answer) > maxAnswerWidth ||
			strings.ContainsFunc(answer, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("answer %q", answer)
		}
		var result, records bytes.Buffer
		if err := JSON(&result, r); err != nil || !json.Valid(result.Bytes()) {
			t.Errorf("%v: %s", err, result.Bytes())
		}
		if err := PyTorch(&records, r, nil); err != nil || !json.Valid(records.Bytes()) {
			t.Errorf("%v: %s", err, records.Bytes())
		}
		fit, _ := Audit(r)
		if text := fit + Text(r) + Telemetry(r) + Remarks(r) + Plots(r, PlotOptions{}); !utf8.ValidString(text) ||
			strings.ContainsAny(text, "\x1b\x07\x00\u202e") {
			t.Errorf("the report is not fit to be shown: %q", text)
		}
	})
}
