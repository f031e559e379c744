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

// signs is the distribution of the signed-rank statistic of n changes whose signs are chance: the share of all signs in
// which the ranks of the positive ones add up to at most w (Wilcoxon 1945).
func signs(n int) func(w float64) float64 {
	sums := make([]float64, n*(n+1)/2+1)
	sums[0] = 1
	for rank, most := 1, 0; rank <= n; rank++ {
		most += rank
		for w := most; w >= 0; w-- {
			before := 0.0
			if w >= rank {
				before = sums[w-rank]
			}
			sums[w] = (sums[w] + before) / 2
		}
	}
	for i := range sums[1:] {
		sums[i+1] += sums[i]
	}
	return func(w float64) float64 { return sums[min(max(int(w), 0), len(sums)-1)] }
}

// lowestChance is that of n changes that all have one sign; fewestPaired is the number with one of a level.
func lowestChance(n int) float64 { return math.Exp2(float64(1 - n)) }

func fewestPaired(level float64) float64 { return math.Ceil(1 - math.Log2(level)) }

// pairedChance is the two-sided probability of ranks of changes at least as one-sided, if their signs are chance.
// Changes of one size share their ranks, and the distribution without is then an upper bound; those of 0 say nothing.
func pairedChance(changes []float64) float64 {
	changes = slices.DeleteFunc(slices.Clone(changes), func(v float64) bool { return v == 0 })
	slices.SortFunc(changes, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	positive, all := 0.0, float64(len(changes)*(len(changes)+1)/2)
	for i := 0; i < len(changes); {
		k := i
		for k < len(changes) && math.Abs(changes[k]) == math.Abs(changes[i]) {
			k++
		}
		for j := i; j < k; j++ {
			if changes[j] > 0 {
				positive += float64(i+k+1) / 2
			}
		}
		i = k
	}
	return min(1, 2*signs(len(changes))(math.Ceil(min(positive, all-positive))))
}

// pairedShift is the middle of changes, with the interval that holds it with a confidence: the median of the means of
// all pairs of them, and the values at which the signed-rank test turns (Hodges and Lehmann 1963).
func pairedShift(changes []float64, confidence float64) (low, middle, high float64) {
	var all []float64
	for i, x := range changes {
		for _, y := range changes[i:] {
			all = append(all, (x+y)/2)
		}
	}
	slices.Sort(all)
	n, below := len(all), signs(len(changes))
	left := sort.Search(n/2, func(i int) bool { return 2*below(float64(i)) > 1-confidence })
	left = max(0, left-1)
	return all[left], (all[(n-1)/2] + all[n/2]) / 2, all[n-1-left]
}
