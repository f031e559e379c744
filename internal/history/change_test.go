package history

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

var calibrate = flag.Int("calibrate", 0, "repetitions of the table of change points; 0 for the short test")

// noise is a kind of scatter of the figures of runs, of a standard deviation of about 1.
type noise struct {
	name string
	draw func(r *rand.Rand, n int) []float64
}

// correlated is noise each value of which has a share of the one before.
func correlated(share float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) (all []float64) {
		last := r.NormFloat64()
		for range n {
			last = share*last + math.Sqrt(1-share*share)*r.NormFloat64()
			all = append(all, last)
		}
		return all
	}
}

var noises = []noise{
	{"normal", correlated(0)},
	{"log-normal", func(r *rand.Rand, n int) (all []float64) {
		for range n {
			all = append(all, (math.Exp(r.NormFloat64())-math.Exp(.5))/math.Sqrt(math.E*(math.E-1)))
		}
		return all
	}},
	{"one in ten far off", func(r *rand.Rand, n int) (all []float64) {
		for range n {
			v := r.NormFloat64()
			if r.Float64() < .1 {
				v *= 5
			}
			all = append(all, v/math.Sqrt(.9+.1*25))
		}
		return all
	}},
	{"autocorrelated by 0.3", correlated(.3)},
}

// series are figures of so many runs around 100, scattered by a percentage, which a step of 10 % follows from a place
// on.
func series(r *rand.Rand, of noise, n int, percent float64, step int) []float64 {
	all := of.draw(r, n)
	for i := range all {
		all[i] = 100 + percent*all[i]
		if i >= step {
			all[i] += 10
		}
	}
	return all
}

// alarm reports whether the t test at the place of the widest split says that there is a change.
func alarm(values []float64) bool {
	at, _ := split(values)
	if at == 0 {
		return false
	}
	moments := func(v []float64) (mean, variance float64) {
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			variance += (x - mean) * (x - mean) / float64(len(v)-1)
		}
		return mean, variance / float64(len(v))
	}
	a, va := moments(values[:at])
	b, vb := moments(values[at:])
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(values) - 2)}
	return 2*t.Survival(math.Abs(a-b)/math.Sqrt(va+vb)) < level
}

// TestCalibration bounds the share of series without a change in which one is found. With -calibrate it prints the
// table of docs/accuracy.md.
func TestCalibration(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	reps := max(60, *calibrate)
	var table strings.Builder
	all, alarms, tests := 0, 0, 0
	for i, of := range noises {
		for j, n := range []int{10, 20, 50, 100} {
			r := rand.New(rand.NewPCG(uint64(10*i+j), 3))
			var found, tested int
			for range reps {
				values := series(r, of, n, 3, n)
				if len(Changes(values)) > 0 {
					found++
				}
				if alarm(values) {
					tested++
				}
			}
			if i < 3 { // the rule takes runs as independent
				all, alarms, tests = all+reps, alarms+found, tests+tested
			}
			fmt.Fprintf(&table, "| %s | %d | %.1f %% | %.0f %% |", of.name, n, 100*float64(found)/float64(reps),
				100*float64(tested)/float64(reps))
			for _, percent := range []float64{3, 5, 10} {
				hits := 0
				for range *calibrate / 4 {
					near := func(at int) bool { return max(at-n/2, n/2-at) <= 2 }
					if slices.ContainsFunc(Changes(series(r, of, n, percent, n/2)), near) {
						hits++
					}
				}
				fmt.Fprintf(&table, " %.0f %% |", 100*float64(hits)/float64(max(1, *calibrate/4)))
			}
			table.WriteByte('\n')
		}
	}
	if *calibrate > 0 {
		t.Logf("%d repetitions\n%s", reps, table.String())
	}
	if share := float64(alarms) / float64(all); share > level+3*math.Sqrt(level/float64(all)) {
		t.Errorf("%.3f of %d series without a change have one", share, all)
	}
	if tests < 3*alarms {
		t.Errorf("a t test at the best place has %d alarms of %d, hardly more than %d", tests, all, alarms)
	}
}

func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	step := func(levels ...float64) (all []float64) {
		for _, l := range levels {
			for range 12 {
				all = append(all, l+r.NormFloat64())
			}
		}
		return all
	}
	outlier := step(100, 100)
	outlier[7] = 1e6
	for name, c := range map[string]struct {
		values []float64
		want   []int
	}{
		"none":          {nil, []int{}},
		"one":           {[]float64{1}, []int{}},
		"too few":       {[]float64{1, 1, 9, 9, 9}, []int{}},
		"constant":      {slices.Repeat([]float64{5}, 40), []int{}},
		"noise":         {step(100, 100, 100), []int{}},
		"an outlier":    {outlier, []int{}},
		"step":          {step(100, 110), []int{12}},
		"up and down":   {step(100, 110, 100), []int{12, 24}},
		"stairs":        {step(100, 110, 120, 130), []int{12, 24, 36}},
		"two values":    {append(slices.Repeat([]float64{1}, 8), slices.Repeat([]float64{2}, 8)...), []int{8}},
		"the last runs": {append(step(100, 100), 120, 121, 119), []int{24}},
		"huge":          {append(slices.Repeat([]float64{1e300}, 8), slices.Repeat([]float64{-1e300}, 8)...), []int{8}},
	} {
		assert.EqualAll(t, Changes(c.values), c.want, "%s", name)
	}
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 200, 201, 202, 203})
	f.Fuzz(func(t *testing.T, data []byte) {
		var values []float64
		for _, b := range data[:min(len(data), 64)] {
			values = append(values, math.Pow(float64(b)-128, 3))
		}
		last := 0
		for _, at := range Changes(values) {
			if at < last+fewest || at > len(values)-fewest {
				t.Errorf("a change at %d behind %d of %d", at, last, len(values))
			}
			last = at
		}
	})
}

func BenchmarkChanges(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	values := series(r, noises[0], mostSeries, 3, mostSeries/2)
	for b.Loop() {
		Changes(values)
	}
}
