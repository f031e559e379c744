package loadgen

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"benchtop/loadgen/protocol"
)

// headerClocks reads the clock in the header of an answer of TGI, in milliseconds.
func headerClocks(h *fasthttp.ResponseHeader) protocol.Clocks {
	c := protocol.UnknownClocks()
	if told := h.Peek("X-Queue-Time"); len(told) > 0 {
		if ms, err := strconv.ParseFloat(string(told), 64); err == nil {
			c.Queue = protocol.Milliseconds(ms)
		}
	}
	return c
}
