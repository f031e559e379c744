package evidence

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// orders is the distribution of the rank statistic U of n and m values of one population: the share of all their orders
// in which u pairs, one value of each side, have the greater one on the first side. Its generating function is the
// Gaussian binomial coefficient (Mann and Whitney 1947).
func orders(n, m int) []float64 {
	f := make([]float64, n*m+1)
	f[0] = 1
	for i := 1; i <= n; i++ {
		for u := n * m; u >= m+i; u-- {
			f[u] -= f[u-m-i]
		}
		for u := i; u <= n*m; u++ {
			f[u] += f[u-i]
		}
	}
	all := 0.0
	for _, ways := range f {
		all += ways
	}
	for u := range f {
		f[u] /= all
	}
	return f
}

// mostExact is the number of pairs up to which the distribution is exact; its terms cancel each other where there are
// many, and it is normal by then.
const mostExact = 50 * 50

// atMost is the probability that the rank statistic of n and m values of one population is at most u.
func atMost(n, m int) func(u float64) float64 {
	if pairs := float64(n) * float64(m); pairs > mostExact {
		deviation := math.Sqrt(pairs * float64(n+m+1) / 12)
		return func(u float64) float64 { return 0.5 * math.Erfc(-(u+.5-pairs/2)/deviation/math.Sqrt2) }
	}
	sums := orders(n, m)
	for i := range sums[1:] {
		sums[i+1] += sums[i]
	}
	return func(u float64) float64 { return sums[min(max(int(u), 0), len(sums)-1)] }
}

// chance is the two-sided probability of ranks at least as far apart as those of a and b, if both are of one
// population. Ties count half, and the distribution without ties is then an upper bound.
func chance(a, b []float64) float64 {
	u := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				u++
			case x == y:
				u += .5
			}
		}
	}
	u = math.Ceil(min(u, float64(len(a)*len(b))-u))
	return min(1, 2*atMost(len(a), len(b))(u))
}

// shift is by how much b lies above a, with the interval that holds it with a confidence: the median of the differences
// of all pairs, and the differences at which the rank test turns (Hodges and Lehmann 1963).
func shift(a, b []float64, confidence float64) (low, middle, high float64) {
	var all []float64
	for _, x := range a {
		for _, y := range b {
			all = append(all, y-x)
		}
	}
	slices.Sort(all)
	n, below := len(all), atMost(len(a), len(b))
	left := sort.Search(n/2, func(i int) bool { return 2*below(float64(i)) > 1-confidence })
	left = max(0, left-1)
	return all[left], (all[(n-1)/2] + all[n/2]) / 2, all[n-1-left]
}

// corrected are probabilities corrected for how many there are, by the method of Holm (1979): with them, the chance
// that any is below a level by chance is at most that level.
func corrected(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, before := make([]float64, len(p)), 0.0
	for rank, i := range order {
		before = min(1, max(before, p[i]*float64(len(p)-rank)))
		out[i] = before
	}
	return out
}
