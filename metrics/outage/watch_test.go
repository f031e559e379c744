package outage

import (
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestReason(t *testing.T) {
	for _, c := range []struct {
		kind        metrics.Failure
		words, want string
	}{
		{metrics.FailedConnect, "dial tcp [::1]:8000: connect: connection refused", "connection refused"},
		{metrics.FailedConnect, "dial tcp: lookup gpu: no such host", "unknown host"},
		{metrics.FailedConnect, "connect: no route to host", "no route to the host"},
		{metrics.FailedConnect, "connect: network is unreachable", "network unreachable"},
		{metrics.FailedConnect, "i/o timeout", "no connection"},
		{metrics.FailedReset, "read: connection reset by peer", "connection reset"},
		{metrics.FailedReset, "write: broken pipe", "connection reset"},
		{metrics.FailedReset, "EOF", "connection closed"},
		{metrics.FailedStall, "no chunk came for 1m0s after chunk 7", "requests time out"},
	} {
		assert.Equal(t, reason(&metrics.Request{Failure: c.kind, Error: c.words}), c.want, "%s, %s", c.kind, c.words)
	}
}
