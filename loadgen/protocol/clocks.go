package protocol

import (
	"time"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// Clocks are what a server tells with an answer about the time that the request spent in it until its first token;
// metrics.Never where it does not.
type Clocks struct{ Queue, Prefill time.Duration }

// UnknownClocks are those of a server that tells nothing.
func UnknownClocks() Clocks { return Clocks{metrics.Never, metrics.Never} }

// read takes over what an event, or a whole answer, tells: vLLM's metrics, whose time to the first token counts from when the
// request left the queue, or llama.cpp's timings. The last metrics count, with all that they leave out.
func (c *Clocks) read(v *fastjson.Value) {
	if told := v.Get("metrics"); told != nil && told.Type() == fastjson.TypeObject {
		c.Queue = milliseconds(told.Get("queue_time_ms"))
		c.Prefill = milliseconds(told.Get("time_to_first_token_ms"))
	}
	if told := v.Get("timings"); told != nil {
		if prefill := milliseconds(told.Get("prompt_ms")); prefill != metrics.Never {
			c.Prefill = prefill
		}
	}
}

func milliseconds(v *fastjson.Value) time.Duration {
	if v == nil {
		return metrics.Never
	}
	ms, err := v.Float64()
	if err != nil {
		return metrics.Never
	}
	return Milliseconds(ms)
}

// Milliseconds is a time in milliseconds that a server told, to the microsecond. What no request can have taken is not believed.
func Milliseconds(ms float64) time.Duration {
	const most = float64(24 * time.Hour / time.Millisecond)
	if !(ms >= 0 && ms <= most) {
		return metrics.Never
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
