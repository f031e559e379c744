package loadgen

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// serverClocks is what a server tells with an answer about the time that the request spent in it until its first token;
// metrics.Never where it does not.
type serverClocks struct{ queue, prefill time.Duration }

func unknownClocks() serverClocks { return serverClocks{metrics.Never, metrics.Never} }

// read takes over what an event, or a whole answer, tells: vLLM's metrics, whose time to the first token counts from when the
// request left the queue, or llama.cpp's timings. The last metrics count, with all that they leave out.
func (c *serverClocks) read(v *fastjson.Value) {
	if told := v.Get("metrics"); told != nil && told.Type() == fastjson.TypeObject {
		c.queue = milliseconds(told.Get("queue_time_ms"))
		c.prefill = milliseconds(told.Get("time_to_first_token_ms"))
	}
	if told := v.Get("timings"); told != nil {
		if prefill := milliseconds(told.Get("prompt_ms")); prefill != metrics.Never {
			c.prefill = prefill
		}
	}
}

// headerClocks reads the clock in the header of an answer of TGI, in milliseconds.
func headerClocks(h *fasthttp.ResponseHeader) serverClocks {
	c := unknownClocks()
	if told := h.Peek("X-Queue-Time"); len(told) > 0 {
		if ms, err := strconv.ParseFloat(string(told), 64); err == nil {
			c.queue = clock(ms)
		}
	}
	return c
}

func milliseconds(v *fastjson.Value) time.Duration {
	if v == nil {
		return metrics.Never
	}
	ms, err := v.Float64()
	if err != nil {
		return metrics.Never
	}
	return clock(ms)
}

// clock is a time in milliseconds that a server told, to the microsecond. What no request can have taken is not believed.
func clock(ms float64) time.Duration {
	const most = float64(24 * time.Hour / time.Millisecond)
	if !(ms >= 0 && ms <= most) {
		return metrics.Never
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
