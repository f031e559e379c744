package telemetry

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestModelName(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU  @ 2.00GHz \nmodel name\t: Another\n": "Some CPU @ " +
			"2.00GHz",
		"processor\t: 0\nBogoMIPS\t: 50.00\n": "", // as on ARM
		"model name":                          "",
		"model name:":                         "",
		"":                                    "",
		strings.Repeat("x", 100<<10) + "\nmodel name: too far\n": "",
	} {
		if got := valueOf(strings.NewReader(text), "model name"); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	if name := CPUModel(); runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && name == "" {
		t.Error("this machine's processor has no name")
	}
}

func FuzzModelName(f *testing.F) {
	f.Add("model name\t: Some CPU\n")
	f.Add("model name : \t\n:")
	f.Fuzz(func(t *testing.T, text string) {
		if got := valueOf(strings.NewReader(text), "model name"); got != strings.Join(strings.Fields(got), " ") ||
			strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
	})
}

func TestParseStatm(t *testing.T) {
	for text, want := range map[string]int64{
		"5000 1234 800 10 0 400 0\n":   1234 * 4096,
		"5000 0 0":                     0,
		"  1\t2 3":                     2 * 4096,
		"":                             -1,
		"5000":                         -1,
		"1 -2 3\n":                     -1,
		"5000 1x 3":                    -1,
		"1 18446744073709551615 3":     -1,
		"1 99999999999999999999999 3 ": -1,
	} {
		got, ok := parseStatm(text, 4096)
		if ok != (want >= 0) || ok && got != uint64(want) {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestWaitedSince(t *testing.T) {
	type threads = map[string]time.Duration
	for _, c := range []struct {
		name        string
		before, now threads
		want        time.Duration
	}{
		{"none", nil, nil, 0},
		{"waited", threads{"1": 5, "2": 10}, threads{"1": 7, "2": 10}, 2},
		{"a new one", threads{"1": 5}, threads{"1": 5, "2": 30}, 30},
		{"one is gone", threads{"1": 5, "2": 1000}, threads{"1": 6}, 1},
		{"a number again", threads{"1": 5, "2": 1000}, threads{"1": 5, "2": 3}, 3},
		{"all gone", threads{"1": 5}, nil, 0},
		{"too much", nil, threads{"1": math.MaxInt64, "2": math.MaxInt64}, math.MaxInt64},
	} {
		if got := waitedSince(c.before, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestCoresAllowed(t *testing.T) {
	for _, c := range []struct {
		procs, affinity int
		quota, want     float64
	}{
		{8, 8, 0, 8}, {8, 2, 0, 2}, {2, 8, 0, 2}, {2, 2, 0.5, 0.5}, {2, 1, 1.5, 1}, {4, 4, 64, 4},
	} {
		if got := coresAllowed(c.procs, c.affinity, c.quota); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func FuzzParseProc(f *testing.F) {
	f.Add("1081224 224648 2\n", 4096)
	f.Add("5000 18446744073709551615 800\n", 65536)
	f.Add(" \t\n1", -1)
	f.Fuzz(func(t *testing.T, text string, page int) {
		if n, ok := secondField(text); ok && n < 0 {
			t.Errorf("schedstat: waited %d", n)
		}
		if n, ok := parseStatm(text, page); ok && (n > math.MaxInt64 || n%uint64(page) != 0) {
			t.Errorf("statm: %d bytes in pages of %d", n, page)
		}
	})
}
