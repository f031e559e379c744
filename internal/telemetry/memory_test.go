package telemetry

import (
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"
)

func TestChooseMemory(t *testing.T) {
	for _, c := range []struct {
		gogc, gomemlimit string
		there            uint64
		percent          int
		limit            int64
	}{
		{"", "", 16 << 30, 400, 8 << 30},
		{"100", "", 16 << 30, 0, 8 << 30},
		{"off", "", 16 << 30, 0, 8 << 30},
		{"", "1GiB", 16 << 30, 400, 0},
		{"50", "off", 16 << 30, 0, 0},
		{"", "", 0, 400, 0},
		{"", "", math.MaxUint64, 400, math.MaxInt64},
	} {
		if percent, limit := chooseMemory(c.gogc, c.gomemlimit, c.there); percent != c.percent || limit != c.limit {
			t.Errorf("GOGC=%q GOMEMLIMIT=%q with %d bytes: %d, %d; want %d, %d", c.gogc, c.gomemlimit, c.there, percent, limit, c.percent, c.limit)
		}
	}
}

func TestLessMemory(t *testing.T) {
	for _, c := range [][3]uint64{{0, 0, 0}, {5, 0, 5}, {0, 5, 5}, {5, 3, 3}, {3, 5, 3}} {
		if got := lessMemory(c[0], c[1]); got != c[2] {
			t.Errorf("%d and %d: %d", c[0], c[1], got)
		}
	}
}

// tunedChild makes TestTuneMemory tune its own process.
const tunedChild = "BENCHTOP_TEST_TUNED"

func tuned(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	SaveMemory()
	thrifty := debug.SetGCPercent(100)
	debug.SetGCPercent(thrifty)
	TuneMemory()
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	if os.Getenv("GOGC") != "" {
		if percent != 77 || thrifty != 77 || limit != was {
			t.Errorf("GC percent %d and %d, limit %d; want them as the user set them, 77 and %d", percent, thrifty, limit, was)
		}
		return
	}
	want := int64(memoryThere() / 2)
	if want == 0 {
		want = was
	}
	if percent != 400 || thrifty != 25 || limit != want {
		t.Errorf("GC percent %d and %d, limit %d; want 400, 25 and %d", percent, thrifty, limit, want)
	}
}

func TestTuneMemory(t *testing.T) {
	if os.Getenv(tunedChild) != "" {
		tuned(t)
		return
	}
	for _, set := range [][]string{{"GOGC=", "GOMEMLIMIT="}, {"GOGC=77", "GOMEMLIMIT=3GiB"}} {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTuneMemory$", "-test.count=1")
		c.Env = append(append(os.Environ(), tunedChild+"=1"), set...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", set, err, out)
		}
	}
}
