package pyjson

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// The output of json.dumps(json.loads(text)) in Python 3.11.
func TestAppend(t *testing.T) {
	for _, c := range append(assert.Golden[[2]json.RawMessage](t, "testdata/dumps.jsonl"), [][2]json.RawMessage{
		{[]byte("\"\u007f\u2028<&>\""), []byte(`"\u007f\u2028<&>"`)},
		{[]byte(" \t\n\r 3 \t\n\r"), []byte("3")},
	}...) {
		if got := string(Append([]byte("1"), c[0])); got != "1"+string(c[1]) {
			t.Errorf("%s: %s, want 1%s", c[0], got, c[1])
		}
	}
}

func TestAppendUnlikePython(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:          `{"a": 1, "a": 2}`,
		`[1e999,-1E999]`:         `[1e999, -1E999]`,
		"\"a\xff\"":              `"a\ufffd"`,
		`"\`:                     `"\`,
		`"\u12`:                  `"\u12`,
		`[NaN`:                   `[NaN`,
		`-`:                      `-`,
		"":                       "",
		"\"an end is missing \n": `"an end is missing \n`,
	} {
		assert.Equal(t, string(Append(nil, []byte(text))), want, "%q", text)
	}
}

// The texts are Python's repr.
func TestFloat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", math.Copysign(0, -1): "-0.0", 10: "10.0", 0.1: "0.1", 1e-5: "1e-05", 0.0001: "0.0001",
		0.00012345: "0.00012345",
		1e15:       "1000000000000000.0", 9999999999999998: "9999999999999998.0", 1e16: "1e+16", 1.5e16: "1.5e+16",
		1e100:   "1e+100",
		-2.5e-7: "-2.5e-07", 1.7142857142857142: "1.7142857142857142", 123456789.125: "123456789.125",
		5e-324: "5e-324", math.Inf(1): "inf", math.Inf(-1): "-inf",
	} {
		assert.Equal(t, Float(v), want, "%g", v)
		if got := string(AppendFloat([]byte("1.5, "), v)); got != "1.5, "+want {
			t.Errorf("%g: %s appended, want 1.5, %s", v, got, want)
		}
	}
	for _, step := range []float64{1, 1e-6, 1e-7, 1.0 / 3} { // around the floats that are whole microseconds
		for n := 1.0; n < 1e17; n = math.Ceil(n * 1.01) {
			v := n * step
			if step < 1e-3 {
				v = n / math.Round(1/step)
			}
			for _, v := range []float64{v, math.Nextafter(v, 0), -v} {
				if v != 0 && (math.Abs(v) < 1e-4 || math.Abs(v) >= 1e16) {
					continue
				}
				want := strconv.FormatFloat(v, 'f', -1, 64)
				if !strings.Contains(want, ".") {
					want += ".0"
				}
				assert.Need(t, Float(v), want, "%g", v)
			}
		}
	}
	assert.Equal(t, Float(math.NaN()), "nan", "NaN")
}

// Appending within the capacity does not allocate.
func TestAppendDoesNotAllocate(t *testing.T) {
	raw := []byte(`{"a": [1, 2.50, "é\n"]}`)
	dst := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() {
		dst = Append(AppendFloat(AppendString(dst[:0], "é\n😀"), 1e16), raw)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzJSON checks that rewritten JSON has the same value, is ASCII, and does not change again.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a" : [1, -0.50, 1e5, 1e999, "\u00e9\/\ud800é"], "b":{}, "c":[true,false,null]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			_ = Append(nil, []byte(raw)) // must not panic
			return
		}
		got := Append(nil, []byte(raw))
		for _, b := range got {
			if b < ' ' || b > '~' {
				t.Fatalf("%q: byte %#x is not printable ASCII", got, b)
			}
		}
		if again := Append(nil, got); string(again) != string(got) {
			t.Errorf("%q, rewritten, is %q", got, again)
		}
		var before, after any
		if json.Unmarshal([]byte(raw), &before) == nil {
			if err := json.Unmarshal(got, &after); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("%q says %v, rewritten as %q it says %v (%v)", raw, before, got, after, err)
			}
		}
	})
}

// FuzzString checks that the escaped form of any text is ASCII and reads back as the text.
func FuzzString(f *testing.F) {
	f.Add("a\"\\\n\x00\x7fé€😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		for _, b := range got {
			if b < ' ' || b > '~' {
				t.Fatalf("%q: byte %#x is not printable ASCII", got, b)
			}
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); strings.ToValidUTF8(s, "") == s && back != want {
			t.Errorf("%q reads back as %q", s, back)
		}
	})
}
