package telemetry

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestSocketsFit(t *testing.T) {
	for _, c := range []struct {
		n          int
		soft, hard uint64
		goos       string
		want       string
	}{
		{0, 1024, 4096, "linux", ""},
		{960, 1024, 1024, "linux", ""},
		{-5, 64, 64, "linux", ""},
		{1 << 40, math.MaxUint64, math.MaxUint64, "linux", ""},
		{961, 1024, 4096, "linux", "961 connections at once need 1025 open files, but the limit is 1024; raise it in " +
			"this shell: ulimit -n 1025"},
		{10_000, 4096, 4096, "linux",
			"10000 connections at once need 10064 open files, but the hard limit is 4096; raise it for this shell: " +
				"sudo prlimit --pid $$ --nofile=10064:10064; for good: \"* - nofile 10064\" in " +
				"/etc/security/limits.conf, " +
				"LimitNOFILE=10064 in a systemd unit, docker run --ulimit nofile=10064:10064"},
		{10_000, 256, 256, "darwin",
			"10000 connections at once need 10064 open files, but the hard limit is 256; raise it for this shell: " +
				"sudo launchctl limit maxfiles 10064 10064, then ulimit -n 10064; for good: a launch daemon that " +
				"runs this command"},
		{10_000, 256, 256, "openbsd",
			"10000 connections at once need 10064 open files, but the hard limit is 256; raise it for this shell: " +
				"ulimit -n 10064 as root; for good: see the system's manual on RLIMIT_NOFILE"},
	} {
		if got := said(socketsFit(c.n, c.soft, c.hard, c.goos)); got != c.want {
			t.Errorf("%d of %d, %d on %s:\n got %s\nwant %s", c.n, c.soft, c.hard, c.goos, got, c.want)
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPortsFit(t *testing.T) {
	usual, wide := ports{first: 32768, last: 60999}, ports{first: 1024, last: 65535}
	taken := wide
	taken.reserved = 60_000
	for _, c := range []struct {
		n    int
		p    ports
		goos string
		want string
	}{
		{0, usual, "linux", ""},
		{28_032, usual, "linux", ""},
		{64_312, wide, "linux", ""},
		{28_033, usual, "linux",
			"28033 connections to one server address need as many local ports, but 32768 to 60999 leaves 28032; " +
				`use more addresses of this machine with --bind, or widen the range: sudo sysctl -w ` +
				`net.ipv4.ip_local_port_range="1024 65535"`},
		{28_033, usual, "darwin",
			"28033 connections to one server address need as many local ports, but 32768 to 60999 leaves 28032; " +
				"use more addresses of this machine with --bind, or widen the range: sudo sysctl -w " +
				"net.inet.ip.portrange.first=1024 net.inet.ip.portrange.last=65535"},
		{64_313, usual, "linux",
			"64313 connections to one server address need as many local ports, but 32768 to 60999 leaves 28032, " +
				"and no setting more than 64312; use fewer connections, or more addresses of this machine with --bind"},
		{10_000, taken, "linux",
			"10000 connections to one server address need as many local ports, but 1024 to 65535 leaves 4312 " +
				"as 60000 are reserved; see net.ipv4.ip_local_reserved_ports"},
		{1, ports{first: 5000, last: 5010}, "linux",
			"1 connections to one server address need as many local ports, but 5000 to 5010 leaves 0; " +
				`use more addresses of this machine with --bind, or widen the range: sudo sysctl -w ` +
				`net.ipv4.ip_local_port_range="1024 65535"`},
	} {
		if got := said(portsFit(c.n, c.p, c.goos)); got != c.want {
			t.Errorf("%d of %+v on %s:\n got %s\nwant %s", c.n, c.p, c.goos, got, c.want)
		}
	}
}

func TestParsePorts(t *testing.T) {
	for _, c := range []struct {
		text, reserved string
		want           ports
		ok             bool
	}{
		{"32768\t60999\n", "\n", ports{32768, 60999, 0}, true},
		{"1024 65535", "8080,9000-9100,70000,x,5-3,-,1-\n", ports{1024, 65535, 102}, true},
		{"5000 5010", "1-5001,5009-65535", ports{5000, 5010, 4}, true},
		{"5000 5010", "1-65535,1-65535", ports{5000, 5010, 11}, true},
		{"7 7", "", ports{7, 7, 0}, true},
		{"60999 32768", "", ports{}, false},
		{"1024 65536", "", ports{}, false},
		{"1024", "", ports{}, false},
		{"-1 5", "", ports{}, false},
		{"1 2 3", "", ports{}, false},
		{"", "", ports{}, false},
	} {
		got, ok := parsePortRange(c.text)
		if ok != c.ok {
			t.Errorf("%q: %v", c.text, ok)
		}
		if ok {
			got = got.reserve(c.reserved)
		}
		if got != c.want {
			t.Errorf("%q, %q reserved: %+v, want %+v", c.text, c.reserved, got, c.want)
		}
	}
}

// The limits of the test's machine are unknown, but a few connections fit and a billion do not.
func TestChecks(t *testing.T) {
	if err := CheckSockets(1); err != nil {
		t.Error(err)
	}
	if err := CheckPorts(1, 1); err != nil {
		t.Error(err)
	}
	if _, _, known := fileLimits(); known {
		if _, hard, _ := fileLimits(); hard > 1e9 {
			t.Log("no limit of files here")
		} else if err := CheckSockets(1e9); err == nil || !strings.Contains(err.Error(), "1000000064 open files") {
			t.Errorf("a billion sockets: %v", err)
		}
	}
	if _, known := localPorts(); known {
		assert.Fails(t, "a billion ports", CheckPorts(1e9, 2), "from each of 2 addresses: 500000000 connections to one")
	}
}

func FuzzParsePorts(f *testing.F) {
	f.Add("32768\t60999\n", "8080,9000-9100\n")
	f.Add("1 65535", "1-65535,1-65535")
	f.Add("0 0", ",-,")
	f.Fuzz(func(t *testing.T, text, reserved string) {
		p, ok := parsePortRange(text)
		if !ok {
			return
		}
		p = p.reserve(reserved)
		if p.first < 0 || p.last > lastPort || p.first > p.last || p.reserved < 0 || p.reserved > p.last-p.first+1 ||
			p.free() < 0 {
			t.Errorf("%+v", p)
		}
	})
}

func TestChooseMemory(t *testing.T) {
	for _, c := range []struct {
		gogc, gomemlimit string
		there            float64
		percent          int
		limit            int64
	}{
		{"", "", 16 << 30, 400, 8 << 30},
		{"100", "", 16 << 30, 0, 8 << 30},
		{"off", "", 16 << 30, 0, 8 << 30},
		{"", "1GiB", 16 << 30, 400, 0},
		{"50", "off", 16 << 30, 0, 0},
		{"", "", 0, 400, 0},
		{"", "", math.MaxUint64, 400, 1 << 61},
	} {
		if percent, limit := chooseMemory(c.gogc, c.gomemlimit, c.there); percent != c.percent || limit != c.limit {
			t.Errorf("GOGC=%q GOMEMLIMIT=%q with %v bytes: %d, %d; want %d, %d", c.gogc, c.gomemlimit, c.there, percent,
				limit, c.percent, c.limit)
		}
	}
}

// tunedChild makes TestTuneMemory tune its own process.
const tunedChild = "BENCHTOP_TEST_TUNED"

func tuned(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	TuneMemory()
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	if os.Getenv("GOGC") != "" {
		if percent != 77 || limit != was {
			t.Errorf("GC percent %d, limit %d; want them as the user set them, 77 and %d", percent, limit, was)
		}
		return
	}
	want := int64(ownMemory() / 2)
	if want == 0 {
		want = was
	}
	if percent != gcPercent || limit != want {
		t.Errorf("GC percent %d, limit %d; want %d and %d", percent, limit, gcPercent, want)
	}
	// The garbage of a large heap is bounded from the next collections on.
	large := make([]byte, 2*garbageMost)
	for range 1000 {
		runtime.GC()
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		if percent < 60 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if runtime.KeepAlive(large); percent < 40 || percent > 55 {
		t.Errorf("GC percent %d with %d bytes in use, want about 50", percent, len(large))
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
