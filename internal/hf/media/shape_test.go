package media

import (
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"

	"github.com/google/go-cmp/cmp"
)

func TestParseBuckets(t *testing.T) {
	tests := []struct {
		text string
		want Buckets
	}{
		{DefaultBuckets().String(), DefaultBuckets()},
		{"{(256, 256, 1): 0.5, (720, 1280, 1): 0.5, (720, 1280, 16): 0.0}", DefaultBuckets()},
		{`{"(4, 4, 1)": 1.0}`, Buckets{{4, 4, 1, 1}}},
		{" \t\n{ ( 4 ,\t5,\n6 , ) : 2 , } ", Buckets{{4, 5, 6, 2}}},
		{"({(4,5,6):.5e-1})", Buckets{{4, 5, 6, 0.05}}},
		{"{'4, 5, 6,': +1_0.2_5, ' ( (7) ,(8),9)': 1_000}", Buckets{{4, 5, 6, 10.25}, {7, 8, 9, 1000}}},
		{"{(0x1F, 0b11, 0O17): 00.5, (00, 1_0, -2): - 1.}", Buckets{{31, 3, 15, 0.5}, {0, 10, -2, -1}}},
		{"{(1,1,1):1,(2,2,1):2,'(1,1,1)':3}", Buckets{{1, 1, 1, 3}, {2, 2, 1, 2}}},
		{"{(1,1,1):1e999,(99999999999,1,1):-1e400}",
			Buckets{{1, 1, 1, math.Inf(1)}, {math.MaxInt32, 1, 1, math.Inf(-1)}}},
		{"{}", nil},
	}
	for _, test := range tests {
		got, err := ParseBuckets(test.text)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%q: error %v, want -, got +\n%s", test.text, err, diff)
		}
	}
}

func TestParseBucketsErrors(t *testing.T) {
	deep := [2]string{strings.Repeat("(", 10_000), "it is nested too deeply"}
	for _, test := range append(assert.Golden[[2]string](t, "testdata/refused_buckets.jsonl"), deep) {
		_, err := ParseBuckets(test[0])
		for _, part := range []string{"bucket config", test[1], "expected a Python dict such as"} {
			assert.Fails(t, test[0], err, part)
		}
	}
}

func FuzzParseBuckets(f *testing.F) {
	for _, text := range []string{"{(256, 256, 1): 0.5,}", `{"(1,2,3)":1e9}`, "{((1),0x2,-3):-.5_0}", "{'1,2,3':00}",
		"((((", "{(1,1,1):1e999}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		buckets, err := ParseBuckets(text)
		if err != nil {
			return
		}
		again, err := ParseBuckets(buckets.String())
		if err != nil {
			t.Fatalf("%q was read as %v, which cannot be read: %v", text, buckets, err)
		}
		if diff := cmp.Diff(buckets, again); diff != "" {
			t.Errorf("%q: first -, then +\n%s", text, diff)
		}
		_, _ = NewDraws(2, 1, DefaultLimits(), buckets) // must not panic
	})
}

func TestParseLimits(t *testing.T) {
	got := assert.Must(ParseLimits(` {"image": 3, "video": 0, "audio": 1} `))(t)
	again, err := ParseLimits(got.String())
	if want := (Limits{"image": 3, "video": 0, "audio": 1}); err != nil || !cmp.Equal(got, want) ||
		!cmp.Equal(again, want) {
		t.Errorf("got %v, read back %v (%v), want %v", got, again, err, want)
	}
	for _, text := range []string{"", "null", "3", "[]", `{"image": "3"}`, `{"image": 1.5}`, `{"image": 99999999999}`,
		`{"image"`} {
		assert.Fails(t, text, assert.Failure(ParseLimits(text)), "expected a JSON object with whole numbers")
	}
	for _, text := range []string{`{"image": -1}`, `{"image": null}`} {
		assert.Fails(t, text, assert.Failure(ParseLimits(text)), `the limit for "image" must be 0 or more`)
	}
}

func FuzzParseLimits(f *testing.F) {
	f.Add(`{"image": 3, "video": 0}`)
	f.Add(`{"image": null}`)
	f.Fuzz(func(t *testing.T, text string) {
		limits, err := ParseLimits(text)
		if err != nil {
			return
		}
		again, err := ParseLimits(limits.String())
		if err != nil || !cmp.Equal(limits, again) {
			t.Errorf("%q: got %v, then %v, error %v", text, limits, again, err)
		}
	})
}
