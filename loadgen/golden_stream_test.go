package loadgen

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// streamCase is an answer with the record that vLLM 0.33.0's own request functions make of it. An event is a pause in
// milliseconds and a piece of the body.
type streamCase struct {
	Backend  string
	Name     string
	Events   [][2]any
	Status   int
	Reason   string
	Encoding string
	Ending   string
	Success  bool
	Error    string
	First    *int     `json:"ttft_event"`
	Gaps     []int    `json:"itl_events"`
	End      *int     `json:"end_event"`
	Output   *int     `json:"output_tokens"`
	Input    int      `json:"prompt_len"`
	Text     string   `json:"generated_text"`
	Queue    *float64 `json:"server_queue_time"`
	Prefill  *float64 `json:"server_ttft"`
}

// answer sends the answer as it was sent to vLLM: each piece by itself after its pause, and the end 40 ms after the
// last.
func (c *streamCase) answer(conn net.Conn, _ *http.Request, _ []byte) bool {
	if c.Status != 0 && c.Status != http.StatusOK {
		var body strings.Builder
		for _, e := range c.Events {
			body.WriteString(e[1].(string))
		}
		_, _ = io.WriteString(conn,
			plainAnswer(strings.TrimSpace(http.StatusText(c.Status)), "application/json", body.String()))
		return false
	}
	_, _ = io.WriteString(conn, streamHead)
	for _, e := range c.Events {
		time.Sleep(time.Duration(e[0].(float64)) * time.Millisecond)
		_, _ = io.WriteString(conn, chunk(c.bytes(e[1].(string))))
	}
	time.Sleep(40 * time.Millisecond)
	if c.Ending != "abort" {
		_, _ = io.WriteString(conn, lastChunk)
	}
	return false
}

// bytes are those of a piece.
func (c *streamCase) bytes(s string) string {
	if c.Encoding != "latin-1" {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
	}
	return b.String()
}

// seen are the moments of a request as numbers of events.
func (c *streamCase) seen(q *metrics.Request) (first int, gaps []int, end int) {
	event := func(at time.Duration) int {
		if at == metrics.Never {
			return -1
		}
		sum := q.Sent
		for i, e := range c.Events {
			if sum += time.Duration(e[0].(float64)) * time.Millisecond; sum == at {
				return i
			}
		}
		return -2
	}
	for i := 1; i < len(q.Chunks); i++ {
		gaps = append(gaps, event(q.Chunks[i].At))
	}
	return event(q.FirstChunk), gaps, event(q.LastChunk)
}

// Every stream is read as vLLM 0.33.0 read it, but for deliberate differences, each with its reason.
func TestGoldenStreams(t *testing.T) {
	var golden struct{ Cases []streamCase }
	readGolden(t, "stream_0.33.json", &golden)
	if n := len(golden.Cases); n != 168 {
		t.Errorf("%d streams, want all 168", n)
	}
	used := map[string]bool{}
	for _, c := range golden.Cases {
		name := c.Backend + "/" + c.Name
		bubble(t, name, func(t *testing.T) {
			s := newScripted(t, c.answer)
			turn := protocol.Smallest(protocol.Named(c.Backend), 8)
			all := loadFrom(t, s, &prompts{n: 1, turn: &turn},
				func(o *Options) { o.Protocol, o.KeepText = protocol.Named(c.Backend), true }, nil)
			problem := c.compare(&all[0])
			want, known := streamDifferences[name]
			used[name] = known
			switch q := &all[0]; {
			case problem == "" && known:
				t.Errorf("is read as vLLM does, though it should differ: %s", want.reason)
			case known && (q.Failure != want.failure || q.Text != want.text || len(q.Chunks) != want.chunks):
				t.Errorf("failure %q, text %q, %d chunks; want %+v", q.Failure, q.Text, len(q.Chunks), want)
			case problem != "" && !known:
				t.Errorf("%s; request %+v", problem, all[0])
			}
		})
	}
	for name, want := range streamDifferences {
		if !used[name] {
			t.Errorf("no case %s (%s)", name, want.reason)
		}
	}
}

// compare describes the difference from vLLM's record, "" for none.
func (c *streamCase) compare(q *metrics.Request) string {
	number := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	first, gaps, end := c.seen(q)
	seconds := func(d time.Duration, p *float64) bool {
		return d == metrics.Never && p == nil ||
			d != metrics.Never && p != nil && d == time.Duration(*p*float64(time.Second)).Round(time.Microsecond)
	}
	switch {
	case q.OK() != c.Success:
		return "success"
	case c.Success && (first != number(c.First) || !slices.Equal(gaps, c.Gaps) || end != number(c.End)):
		return "clocks"
	case c.Success && q.Text != c.Text:
		return "text"
	case c.Success && c.Output != nil && *c.Output > 0 && q.OutputTokens != *c.Output:
		return "output tokens"
	case c.Success && q.InputSource == metrics.TokensFromUsage && q.InputTokens != c.Input:
		return "input tokens"
	case !seconds(q.ServerQueue, c.Queue) || !seconds(q.ServerPrefill, c.Prefill):
		return "server metrics"
	}
	return ""
}

// streamDifference is the outcome of a stream that is read differently, and the reason.
type streamDifference struct {
	reason  string
	failure metrics.Failure
	text    string
	chunks  int
}

// streamDifferences are the streams that are read differently from vLLM 0.33.0, with the reason. docs/compatibility.md
// has them in groups.
var streamDifferences = func() map[string]streamDifference {
	const (
		comments  = "a comment never takes an event with it"
		lineEnds  = "lines may end in CR LF"
		standard  = "the rules of server-sent events hold: fields, several data lines, a byte order mark"
		unended   = "a stream without finish_reason or [DONE] is truncated"
		done      = "[DONE] is the end"
		inStream  = "an error inside the stream is a failure"
		blankLine = "an event is complete with the blank line behind it"
		beside    = "usage beside content is read"
		reasoning = "reasoning_content counts as reasoning does"
		clocks    = "the server's own times are read in each protocol of chunks"
		refusal   = "a refusal is an answer"
		toolCall  = "a tool call is an answer"
	)
	return map[string]streamDifference{
		"openai/usage_only_beside_last_text":                 {beside, "", "ab", 2},
		"openai/ping_single_newline":                         {comments, "", "ab", 2},
		"openai/ping_line_inside_event":                      {comments, "", "abc", 3},
		"openai/crlf_two_events_a_piece":                     {lineEnds, "", "abcd", 4},
		"openai/crlf_ping_first":                             {lineEnds, "", "a", 1},
		"openai/done_missing":                                {unended, metrics.FailedTruncated, "ab", 2},
		"openai/done_in_the_middle":                          {done, "", "a", 1},
		"openai/error_mid_stream":                            {inStream, metrics.FailedInStream, "a", 1},
		"openai/error_last":                                  {inStream, metrics.FailedInStream, "ab", 2},
		"openai/event_split_before_blank_line":               {blankLine, "", "ab", 2},
		"openai/event_split_inside_blank_line":               {blankLine, "", "ab", 2},
		"openai/not_json_first":                              {standard, "", "b", 1},
		"openai/no_blank_after_colon":                        {standard, "", "a", 1},
		"openai/event_line":                                  {standard, "", "a", 1},
		"openai/two_data_lines":                              {standard, "", "a", 1},
		"openai/bom":                                         {standard, "", "a", 1},
		"openai/incomplete_event_at_end":                     {unended, metrics.FailedTruncated, "a", 1},
		"openai/complete_event_without_newline_at_end":       {unended, metrics.FailedTruncated, "ab", 2},
		"openai-chat/reasoning_content_then_content":         {reasoning, "", "ab", 4},
		"openai-chat/reasoning_content_only":                 {reasoning, "", "", 2},
		"openai-chat/usage_in_finish_event_with_content":     {beside, "", "ab", 2},
		"openai-chat/ping_glued":                             {comments, "", "ab", 2},
		"openai-chat/crlf_two_events_a_piece":                {lineEnds, "", "abc", 3},
		"openai-chat/done_missing":                           {unended, metrics.FailedTruncated, "ab", 2},
		"openai-chat/error_mid_stream":                       {inStream, metrics.FailedInStream, "a", 1},
		"openai-chat/event_split_before_blank_line":          {blankLine, "", "ab", 2},
		"openai-chat/refusal_only":                           {refusal, "", "no", 1},
		"openai-responses/refusal_only":                      {refusal, "", "no", 1},
		"openai-responses/tool_arguments_only":               {toolCall, "", "", 2},
		"openai-responses/error_in_delta_ignored":            {inStream, metrics.FailedInStream, "", 0},
		"openai-responses/metrics_ignored":                   {clocks, "", "a", 1},
		"openai-responses/crlf":                              {lineEnds, "", "ab", 2},
		"openai-responses/data_only_split_before_blank_line": {blankLine, "", "ab", 2},
		"openai-audio/ping":                                  {comments, "", "ab", 2},
		"openai-audio/done_missing":                          {unended, metrics.FailedTruncated, "ab", 2},
		"openai-audio/error_mid_stream":                      {inStream, metrics.FailedInStream, "a", 1},
		"openai-audio/metrics_ignored":                       {clocks, "", "a", 1},
	}
}()
