package saturation

import "math"

// probShareAtLeast is the probability that the true share of good requests is at least least, when good of n were. It follows from
// Bayes' rule with a uniform prior, and is that of a beta distribution,
//
//	P(share >= least) = 1 - I_least(good+1, n-good+1) = P(X <= good), X binomial of n+1 draws with chance least,
//
// where the sum of the binomial's terms is exact for any n. It assumes independent requests, which neighbours in a queue are not, so it
// is a lower bound for the effect of chance.
func probShareAtLeast(good, n int, least float64) float64 {
	switch {
	case n <= 0 || good < 0 || good > n || math.IsNaN(least):
		return 0
	case least <= 0:
		return 1
	case least >= 1:
		return 0
	}
	draws := n + 1
	odds := least / (1 - least)
	if float64(good) >= float64(draws)*least {
		// The terms above good are the smaller part, and fall from there.
		sum, term := 0.0, binomial(good+1, draws, least)
		for k := good + 1; k <= draws && term > sum*1e-17; k++ {
			sum += term
			term *= float64(draws-k) / float64(k+1) * odds
		}
		return max(0, 1-sum)
	}
	sum, term := 0.0, binomial(good, draws, least)
	for k := good; k >= 0 && term > sum*1e-17; k-- {
		sum += term
		term *= float64(k) / float64(draws-k+1) / odds
	}
	return min(sum, 1)
}

// binomial is the chance of k out of n.
func binomial(k, n int, p float64) float64 {
	lgamma := func(v int) float64 {
		l, _ := math.Lgamma(float64(v))
		return l
	}
	return math.Exp(lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
