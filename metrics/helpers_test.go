package metrics

import "bytes"

func compareHistograms(a, b Histogram) bool {
	x, _ := a.MarshalBinary()
	y, _ := b.MarshalBinary()
	return bytes.Equal(x, y)
}
