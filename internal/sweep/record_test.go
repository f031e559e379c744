package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	c := Combination{Server: item(t, `{"_benchmark_name": "s", "tp": 2}`), Bench: item(t, `{"_benchmark_name": "b", "request_rate": 5}`)}
	r := Record{item(t, `{"request_rate": "inf", "output_throughput": 100.0, "max_concurrency": null, "max_concurrent_requests": 10, "benchtop": {"schema": 1}}`)}
	done := r.of(c, 2, "id")
	const want = `{"request_rate": 5, "output_throughput": 100.0, "max_concurrency": null, "max_concurrent_requests": 10, "benchtop": {"schema": 1, "sweep": "id"}, "run_number": 2, "_benchmark_name": "b", "tp": 2}`
	if got := string(done.JSON()); got != want {
		t.Fatalf("%s", got)
	}
	if f := done.Figures(); f.PerUser != 10 || f.PerGPU != 50 || f.P99TTFT == f.P99TTFT {
		t.Errorf("%+v", f)
	}
	path := filepath.Join(t.TempDir(), "run=2.json")
	if err := done.write(path); err != nil {
		t.Fatal(err)
	}
	back, err := readRecord(path)
	if err != nil || string(back.JSON()) != want {
		t.Errorf("%s, %v", back.JSON(), err)
	}
	if why := back.matches(c, 2, "id"); why != "" {
		t.Errorf("refused: %s", why)
	}
	other := c
	other.Bench = item(t, `{"_benchmark_name": "b", "request_rate": 6}`)
	for _, why := range []string{back.matches(c, 1, "id"), back.matches(c, 2, "other"), back.matches(other, 2, "id"), r.matches(c, 2, "id")} {
		if why == "" {
			t.Error("the record of another run is taken")
		}
	}
	for _, bad := range []string{"", `{"a": 1`, `[]`, `{"a": NaN}`} {
		_ = os.WriteFile(path, []byte(bad), 0o600)
		if _, err := readRecord(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The table is what pandas 3.1 writes of the same records.
func TestCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	records := []Record{
		{item(t, `{"date": "x", "rate": "inf", "n": 5, "f": 1, "both": 1, "some": 3, "none": null, "b": true, "list": [1.50, "a,\"b\"", null], "benchtop": {"x": 1}, "mixed": true}`)},
		{item(t, `{"date": "", "rate": 2.50, "n": 7, "f": 1e-7, "both": 2.5, "none": null, "b": false, "list": [], "new": 123456789, "mixed": 3, "text": "a\nb, 'c'"}`)},
	}
	if err := writeCSV(path, records); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	const want = `,date,rate,n,f,both,some,none,b,list,mixed,new,text
0,x,inf,5,1.0,1.0,3.0,,True,"[1.5, 'a,""b""', None]",True,,
1,,2.5,7,1e-07,2.5,,,False,[],3,123456789.0,"a
b, 'c'"
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}
