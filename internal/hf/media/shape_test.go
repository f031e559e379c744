package media

import (
	"math"
	"strings"
	"testing"

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
		{"{(1,1,1):1e999,(99999999999,1,1):-1e400}", Buckets{{1, 1, 1, math.Inf(1)}, {math.MaxInt32, 1, 1, math.Inf(-1)}}},
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
	nested := ""
	for range 10_000 {
		nested += "("
	}
	tests := []struct{ text, want string }{
		{"", "at character 1: expected a value, got the end"},
		{"0.5", "expected a Python dict such as"},
		{"((4, 4, 1), 0.5)", "expected a Python dict such as"},
		{"{(4, 4, 1): 0.5", `at character 16: expected "," or "}", got the end`},
		{"{(4, 4, 1: 0.5}", `at character 10: expected "," or ")", got ": 0.5}"`},
		{"{(4, 4, 1) 0.5}", `at character 12: expected ":", got "0.5}"`},
		{"{(4, 4, 1): 0.5} x", `at character 18: expected the end, got "x"`},
		{"{(4, 4, 1): }", `at character 13: expected a number, a string, a tuple or a dict, got "}"`},
		{"{,}", "at character 2: expected a number"},
		{"{(,): 1}", "at character 3: expected a number"},
		{"{(4, 4): 1}", "the key (4, 4) is not a tuple of three whole numbers"},
		{"{(4, 4, 1, 1): 1}", "is not a tuple of three whole numbers"},
		{"{(4, 4, 1.0): 1}", "is not a tuple of three whole numbers"},
		{"{(4, 4, '1'): 1}", "is not a tuple of three whole numbers"},
		{"{(4,): 1}", "the key (4,) is not a tuple"},
		{"{4: 1}", "the key 4 is not a tuple"},
		{"{(): 1}", "the key () is not a tuple"},
		{"{'(4, 4, 1': 1}", "the key (4, 4, 1 is not a tuple"},
		{"{(4, 4, 1): 'half'}", "weight of (4, 4, 1): expected a number, got half"},
		{"{(4, 4, 1): (1, 2)}", "weight of (4, 4, 1): expected a number, got (1, 2)"},
		{"{(4, 4, 1): nan}", `expected a number, a string, a tuple or a dict, got "nan}"`},
		{"{(4, 4, 1): True}", "expected a number"},
		{"{(4, 4, 1): 012}", "expected a number"},
		{"{(4, 4, 1): 0_1}", "expected a number"},
		{"{(4, 4, 1): 1__0}", "expected a number"},
		{"{(4, 4, 1): 0x1p-2}", "expected a number"},
		{"{(4, 4, 1): 1j}", "expected a number"},
		{"{(4, 4, 1): --1}", "expected a number"},
		{"{(4, 4, 1): 99999999999999999999}", "expected a number"},
		{"{(4, 4, 1): __import__('os').system('x')}", "expected a number"},
		{"{'(4, 4, 1): 1}", "at character 2: the string does not end"},
		{`{'(4, 4, \x31)': 1}`, "at character 2: the string holds a backslash"},
		{"{(4, 4, 1): 1, **{}}", "expected a number"},
		{"[(4, 4, 1)]", "expected a number"},
		{nested, "it is nested too deeply"},
	}
	for _, test := range tests {
		_, err := ParseBuckets(test.text)
		for _, part := range []string{"bucket config", test.want, "expected a Python dict such as"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%.40q: got %v, want %q in it", test.text, err, part)
			}
		}
	}
}

func FuzzParseBuckets(f *testing.F) {
	for _, text := range []string{"{(256, 256, 1): 0.5,}", `{"(1,2,3)":1e9}`, "{((1),0x2,-3):-.5_0}", "{'1,2,3':00}", "((((", "{(1,1,1):1e999}"} {
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
	got, err := ParseLimits(` {"image": 3, "video": 0, "audio": 1} `)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseLimits(got.String())
	if want := (Limits{"image": 3, "video": 0, "audio": 1}); err != nil || !cmp.Equal(got, want) || !cmp.Equal(again, want) {
		t.Errorf("got %v, read back %v (%v), want %v", got, again, err, want)
	}
	for _, text := range []string{"", "null", "3", "[]", `{"image": "3"}`, `{"image": 1.5}`, `{"image": 99999999999}`, `{"image"`} {
		if _, err := ParseLimits(text); err == nil || !strings.Contains(err.Error(), "expected a JSON object with whole numbers") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	for _, text := range []string{`{"image": -1}`, `{"image": null}`} {
		if _, err := ParseLimits(text); err == nil || !strings.Contains(err.Error(), `the limit for "image" must be 0 or more`) {
			t.Errorf("%q: got %v", text, err)
		}
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
