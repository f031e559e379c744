package grid

import "math"

// parallel are the fields whose product is the number of GPUs, each with its short name.
var parallel = [3][2]string{
	{"tensor_parallel_size", "tp"}, {"pipeline_parallel_size", "pp"}, {"data_parallel_size", "dp"},
}

// GPUs is the number of GPUs of a server by its parallel sizes, and whether it has any of them. Number is the value of
// a field in any spelling, NaN for none; a size that is none, or 0, counts as 1.
func GPUs(number func(key string) float64) (n float64, said bool) {
	n = 1
	for _, keys := range parallel {
		for _, key := range keys {
			if size := number(key); !math.IsNaN(size) {
				said = true
				if size > 0 {
					n *= size
				}
				break
			}
		}
	}
	return n, said
}
