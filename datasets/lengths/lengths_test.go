package lengths

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want Distribution
		back string // "" for text
	}{
		{"256", Fixed(256), ""},
		{" 1 ", Fixed(1), "1"},
		{"uniform min=10 max=20", Distribution{Name: "uniform", Min: 10, Max: 20}, ""},
		{"uniform max=20,min=1", Distribution{Name: "uniform", Min: 1, Max: 20}, "uniform min=1 max=20"},
		{"normal mean=1024 std=200", Distribution{Name: "normal", Mean: 1024, Std: 200, Min: 1, Max: Most}, ""},
		{"normal std=0 mean=0.5e3", Distribution{Name: "normal", Mean: 500, Min: 1, Max: Most},
			"normal mean=500 std=0"},
		{"lognormal,mean=1024,std=600,max=8192", Distribution{Name: "lognormal", Mean: 1024, Std: 600, Min: 1,
			Max: 8192}, "lognormal mean=1024 std=600 max=8192"},
		{"lognormal mean=1024 std=600 min=16 max=8192",
			Distribution{Name: "lognormal", Mean: 1024, Std: 600, Min: 16, Max: 8192}, ""},
		{"zipf alpha=1 max=8192", Distribution{Name: "zipf", Alpha: 1, Min: 1, Max: 8192}, ""},
		{"zipf alpha=1.2 min=100 max=16777216", Distribution{Name: "zipf", Alpha: 1.2, Min: 100, Max: Most}, ""},
	} {
		got := assert.Must(Parse(test.text))(t)
		assert.Equal(t, got, test.want, "%q", test.text)
		test.back = cmp.Or(test.back, test.text)
		assert.Equal(t, got.String(), test.back, "%q", test.text)
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `expected a length, or a distribution such as "lognormal mean=1024 std=600 max=8192"`},
		{" , ", `expected a length`},
		{"0", `expected a whole number from 1 to 16777216: got "0"`},
		{"99999999999999999999", `expected a whole number from 1 to 16777216`},
		{"-5", `unknown distribution "-5"; use a number, uniform, normal, lognormal or zipf`},
		{"Normal mean=1 std=1", `unknown distribution "Normal"`},
		{"256 128", `unknown distribution "256"`},
		{"normal 100 10",
			`"100": unknown parameter of normal; expected normal mean=… std=…, and min and max if wanted`},
		{"normal mean=100", `std is missing; expected normal mean=… std=…`},
		{"normal mean=100 stddev=5", `"stddev=5": unknown parameter of normal`},
		{"normal mean=100 std=5 mean=6", `mean is given twice`},
		{"normal mean= std=5", `mean: expected a number from 0 to 16777216: got ""`},
		{"normal mean=0x10 std=5", `mean: expected a number`},
		{"normal mean=nan std=5", `mean: expected a number`},
		{"normal mean=5 std=inf", `std: expected a number`},
		{"normal mean=5 std=-1", `std: expected a number`},
		{"normal mean=5 std=1 max=4.5", `max: expected a whole number`},
		{"normal mean=5 std=1 min=9 max=8", `min 9 is more than max 8`},
		{"normal mean=100 std=1 max=90", `hardly any of its lengths lie within min 1 and max 90`},
		{"normal mean=100 std=0 max=90", `hardly any`},
		{"lognormal mean=100 std=1 min=200", `hardly any`},
		{"lognormal mean=0 std=1", `mean of lognormal must be above 0`},
		{"lognormal mean=1e-300 std=1e7", `hardly any`},
		{"uniform min=5", `max is missing; expected uniform min=… max=…`},
		{"uniform min=5 max=6 mean=5", `"mean=5": unknown parameter of uniform`},
		{"zipf alpha=1.2", `max is missing; expected zipf alpha=… max=…, and min if wanted`},
		{"zipf alpha=0 max=10", `alpha must be above 0; for equal weights use uniform min=1 max=10`},
		{"zipf alpha=101 max=10", `alpha: expected a number from 0 to 100`},
		{"zipf" + strings.Repeat("x", 1000), `xxx…"; use a number`},
	} {
		_, err := Parse(test.text)
		complains(t, test.text, err, test.want)
	}
}

func TestParseMix(t *testing.T) {
	long := Distribution{Name: "lognormal", Mean: 4096, Std: 2000, Min: 1, Max: 16384}
	for _, test := range []struct {
		text, back string
		want       Mix
	}{
		{"1:256/128", "1: 256/128", Mix{{1, Fixed(256), Fixed(128)}}},
		{" 60: 256/128; 40: lognormal mean=4096 std=2000 max=16384/512 ;",
			"60: 256/128; 40: lognormal mean=4096 std=2000 max=16384/512",
			Mix{{60, Fixed(256), Fixed(128)}, {40, long, Fixed(512)}}},
		{"0.5:1/uniform min=1 max=2", "0.5: 1/uniform min=1 max=2",
			Mix{{0.5, Fixed(1), Distribution{Name: "uniform", Min: 1, Max: 2}}}},
	} {
		got, err := ParseMix(test.text)
		if err != nil || !reflect.DeepEqual(got, test.want) || got.String() != test.back {
			t.Errorf("%q: got %v, error %v, want %v", test.text, got, err, test.want)
		}
		if text, err := json.Marshal(got); string(text) != `"`+test.back+`"` {
			t.Errorf("%q: got JSON %s, error %v", test.text, text, err)
		}
	}
}

func TestParseMixErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `"": expected WEIGHT: INPUT/OUTPUT, such as "60: 256/128"`},
		{"256/128", `"256/128": expected WEIGHT: INPUT/OUTPUT`},
		{"60: 256", `"60: 256": expected WEIGHT: INPUT/OUTPUT`},
		{"60: 256/128;; 1: 1/1", `"": expected WEIGHT`},
		{"0: 256/128", `weight: expected a number above 0: got "0"`},
		{"60%: 256/128", `weight: expected a number above 0: got "60%"`},
		{"60: normal mean=5/128", `input: std is missing`},
		{"60: 256/", `output: expected a length`},
		{"60: 256|10/128|5", `input: unknown distribution "256|10"`},
		{strings.Repeat("1:1/1;", 101), `more than 100 pairs`},
	} {
		_, err := ParseMix(test.text)
		complains(t, test.text, err, test.want)
	}
}

func complains(t *testing.T, text string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%.60q: got error %v, want %q", text, err, want)
	} else if len(err.Error()) > 600 {
		t.Errorf("%.60q: got an error of %d bytes", text, len(err.Error()))
	}
}

// share is the proportion of a length in what Draw is to draw, by summing; NaN for no distribution.
func share(d Distribution, length int) float64 {
	k := float64(length)
	part := func(from, to float64) float64 { return phi(to) - phi(from) }
	switch d.Name {
	case "":
		return 1
	case uniform:
		return 1
	case zipf:
		return math.Pow(k/float64(d.Min), -d.Alpha)
	case normal:
		return part((k-0.5-d.Mean)/d.Std, (k+0.5-d.Mean)/d.Std)
	case lognormal: // by the moments of the logarithm
		variance := math.Log(1 + d.Std*d.Std/d.Mean/d.Mean)
		z := func(x float64) float64 { return (math.Log(x) - math.Log(d.Mean) + variance/2) / math.Sqrt(variance) }
		return part(z(k-0.5), z(k+0.5))
	}
	return math.NaN()
}

// The lengths drawn have the distribution that was asked for, cut at its bounds: their distribution function differs
// nowhere by more than chance lets it (the test of Kolmogorov and Smirnov), and their mean is that of the sum of all
// lengths. Seeds are fixed.
func TestDrawnDistributions(t *testing.T) {
	ci.SkipUnderRace(t)
	const n = 200_000
	for _, text := range []string{
		"7", "uniform min=3 max=9", "normal mean=500 std=100", "normal mean=20 std=30 max=60",
		"normal mean=100 std=0.3", "normal mean=0 std=400 min=300",
		"lognormal mean=1024 std=600 max=8192", "lognormal mean=100 std=500 max=20000", "lognormal mean=50 std=1",
		"lognormal mean=4096 std=2000 min=4000 max=5000",
		"zipf alpha=1 max=5000", "zipf alpha=0.5 max=300", "zipf alpha=1.00000001 max=700",
		"zipf alpha=2.5 min=10 max=100000", "zipf alpha=100 min=1000 max=2000",
		"zipf alpha=3 max=1", "zipf alpha=50 max=9",
	} {
		d := assert.Must(Parse(text))(t)
		most := min(d.Max, 200_000)
		counts, total, mean := map[int]int{}, 0.0, 0.0
		for length := d.Min; length <= most; length++ {
			total += share(d, length)
			mean += share(d, length) * float64(length)
		}
		mean /= total
		pairs := Mix{{1, d, Fixed(1)}}.Draw(numpy.NewGenerator(42), n)
		spread := 0.0
		for _, p := range pairs {
			if counts[int(p.Input)]++; int(p.Input) < d.Min || int(p.Input) > d.Max {
				t.Fatalf("%s: drew %d", text, p.Input)
			}
			spread += (float64(p.Input) - mean) * (float64(p.Input) - mean)
		}
		want, got, apart := 0.0, 0, 0.0
		for length := d.Min; length <= most; length++ {
			want += share(d, length) / total
			got += counts[length]
			apart = max(apart, math.Abs(want-float64(got)/n))
		}
		if apart > 1.95/math.Sqrt(n) {
			t.Errorf("%s: the distribution functions differ by %.5f", text, apart)
		}
		input, _ := Summarize(len(pairs), func(i int) Pair { return pairs[i] })
		if off := math.Abs(input.Mean - mean); off > 4*math.Sqrt(spread)/n+1e-9 {
			t.Errorf("%s: drew a mean of %f, want %f", text, input.Mean, mean)
		}
		if within := d.meanWithin(); within > 0 && math.Abs(within-mean) > 0.01*mean {
			t.Errorf("%s: says a mean of %f, want %f", text, within, mean)
		}
	}
}

// Input lengths do not change with the output's distribution, nor with the number of prompts the share of a prompt.
func TestDrawOrder(t *testing.T) {
	gen := numpy.NewGenerator(3)
	m := assert.Must(ParseMix("3: normal mean=100 std=20/uniform min=1 max=9; 1: 7/8"))(t)
	got := m.Draw(gen, 5)
	again := numpy.NewGenerator(3)
	var shares []int
	for range got {
		shares = append(shares, again.ChoiceWeighted([]float64{3, 1}))
	}
	for i, p := range got {
		want := 7
		if shares[i] == 0 {
			want = m[0].Input.drawer()(again)
		}
		if int(p.Input) != want {
			t.Errorf("prompt %d: got %d, want %d", i, p.Input, want)
		}
	}
	for i, p := range got {
		want := 8
		if shares[i] == 0 {
			want = 1 + int(again.Integers(0, 9))
		}
		if int(p.Output) != want {
			t.Errorf("answer %d: got %d, want %d", i, p.Output, want)
		}
	}
	assert.Equal(t, *gen, *again, "the generator has moved another way")
	if before := *gen; len(Mix{{1, Fixed(3), Fixed(4)}}.Draw(gen, 9)) != 9 || *gen != before {
		t.Error("fixed lengths draw")
	}
}

func TestSummarize(t *testing.T) {
	var pairs []Pair
	for i := range int32(100) {
		pairs = append(pairs, Pair{100 - i, 5})
	}
	input, output := Summarize(len(pairs), func(i int) Pair { return pairs[i] })
	if input != (Summary{50.5, 50, 99}) || output != (Summary{5, 5, 5}) ||
		input.String() != "mean 50.5, P50 50, P99 99" {
		t.Errorf("got %v, %v", input, output)
	}
	if input, output = Summarize(0, nil); input != (Summary{}) || output != input {
		t.Errorf("of nothing: got %v", input)
	}
}

func TestDoubt(t *testing.T) {
	for text, want := range map[string]string{
		"1: normal mean=1000 std=200/uniform min=1 max=900": "",
		"1: lognormal mean=4096 std=2000 max=16384/512":     "",
		"1: 5/lognormal mean=4096 std=4000 max=6000": "lengths: lognormal mean=4096 std=4000 " +
			"max=6000 has a mean of 2646 within its bounds (1 to 6000), not of 4096",
		"9: 5/5; 1: normal mean=10 std=10/5; 1: 6/normal mean=9 " +
			"std=9": "lengths: normal mean=10 std=10 has a mean of 13 within its bounds (1 to 16777216), not of 10",
	} {
		assert.Equal(t, assert.Must(ParseMix(text))(t).Doubt(), want, "%s", text)
	}
}

// FuzzMix holds that a mix that is read draws lengths within its bounds, and is written so that it is read back.
func FuzzMix(f *testing.F) {
	for _, text := range []string{"", "1:1/1", "60: 256/128; 40: lognormal mean=4096 std=2000 max=16384/512",
		"1:normal mean=1 std=1e7/zipf alpha=1e-9 max=16777216",
		"1:zipf alpha=100 min=16777215 max=16777216/uniform min=1 max=16777216", "1e-300:5/lognormal mean=1e-9 std=1e7",
		"1: zipf alpha=1.0000001 max=3/normal mean=0 std=9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMix(text)
		if err != nil {
			return
		}
		again, err := ParseMix(m.String())
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%q was read as %q, and that as %q, error %v", text, m, again, err)
		}
		_ = m.Doubt()
		for _, p := range m.Draw(numpy.NewGenerator(0), 50) {
			if p.Input < 1 || p.Input > Most || p.Output < 1 || p.Output > Most {
				t.Fatalf("%q: drew %v", text, p)
			}
		}
		for _, s := range m {
			for _, d := range []Distribution{s.Input, s.Output} {
				draw, gen := d.drawer(), numpy.NewGenerator(1)
				for range 20 {
					if length := draw(gen); length < d.Min || length > d.Max {
						t.Fatalf("%s: drew %d", d, length)
					}
				}
			}
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	for _, text := range []string{"uniform min=1 max=9999", "normal mean=1024 std=200", "lognormal mean=1024 std=600",
		"zipf alpha=1.2 max=8192"} {
		d, err := Parse(text)
		assert.Fine(b, err)
		b.Run(d.Name, func(b *testing.B) {
			draw, gen := d.drawer(), numpy.NewGenerator(0)
			for b.Loop() {
				draw(gen)
			}
		})
	}
}
