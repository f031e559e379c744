package calibration

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestQuantiles(t *testing.T) {
	thousand := make([]time.Duration, 1000)
	for i := range thousand {
		thousand[i] = time.Duration(1000 - i) // out of order
	}
	for _, c := range []struct {
		name  string
		times []time.Duration
		want  Quantiles
	}{
		{"none", nil, Quantiles{}},
		{"one", []time.Duration{7}, Quantiles{1, 7, 7, 7, 7}},
		{"two", []time.Duration{9, -3}, Quantiles{2, -3, 9, 9, 9}},
		{"three", []time.Duration{3, 1, 2}, Quantiles{3, 2, 3, 3, 3}},
		{"thousand", thousand, Quantiles{1000, 500, 990, 999, 1000}},
	} {
		assert.Equal(t, QuantilesOf(c.times), c.want, "%s", c.name)
	}
}

func TestQuantilesAsJSON(t *testing.T) {
	q := Quantiles{3, -1500, 2 * time.Microsecond, 3 * time.Millisecond, time.Second}
	b, err := json.Marshal(q)
	if want := `{"n":3,"p50_us":-1.5,"p99_us":2,"p999_us":3000,"max_us":1000000}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	var back Quantiles
	if err := json.Unmarshal(b, &back); err != nil || back != q {
		t.Errorf("read back %+v, %v, want %+v", back, err, q)
	}
	if err := json.Unmarshal([]byte(`{"n":"x"}`), &back); err == nil {
		t.Error("a number that is text was read")
	}
}

func TestSpread(t *testing.T) {
	var none, some spread
	if none.average() != 0 || none.deviation() != 0 {
		t.Errorf("without values: %s, %s", none.average(), none.deviation())
	}
	for _, d := range []time.Duration{2, 4, 4, 4, 5, 5, 7, 9} {
		some.add(d * time.Millisecond)
	}
	if some.average() != 5*time.Millisecond || some.deviation() != 2*time.Millisecond {
		t.Errorf("got %s and %s, want 5ms and 2ms", some.average(), some.deviation())
	}
}

func TestResultAsJSON(t *testing.T) {
	for name, c := range map[string]struct {
		verdict string
		why     []string
		want    string
	}{
		"limited": {Limited, []string{"p99 send delay 12ms", "CPU full for 3 of 4 s"},
			`,"verdict":"limited","why":["p99 send delay 12ms","CPU full for 3 of 4 s"]}`},
		"fine":       {OK, []string{}, `,"verdict":"ok","why":[]}`},
		"not judged": {"", nil, `,"bytes_per_stream":0}`},
	} {
		r := Result{Requests: 3, StampError: Quantiles{N: 1, P50: 2000}, TTFTError: 5, Verdict: c.verdict, Why: c.why}
		b, err := json.Marshal(r)
		if err != nil || !strings.HasSuffix(string(b), c.want) || !strings.Contains(string(b), `"ttft_error_ns":5`) {
			t.Errorf("%s: %s, %v; want %s at its end", name, b, err, c.want)
		}
		var back Result
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s: got %+v, %v from %s", name, back, err, b)
		}
	}
}
