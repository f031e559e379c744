package journal

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"benchtop/metrics"
)

// appendRequest appends the line of a request. Moments are whole microseconds from the start of the run; one that did
// not come is left out, and so is any other value that is empty. Chunk times are the first moment and then the gaps;
// chunk token counts are there only if one differs from 1. The answer flag of single chunks is not kept: first_answer
// says all that is ever asked about it.
func appendRequest(b []byte, q *metrics.Request) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(q.Index), 10)
	b = appendCount(b, "conversation", q.Conversation)
	b = appendCount(b, "turn", q.Turn)
	b = appendText(b, "session", q.Session)
	b = appendText(b, "parent", q.Parent)
	b = appendText(b, "id", q.ID)
	b = appendText(b, "model", q.Model)
	b = appendMoment(b, "scheduled_us", q.Scheduled)
	b = appendMoment(b, "due_us", q.Due)
	b = appendMoment(b, "admitted_us", q.Admitted)
	b = appendMoment(b, "sent_us", q.Sent)
	b = appendSpan(b, "encode_us", q.Encode)
	b = appendSpan(b, "connect_us", q.Connect)
	b = appendMoment(b, "first_chunk_us", q.FirstChunk)
	b = appendSpan(b, "vllm_later_us", q.VLLMLater)
	b = appendMoment(b, "first_token_us", q.FirstToken)
	b = appendMoment(b, "first_answer_us", q.FirstAnswer)
	b = appendMoment(b, "last_chunk_us", q.LastChunk)
	b = appendMoment(b, "done_us", q.Done)
	b = appendChunks(b, q.Chunks)
	b = appendCount(b, "inputs", q.Inputs)
	b = appendCount(b, "input_tokens", q.InputTokens)
	if q.DatasetTokens != q.InputTokens {
		b = strconv.AppendInt(appendKey(b, "dataset_tokens"), int64(q.DatasetTokens), 10)
	}
	b = appendCount(b, "output_tokens", q.OutputTokens)
	b = appendText(b, "input_source", string(q.InputSource))
	b = appendText(b, "output_source", string(q.OutputSource))
	b = appendCount(b, "cached_tokens", q.CachedTokens)
	b = appendMoment(b, "server_queue_us", q.ServerQueue)
	b = appendMoment(b, "server_prefill_us", q.ServerPrefill)
	b = appendCount(b, "max_tokens", q.MaxTokens)
	b = appendText(b, "finish", q.Finish)
	b = appendText(b, "failure", string(q.Failure))
	b = appendCount(b, "status", q.Status)
	b = appendText(b, "error", q.Error)
	b = appendText(b, "text", q.Text)
	b = appendTruth(b, "text_part", q.TextPart)
	b = appendCount(b, "redials", q.Redials)
	return append(b, "}\n"...)
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

func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, key...)
	return append(b, `":`...)
}

func appendCount(b []byte, key string, v int) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), int64(v), 10)
}

func appendText(b []byte, key, v string) []byte {
	if v == "" {
		return b
	}
	return appendString(appendKey(b, key), v)
}

// appendMoment leaves out a moment that did not come.
func appendMoment(b []byte, key string, at time.Duration) []byte {
	if at == metrics.Never {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), at.Microseconds(), 10)
}

// appendSpan leaves out a length of 0; one that is not known is null.
func appendSpan(b []byte, key string, d time.Duration) []byte {
	switch d {
	case 0:
		return b
	case metrics.Never:
		return append(appendKey(b, key), "null"...)
	}
	return strconv.AppendInt(appendKey(b, key), d.Microseconds(), 10)
}

// cutChunks takes the chunks out of the line of a request, because the parser takes a hundred bytes for each number. A line in
// which they are not as appendChunks writes them stays whole, for the parser to read or to complain about.
func cutChunks(line []byte) (rest []byte, chunks []metrics.Chunk) {
	start := bytes.Index(line, []byte(`,"chunks_us":[`))
	if start < 0 {
		return line, nil
	}
	list := numbers(line[start+len(`,"chunks_us":[`):])
	n := list.count()
	if n == 0 || n > metrics.MostChunks {
		return line, nil
	}
	chunks = make([]metrics.Chunk, n)
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
	if elsewhere := []byte(`"chunk_tokens"`); bytes.Contains(line[:start], elsewhere) || bytes.Contains(list, elsewhere) {
		return line, nil
	}
	return append(line[:start], list...), chunks
}

// numbers is a line from within a list of whole numbers on.
type numbers []byte

// count is how many numbers the list has, if it is one of numbers.
func (l numbers) count() int {
	end := bytes.IndexByte(l, ']')
	if end <= 0 {
		return 0
	}
	return bytes.Count(l[:end], []byte{','}) + 1
}

// next reads a number and what follows it: a comma, or, after the last one, the end of the list.
func (l *numbers) next(last bool) (v int64, ok bool) {
	const mostDigits = 18
	b := *l
	i, sign, want := 0, int64(1), byte(',')
	if last {
		want = ']'
	}
	if i < len(b) && b[i] == '-' {
		i, sign = 1, -1
	}
	first := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if i-first == mostDigits {
			return 0, false
		}
		v = 10*v + int64(b[i]-'0')
	}
	if i == first || b[first] == '0' && i > first+1 || i == len(b) || b[i] != want {
		return 0, false
	}
	*l = b[i+1:]
	return sign * v, true
}
