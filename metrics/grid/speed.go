package grid

import "math"

// SpeedKey is the output speed of users: a statistic in the object benchtop of a result, its median as a field of a
// record.
const SpeedKey = "output_token_throughput_per_user"

// UserSpeed is how fast an answer comes to a user, in output tokens/s: the median by the record's own word, which may
// be that there is none, else by its median TPOT. Where it has neither, users of a closed loop share the throughput.
// NaN for unknown. Number is the value of a field, NaN for null, and whether the record has it.
func UserSpeed(number func(key string) (v float64, said bool)) float64 {
	v, said := number(SpeedKey)
	if !said {
		tpot, _ := number("median_tpot_ms")
		v = 1000 / tpot
	}
	if v > 0 && !math.IsInf(v, 1) {
		return v
	}
	if rate, said := number("request_rate"); said && !math.IsInf(rate, 1) {
		return math.NaN() // the limit is not reached at all times, perhaps never
	}
	throughput, _ := number("output_throughput")
	users, _ := number("max_concurrency")
	if v = throughput / users; !(users > 0) || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
