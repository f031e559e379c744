package lengths

import (
	"fmt"
	"math"
	"slices"

	"benchtop/internal/hf/numpy"
)

// Pair is the lengths of a request, in tokens.
type Pair struct{ Input, Output int32 }

// Draw draws the lengths of n requests from gen, one kind after the other: the pairs of all, a double each, unless
// there is only one; then the input lengths of all; then the output lengths of all. A fixed length draws nothing, a
// uniform one what numpy's integers() draws, and a normal or lognormal one a double. A zipf length takes a double, and
// at times further ones.
func (m Mix) Draw(gen *numpy.Generator, n int) []Pair {
	share := make([]uint8, n)
	if len(m) > 1 {
		weights := make([]float64, len(m))
		for i, s := range m {
			weights[i] = s.Weight
		}
		for i := range share {
			share[i] = uint8(gen.ChoiceWeighted(weights))
		}
	}
	inputs, outputs := make([]func(*numpy.Generator) int, len(m)), make([]func(*numpy.Generator) int, len(m))
	for i, s := range m {
		inputs[i], outputs[i] = s.Input.drawer(), s.Output.drawer()
	}
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i].Input = int32(inputs[share[i]](gen))
	}
	for i := range pairs {
		pairs[i].Output = int32(outputs[share[i]](gen))
	}
	return pairs
}

// Drawer returns a function that draws from gen.
func (d Distribution) Drawer(gen *numpy.Generator) func() int {
	draw := d.drawer()
	return func() int { return draw(gen) }
}

// drawer returns a function that draws lengths.
func (d Distribution) drawer() func(*numpy.Generator) int {
	switch {
	case d.Name == "":
		return func(*numpy.Generator) int { return d.Min }
	case d.Name == uniform:
		return func(gen *numpy.Generator) int { return int(gen.Integers(int64(d.Min), int64(d.Max)+1)) }
	case d.Name == zipf:
		return d.zipf()
	case d.Std == 0:
		return func(*numpy.Generator) int { return d.whole(d.Mean) }
	}
	// The inverse of the distribution function, over the part of it that lies within the bounds: one double a length,
	// and no length is more likely for being a bound.
	lo, hi := d.probabilities()
	mu, sigma := d.logs()
	return func(gen *numpy.Generator) int {
		z := math.Sqrt2 * math.Erfinv(2*(lo+(hi-lo)*gen.Float64())-1)
		if d.Name == lognormal {
			return d.whole(math.Exp(mu + sigma*z))
		}
		return d.whole(d.Mean + d.Std*z)
	}
}

// whole is the nearest length within the bounds.
func (d Distribution) whole(length float64) int {
	return int(min(max(math.Round(length), float64(d.Min)), float64(d.Max)))
}

// logs are mean and standard deviation of the logarithms of lognormal lengths whose own are Mean and Std.
func (d Distribution) logs() (mu, sigma float64) {
	variance := math.Log1p(d.Std / d.Mean * (d.Std / d.Mean))
	return math.Log(d.Mean) - variance/2, math.Sqrt(variance)
}

// bounds are those of the lengths, as standard deviations from the mean of the normal distribution behind them. Half a
// token more on both sides rounds to a length within.
func (d Distribution) bounds() (lo, hi float64) {
	least, most := float64(d.Min)-0.5, float64(d.Max)+0.5
	if d.Name == lognormal {
		mu, sigma := d.logs()
		return (math.Log(least) - mu) / sigma, (math.Log(most) - mu) / sigma
	}
	return (least - d.Mean) / d.Std, (most - d.Mean) / d.Std
}

// probabilities are those of lengths below the bounds, and of lengths up to them.
func (d Distribution) probabilities() (lo, hi float64) {
	if d.Std == 0 {
		if d.Mean < float64(d.Min) || d.Mean > float64(d.Max) {
			return 0, 0
		}
		return 0, 1
	}
	lo, hi = d.bounds()
	return phi(lo), phi(hi)
}

// phi is the distribution function of the standard normal distribution.
func phi(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// zipf draws by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", 1996), for any alpha above 0. area is the integral of (x/Min)^-alpha from Min on, as precise
// near alpha = 1.
func (d Distribution) zipf() func(*numpy.Generator) int {
	least, beta := float64(d.Min), 1-d.Alpha
	height := func(x float64) float64 { return math.Pow(x/least, -d.Alpha) }
	area := func(x float64) float64 {
		log := math.Log(x / least)
		return least * log * overArgument(math.Expm1, beta*log)
	}
	inverse := func(area float64) float64 {
		area /= least
		return least * math.Exp(area*overArgument(math.Log1p, max(beta*area, -1)))
	}
	from, to := area(least+0.5)-1, area(float64(d.Max)+0.5)
	return func(gen *numpy.Generator) int {
		for {
			under := to + gen.Float64()*(from-to)
			length := d.whole(inverse(under))
			if under >= area(float64(length)+0.5)-height(float64(length)) {
				return length
			}
		}
	}
}

// overArgument is f(x)/x, which is 1 at 0.
func overArgument(f func(float64) float64, x float64) float64 {
	if x == 0 {
		return 1
	}
	return f(x) / x
}

// Summary describes lengths that were drawn.
type Summary struct {
	Mean     float64
	P50, P99 int
}

// Summarize describes the lengths of n requests: the input's, and the output's.
func Summarize(n int, pair func(i int) Pair) (input, output Summary) {
	all := make([]int32, n)
	of := func(length func(Pair) int32) (s Summary) {
		if len(all) == 0 {
			return s
		}
		sum := 0
		for i := range all {
			all[i] = length(pair(i))
			sum += int(all[i])
		}
		slices.Sort(all)
		at := func(share float64) int { return int(all[int(math.Ceil(share*float64(len(all))))-1]) }
		return Summary{Mean: float64(sum) / float64(len(all)), P50: at(0.5), P99: at(0.99)}
	}
	return of(func(p Pair) int32 { return p.Input }), of(func(p Pair) int32 { return p.Output })
}

// String is for a person.
func (s Summary) String() string {
	return fmt.Sprintf("mean %.1f, P50 %d, P99 %d", s.Mean, s.P50, s.P99)
}

// Doubt is a warning where the bounds move the mean of a distribution by more than a twentieth, "" where they do not.
func (m Mix) Doubt() string {
	for _, s := range m {
		for _, d := range []Distribution{s.Input, s.Output} {
			if d.Name != normal && d.Name != lognormal {
				continue
			}
			if mean := d.meanWithin(); math.Abs(mean-d.Mean) > d.Mean/20 {
				return fmt.Sprintf("lengths: %s has a mean of %.0f within its bounds (%d to %d), not of %g", d, mean,
					d.Min, d.Max, d.Mean)
			}
		}
	}
	return ""
}
