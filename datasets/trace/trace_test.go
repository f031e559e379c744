package trace

import (
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		names string
		want  Columns
	}{
		{"TIMESTAMP,ContextTokens,GeneratedTokens", Columns{"TIMESTAMP", "ContextTokens", "GeneratedTokens", ""}},
		{"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
			Columns{"Timestamp", "Request tokens", "Response tokens", ""}},
		{"timestamp,input_length,output_length,hash_ids",
			Columns{"timestamp", "input_length", "output_length", "hash_ids"}},
		{"request_id,prompt,prompt_len,expected_output_len,timestamp",
			Columns{"timestamp", "prompt_len", "expected_output_len", ""}},
		{"time,arrived_at,num_prefill_tokens,num_decode_tokens",
			Columns{"arrived_at", "num_prefill_tokens", "num_decode_tokens", ""}},
		{"prompt,output_tokens", Columns{Output: "output_tokens"}},
		{"id,conversations", Columns{}},
		{"", Columns{}},
	} {
		if got, _ := (Columns{}).Complete(strings.Split(c.names, ",")); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.names, got, c.want)
		}
	}
}

func TestLength(t *testing.T) {
	for raw, want := range map[string]int{`12`: 12, `"12"`: 12, `" 12.0 "`: 12, `1e2`: 100, `0`: 0, `16777216`: 1 << 24,
		`16777217`: -1, `-1`: -1, `1.5`: -1, `"0x10"`: -1, `"NaN"`: -1, `"inf"`: -1, `"1_0"`: -1, `""`: -1, `null`: -1,
		`[1]`: -1, ``: -1, `1e999`: -1} {
		got, err := Length([]byte(raw), 0)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%s: %d, %v, want %d", raw, got, err, want)
		}
	}
	if _, err := Length([]byte("0"), 1); err == nil ||
		err.Error() != "expected a whole number from 1 to 16777216: got 0" {
		t.Error(err)
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		name   string
		unit   float64
		stamps []string
		want   time.Duration // of the last
		bad    string
	}{
		{"seconds", 0, []string{`10`, `12.5`}, 2500 * time.Millisecond, ""},
		{"milliseconds", 0.001, []string{`0`, `1500`}, 1500 * time.Millisecond, ""},
		{"before the first", 0, []string{`10`, `8`}, -2 * time.Second, ""},
		{"seconds since 1970", 0, []string{`1700000000.25`, `1700000001`}, 750 * time.Millisecond, ""},
		{"milliseconds since 1970", 0, []string{`1700000000000`, `1700000000250`}, 250 * time.Millisecond, ""},
		{"microseconds since 1970", 0, []string{`1700000000000000`, `1700000000250000`}, 250 * time.Millisecond, ""},
		{"nanoseconds since 1970", 0, []string{`1700000000000000000`, `1700000001000000000`}, time.Second, ""},
		{"a unit that is given", 1, []string{`1700000000000`, `1700000000250`}, 250 * time.Second, ""},
		{"numbers of CSV", 0, []string{`"1"`, `" 3.5 "`}, 2500 * time.Millisecond, ""},
		{"Azure", 0, []string{`"2023-11-16 18:17:03.9799600"`, `"2023-11-16 18:17:04.0319600"`}, 52 * time.Millisecond,
			""},
		{"ISO 8601", 0, []string{`"2024-05-10T00:00:00.009930+00:00"`, `"2024-05-10T02:00:01.009930+02:00"`},
			time.Second, ""},
		{"ISO 8601 in UTC", 0, []string{`"2024-05-10T00:00:00Z"`, `"2024-05-10T00:00:01Z"`}, time.Second, ""},
		{"without a zone", 0, []string{`"2024-05-10T00:00:00"`, `"2024-05-10T00:00:00.5"`}, 500 * time.Millisecond, ""},
		{"with a zone behind a blank", 0, []string{`"2024-05-10 00:00:00 +01:00"`, `"2024-05-10 00:00:00 +00:00"`},
			time.Hour, ""},
		{"no time", 0, []string{`"soon"`}, 0, `expected a time, as 12.5 or 2023-11-16 18:17:03.98: got "soon"`},
		{"nothing", 0, []string{``}, 0, "got nothing"},
		{"null", 0, []string{`1`, `null`}, 0, "expected a number, as the first time stamp is: got null"},
		{"a number behind dates", 0, []string{`"2024-05-10 00:00:00"`, `5`}, 0,
			"expected a time like the first one, 2024-05-10 00:00:00: got 5"},
		{"another date", 0, []string{`"2024-05-10 00:00:00"`, `"2024-05-10T00:00:00Z"`}, 0,
			"expected a time like the first one"},
		{"far away", 0, []string{`0`, `1e300`}, 0,
			"1e300 is more than a hundred years from the first time stamp; is its unit seconds?"},
		{"dates far away", 0, []string{`"2024-05-10 00:00:00"`, `"0001-05-10 00:00:00"`}, 0,
			"a hundred years from the first time stamp"},
		{"infinity", 0, []string{`"inf"`}, 0, "expected a time"},
	} {
		clock := Clock{Unit: c.unit}
		var got time.Duration
		var err error
		for i, stamp := range c.stamps {
			if got, err = clock.At([]byte(stamp)); i == 0 && got != 0 {
				t.Errorf("%s: the first is at %v", c.name, got)
			}
		}
		if c.bad == "" && (err != nil || got != c.want) || c.bad != "" &&
			(err == nil || !strings.HasSuffix(err.Error(), c.bad) && !strings.HasPrefix(err.Error(), c.bad)) {
			t.Errorf("%s: %v, %v, want %v %s", c.name, got, err, c.want, c.bad)
		}
	}
}

// Whatever a value is, it is a length in bounds, a time in bounds or an error.
func FuzzValues(f *testing.F) {
	for _, raw := range []string{`12`, `"12"`, `"2023-11-16 18:17:03.9799600"`, `1e400`, `"\u0031"`, `"inf"`, `-0`} {
		f.Add([]byte(raw), []byte(`5`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if n, err := Length(a, 0); err == nil && (n < 0 || n > 1<<24) {
			t.Errorf("%q is %d", a, n)
		}
		var clock Clock
		if at, err := clock.At(a); err == nil && at != 0 {
			t.Errorf("%q is at %v", a, at)
		} else if err == nil {
			if at, err := clock.At(b); err == nil && (at > maxOffset || at < -maxOffset) {
				t.Errorf("%q is at %v", b, at)
			}
		}
	})
}
