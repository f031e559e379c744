package datasets

import (
	"math"
	"testing"

	"benchtop/internal/assert"
)

func TestParseRangeRatio(t *testing.T) {
	tests := []struct {
		text string
		want RangeRatio
	}{
		{"0.3", RangeRatio{0.3, 0.3}},
		{" 1e-1\n", RangeRatio{0.1, 0.1}},
		{"+.5", RangeRatio{0.5, 0.5}},
		{"1_0.5", RangeRatio{10.5, 10.5}},
		{"-1", RangeRatio{-1, -1}},
		{"inf", RangeRatio{math.Inf(1), math.Inf(1)}},
		{"1e999", RangeRatio{math.Inf(1), math.Inf(1)}},
		{`{"input": 0.5, "output": 0}`, RangeRatio{0.5, 0}},
		{` {"output":1e-1,"input":0.25,"more":true} `, RangeRatio{0.25, 0.1}},
	}
	for _, test := range tests {
		assert.Equal(t, must(ParseRangeRatio(test.text))(t), test.want, "%q", test.text)
	}
}

func TestParseRangeRatioErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "expected a number"},
		{"half", "expected a number"},
		{"0x1p-2", "expected a number"},
		{"0x10", "expected a number"},
		{"_1", "expected a number"},
		{"1__0", "expected a number"},
		{"null", "expected a number"},
		{"[0.1, 0.2]", "expected a number"},
		{`{"input": 0.1`, "expected a number"},
		{`{"input": 0.1}`, `"output" is missing`},
		{`{"Input": 0.1, "output": 0.1}`, `"input" is missing`},
		{`{"input": null, "output": 0.1}`, `"input" is null`},
		{`{"input": 0.1, "output": "0.1"}`, `"output" is "0.1"`},
	}
	for _, test := range tests {
		complains(t, failure(ParseRangeRatio(test.text)), "range ratio", test.want)
	}
}

func FuzzParseRangeRatio(f *testing.F) {
	for _, text := range []string{"0.3", "1_0", "nan", "-0", `{"input":0.1,"output":0.2}`, `{"input":1}`, "{", "0x1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ratio, err := ParseRangeRatio(text)
		if err != nil {
			return
		}
		again, err := ParseRangeRatio(ratio.String())
		if err != nil {
			t.Fatalf("%q was read as %v, which cannot be read: %v", text, ratio, err)
		}
		if again != ratio && !math.IsNaN(ratio.Input) {
			t.Errorf("%q: got %v, then %v", text, ratio, again)
		}
	})
}
