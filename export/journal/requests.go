package journal

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// appendRequest appends the line of a request.
func appendRequest(b []byte, q *metrics.Request) []byte {
	l := line{b: append(b, '{')}
	l.putWhole("index", int64(q.Index))
	l.request(q)
	return append(l.b, "}\n"...)
}

// readRequest reads what appendRequest writes.
func readRequest(o *fastjson.Object) (*metrics.Request, error) {
	l, q := line{o: o}, &metrics.Request{ReadDelay: metrics.Never}
	l.count("index", &q.Index)
	l.request(q)
	return q, l.err
}

// request is the line of a request without its index. Times are whole microseconds from the start of the run. Chunk
// times are the first time and then the gaps; token counts of chunks are written only if one differs from 1. The answer
// flag of chunks is not kept: first_answer has all that is used of it.
func (l *line) request(q *metrics.Request) {
	l.count("conversation", &q.Conversation)
	l.count("turn", &q.Turn)
	l.count("turns", &q.Turns)
	text(l, "session", &q.Session)
	text(l, "parent", &q.Parent)
	text(l, "id", &q.ID)
	l.count("server", &q.Server)
	text(l, "class", &q.Class)
	text(l, "model", &q.Model)
	texts(l, "served", &q.Served, metrics.MostAxisHeaders)
	l.moment("scheduled_us", &q.Scheduled)
	l.moment("due_us", &q.Due)
	l.moment("admitted_us", &q.Admitted)
	l.moment("sent_us", &q.Sent)
	l.span("encode_us", &q.Encode)
	l.span("connect_us", &q.Connect)
	l.moment("first_chunk_us", &q.FirstChunk)
	l.span("vllm_later_us", &q.VLLMLater)
	l.moment("first_token_us", &q.FirstToken)
	l.moment("first_answer_us", &q.FirstAnswer)
	l.moment("last_chunk_us", &q.LastChunk)
	l.moment("done_us", &q.Done)
	l.chunks(&q.Chunks)
	l.count("counted_chunks", &q.CountedChunks)
	l.count("inputs", &q.Inputs)
	l.length("audio_ns", &q.Audio)
	l.count("input_tokens", &q.InputTokens)
	switch {
	case !l.reads() && q.DatasetTokens != q.InputTokens:
		l.putWhole("dataset_tokens", int64(q.DatasetTokens))
	case l.reads() && l.o.Get("dataset_tokens") != nil:
		l.count("dataset_tokens", &q.DatasetTokens)
	case l.reads():
		q.DatasetTokens = q.InputTokens
	}
	l.count("output_tokens", &q.OutputTokens)
	text(l, "input_source", &q.InputSource)
	text(l, "output_source", &q.OutputSource)
	l.count("cached_tokens", &q.CachedTokens)
	l.flag("cached_known", &q.CachedKnown)
	if l.reads() {
		q.IdealKnown = l.o.Get("ideal_tokens") != nil
		l.count("ideal_tokens", &q.IdealTokens)
	} else if q.IdealKnown {
		l.putWhole("ideal_tokens", int64(q.IdealTokens))
	}
	l.content(q)
	l.moment("server_queue_us", &q.ServerQueue)
	l.moment("server_prefill_us", &q.ServerPrefill)
	l.count("max_tokens", &q.MaxTokens)
	text(l, "finish", &q.Finish)
	l.flag("refusal", &q.Refusal)
	text(l, "failure", &q.Failure)
	l.count("status", &q.Status)
	text(l, "error", &q.Error)
	text(l, "text", &q.Text)
	l.flag("text_part", &q.TextPart)
	l.flag("judged", &q.Judgement.Judged)
	text(l, "wrong", &q.Judgement.Wrong)
	text(l, "wrong_detail", &q.Judgement.Detail)
	l.flag("vllm_correct", &q.Judgement.Lenient)
	text(l, "garbage", &q.Garbage.Reason)
	text(l, "garbage_detail", &q.Garbage.Detail)
	for i, key := range metrics.TallyKeys {
		l.count(key, &q.Tallies[i])
	}
	if l.reads() || q.Retries() > 0 {
		l.moment("last_try_us", &q.LastTry)
	}
}

// content is what the answer holds beside its text.
func (l *line) content(q *metrics.Request) {
	if v := q.ReasoningTokens; !l.reads() && v >= 0 {
		l.putWhole("reasoning_tokens", int64(v))
	} else if l.reads() {
		if l.count("reasoning_tokens", &q.ReasoningTokens); l.o.Get("reasoning_tokens") == nil {
			q.ReasoningTokens = -1
		}
	}
	l.count("draft_tokens", &q.DraftTokens)
	l.count("accepted_tokens", &q.AcceptedTokens)
	l.count("calls", &q.Calls)
	l.moment("first_call_us", &q.FirstCall)
}

// chunks writes the chunks, or reads those that cutChunks left in the line.
func (l *line) chunks(chunks *[]metrics.Chunk) {
	if l.reads() {
		*chunks = l.readChunks()
	} else {
		l.b = appendChunks(l.b, *chunks)
	}
}

func appendChunks(b []byte, chunks []metrics.Chunk) []byte {
	if len(chunks) == 0 {
		return b
	}
	plain := true
	last := int64(0)
	b = append(b, `,"chunks_us":[`...)
	for i, c := range chunks {
		if i > 0 {
			b = append(b, ',')
		}
		at := c.At.Microseconds()
		b = strconv.AppendInt(b, at-last, 10)
		last = at
		plain = plain && c.Tokens == 1
	}
	b = append(b, ']')
	if plain {
		return b
	}
	b = append(b, `,"chunk_tokens":[`...)
	for i, c := range chunks {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(c.Tokens), 10)
	}
	return append(b, ']')
}

func (l *line) readChunks() []metrics.Chunk {
	gaps := l.array("chunks_us")
	if len(gaps) == 0 {
		return nil
	}
	out := make([]metrics.Chunk, len(gaps))
	at := time.Duration(0)
	for i, v := range gaps {
		at += l.microseconds("chunks_us", v)
		if at < -longestRun || at > longestRun {
			l.fail("chunks_us", "gaps that add up to a time within the run")
			return nil
		}
		out[i] = metrics.Chunk{At: at, Tokens: 1}
	}
	if l.o.Get("chunk_tokens") == nil {
		return out
	}
	tokens := l.array("chunk_tokens")
	if len(tokens) != len(out) {
		l.fail("chunk_tokens", "one count for each of chunks_us")
		return nil
	}
	for i, v := range tokens {
		n, err := v.Int64()
		if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
			l.fail("chunk_tokens", "whole numbers of 32 bits")
			return nil
		}
		out[i].Tokens = int32(n)
	}
	return out
}

// cutChunks removes the chunks from the line of a request, because the parser takes a hundred bytes for each number. A
// line with chunks in another format than appendChunks writes is left to the parser. The chunks take the memory of the
// buffer if they fit.
func cutChunks(line []byte, buffer []metrics.Chunk) (rest []byte, chunks []metrics.Chunk) {
	start := bytes.Index(line, []byte(`,"chunks_us":[`))
	if start < 0 {
		return line, nil
	}
	list := numbers(line[start+len(`,"chunks_us":[`):])
	n := list.count()
	if n == 0 || n > metrics.MostChunks {
		return line, nil
	}
	if chunks = buffer; cap(chunks) < n {
		chunks = make([]metrics.Chunk, n)
	}
	chunks = chunks[:n]
	at := time.Duration(0)
	for i := range chunks {
		us, ok := list.next(i == n-1)
		at += time.Duration(us) * time.Microsecond
		if limit := longestRun.Microseconds(); !ok || us < -limit || us > limit || at < -longestRun || at > longestRun {
			return line, nil
		}
		chunks[i] = metrics.Chunk{At: at, Tokens: 1}
	}
	if after, found := bytes.CutPrefix(list, []byte(`,"chunk_tokens":[`)); found {
		if list = after; list.count() != n {
			return line, nil
		}
		for i := range chunks {
			v, ok := list.next(i == n-1)
			if !ok || v < math.MinInt32 || v > math.MaxInt32 {
				return line, nil
			}
			chunks[i].Tokens = int32(v)
		}
	}
	if elsewhere := []byte(`"chunk_tokens"`); bytes.Contains(line[:start], elsewhere) ||
		bytes.Contains(list, elsewhere) {
		return line, nil
	}
	return append(line[:start], list...), chunks
}

// numbers is the rest of a line from within a list of whole numbers.
type numbers []byte

// count is the number of elements of a list of numbers.
func (l numbers) count() int {
	end := bytes.IndexByte(l, ']')
	if end <= 0 {
		return 0
	}
	return bytes.Count(l[:end], []byte{','}) + 1
}

// next reads a number and the comma after it, or the end of the list after the last one.
func (l *numbers) next(last bool) (v int64, ok bool) {
	const mostDigits = 18
	b := *l
	negative, want := len(b) > 0 && b[0] == '-', byte(',')
	if last {
		want = ']'
	}
	if negative {
		b = b[1:]
	}
	for i, c := range b {
		if d := c - '0'; d <= 9 {
			v = 10*v + int64(d)
			continue
		}
		if c != want || i == 0 || i > mostDigits || b[0] == '0' && i > 1 {
			return 0, false
		}
		if *l = b[i+1:]; negative {
			v = -v
		}
		return v, true
	}
	return 0, false
}
