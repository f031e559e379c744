package history

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// The rule for changes, whose false alarms and power docs/accuracy.md has.
const (
	// level is the share of series without a change in which one is found.
	level        = 0.04
	permutations = 199
	// fewest are the values on each side of a change.
	fewest = 3
	// fewestRuns can tell one: fewer have too few orders for one of them to be rare.
	fewestRuns = 2*fewest + 2
	// mostSeries values of a series are looked at, the newest: the time grows with their square.
	mostSeries = 1000
)

// Changes are the places of a series, in order of time, at which its distribution changes: each is that of the first
// value after the change. The values must be finite.
//
// It is the E-divisive procedure (Matteson and James 2014, "A Nonparametric Approach for Multiple Change Point Analysis
// of Multivariate Data", with α = 1): the series is parted where the energy distance of both sides is largest, as long
// as hardly any permutation of the values within the parts has as large a one. The same values have the same draws.
func Changes(values []float64) (places []int) {
	edges := []int{0, len(values)}
	seed := fnv.New64a()
	_ = binary.Write(seed, binary.LittleEndian, values) // a hash takes everything
	draws := rand.New(rand.NewPCG(seed.Sum64(), 1))
	for {
		at, distance := widest(values, edges)
		if at == 0 || !rare(values, edges, distance, draws) {
			return edges[1 : len(edges)-1]
		}
		i, _ := slices.BinarySearch(edges, at)
		edges = slices.Insert(edges, i, at)
	}
}

// rare reports whether a distance is larger than those of nearly all permutations within the parts. It ends as soon as
// that cannot be so any more.
func rare(values []float64, edges []int, distance float64, draws *rand.Rand) bool {
	values = slices.Clone(values)
	as := int(math.Round(level*(permutations+1))) - 1 // as many may have it
	for range permutations {
		for i, to := range edges[1:] {
			part := values[edges[i]:to]
			draws.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
		}
		if _, other := widest(values, edges); other >= distance*(1-1e-12) { // sums in another order
			if as--; as < 0 {
				return false
			}
		}
	}
	return true
}

// widest is the place with the largest energy distance within any part, and the distance; 0 where there is none.
func widest(values []float64, edges []int) (place int, distance float64) {
	for i, to := range edges[1:] {
		if at, d := split(values[edges[i]:to]); d > distance {
			place, distance = edges[i]+at, d
		}
	}
	return place, distance
}

// split is the place with the largest energy distance of the values before and after it. As a value moves from the side
// after to that before, the sums of distances within and between the sides change by its own distances alone.
func split(values []float64) (place int, distance float64) {
	back, ahead := make([]float64, len(values)), make([]float64, len(values)) // the distances of each value
	all := 0.0
	for i, v := range values {
		for k, w := range values[:i] {
			d := math.Abs(v - w)
			back[i] += d
			ahead[k] += d
		}
		all += back[i]
	}
	within, after := 0.0, all
	for i := range values {
		within, after = within+back[i], after-ahead[i]
		n, m := float64(i+1), float64(len(values)-i-1)
		if n < fewest || m < fewest {
			continue
		}
		d := (2*(all-within-after) - within*2*m/(n-1) - after*2*n/(m-1)) / (n + m)
		if d > distance {
			place, distance = i+1, d
		}
	}
	return place, distance
}
