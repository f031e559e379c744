package number

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(99999), "99999"}, {Count(100_000), "100k"}, {Count(1_234_567), "1.2M"},
		{Count(-5), "-5"},
		{Short(0), "0"}, {Short(2.5), "2.5"}, {Short(980), "980"}, {Short(2500), "2.5k"}, {Short(12_500), "12.5k"},
		{Short(999_999), "1M"}, {Short(math.NaN()), "0"}, {Short(math.Inf(1)), "1P"},
		{Rate(0), "0.0"}, {Rate(9.94), "9.9"}, {Rate(47.6), "48"}, {Rate(1e300), "1P"},
		{Latency(850 * time.Microsecond), "850µs"}, {Latency(9810 * time.Microsecond), "9.81ms"},
		{Latency(97300 * time.Microsecond), "97.3ms"}, {Latency(346 * time.Millisecond), "346ms"},
		{Latency(1080 * time.Millisecond), "1.08s"}, {Latency(15100 * time.Millisecond), "15.1s"},
		{Latency(125 * time.Second), "2m05s"},
		{Clock(62 * time.Second), "01:02"}, {Clock(3723 * time.Second), "1:02:03"}, {Clock(-1), "00:00"},
		{Coarse(90 * time.Second), "90s"}, {Coarse(5 * time.Minute), "5m"}, {Coarse(90 * time.Minute), "90m"},
		{Coarse(3 * time.Hour), "3h"},
		{Share(13, 4736), "0.27%"}, {Share(1, 0), "0%"}, {Share(1, 1_000_000), "<0.01%"}, {Share(1, 2), "50.0%"},
		{Latency(Seconds(1.5)), "1.50s"}, {Seconds(math.NaN()).String(), "0s"}, {Seconds(1e300).String(), "277h46m40s"},
		{Tick(200 * time.Millisecond), "200ms"}, {Tick(5 * time.Microsecond), "5µs"}, {Tick(2 * time.Second), "2s"},
	} {
		assert.Equal(t, c.got, c.want, "number")
	}
}
