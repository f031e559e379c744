package calibration

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"benchtop/metrics"
)

func TestResultAsJSON(t *testing.T) {
	limited := metrics.Verdict{Why: []string{"p99 sent 12ms late", "CPU full for 3 of 4 s"}}
	for name, c := range map[string]struct {
		verdict metrics.Verdict
		judged  bool
		want    string
	}{
		"limited":    {limited, true, `,"verdict":"limited","why":["p99 sent 12ms late","CPU full for 3 of 4 s"]}`},
		"fine":       {metrics.Verdict{}, true, `,"verdict":"ok","why":[]}`},
		"not judged": {metrics.Verdict{}, false, `,"bytes_per_stream":0}`},
	} {
		r := Result{Requests: 3, StampError: Quantiles{N: 1, P50: 2000}, TTFTError: 5, Verdict: c.verdict, Judged: c.judged}
		b, err := json.Marshal(r)
		if err != nil || !strings.HasSuffix(string(b), c.want) || !strings.Contains(string(b), `"ttft_error_ns":5`) {
			t.Errorf("%s: %s, %v; want %s at its end", name, b, err, c.want)
		}
		back := Result{Verdict: metrics.Verdict{Why: []string{"left over"}}, Judged: true}
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s: got %+v, %v from %s", name, back, err, b)
		}
	}
}

func TestBadResults(t *testing.T) {
	for text, want := range map[string]string{
		`{"verdict":"limited"}`:              `verdict "limited" with 0 reasons`,
		`{"verdict":"ok","why":["slow"]}`:    `verdict "ok" with 1 reasons`,
		`{"why":["slow"]}`:                   `verdict "" with 1 reasons`,
		`{"verdict":"splendid"}`:             `verdict "splendid" with 0 reasons`,
		`{"verdict":{"Why":null}}`:           "cannot unmarshal object",
		`{"verdict":"ok","requests":"many"}`: "cannot unmarshal string",
	} {
		var r Result
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", text, err, want)
		}
	}
}
