package telemetry

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestFindCgroup(t *testing.T) {
	const (
		v2 = "24 21 0:22 / /sys rw - sysfs sysfs rw\n" +
			"30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" +
			"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
		hybrid  = v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		docker  = "32 31 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		spaced  = `30 24 0:26 / /mnt/control\040groups rw - cgroup2 cgroup2 rw` + "\n"
		similar = "32 31 0:29 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	)
	for _, c := range []struct {
		name, mounts, groups, controller string
		want                             string // levels
	}{
		{"version 2", v2, "0::/user.slice/a.scope\n", "cpu",
			"/sys/fs/cgroup/user.slice/a.scope /sys/fs/cgroup/user.slice /sys/fs/cgroup"},
		{"version 2, outermost", v2, "0::/\n", "memory", "/sys/fs/cgroup"},
		{"version 1", v1, "4:memory:/x\n3:cpu,cpuacct:/a/b\n", "cpu",
			"/sys/fs/cgroup/cpu,cpuacct/a/b /sys/fs/cgroup/cpu,cpuacct/a /sys/fs/cgroup/cpu,cpuacct"},
		{"both, version 1 has it", hybrid, "4:memory:/x\n0::/y\n", "memory",
			"/sys/fs/cgroup/memory/x /sys/fs/cgroup/memory"},
		{"both, version 2 has it", hybrid, "1:name=systemd:/\n0::/y\n", "memory",
			"/sys/fs/cgroup/unified/y /sys/fs/cgroup/unified"},
		{"in a container", docker, "4:memory:/docker/abc\n", "memory", "/sys/fs/cgroup/memory"},
		{"below a container", docker, "4:memory:/docker/abc/d\n", "memory",
			"/sys/fs/cgroup/memory/d /sys/fs/cgroup/memory"},
		{"outside of it", docker, "4:memory:/../xyz\n", "memory", "/sys/fs/cgroup/memory"},
		{"a name that begins alike", similar, "4:memory:/docker/abc\n", "memory", "/sys/fs/cgroup/memory"},
		{"a colon in the name", v2, "0::/a:b\n", "cpu", "/sys/fs/cgroup/a:b /sys/fs/cgroup"},
		{"a space in the mount", spaced, "0::/a\n", "cpu", "/mnt/control groups/a /mnt/control groups"},
		{"not mounted", v1, "0::/a\n", "cpu", ""},
		{"no groups", v2, "", "cpu", ""},
		{"nothing", "", "0::/a\n", "cpu", ""},
		{"rubbish", "a b c - cgroup2\n - \n-\n", "::\n:\n0\n", "cpu", ""},
	} {
		g, ok := parseMounts(c.mounts).find(c.groups, c.controller)
		got := ""
		if ok {
			got = strings.Join(g.levels(), " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseQuota(t *testing.T) {
	for text, want := range map[string]float64{
		"max 100000\n": 0, "50000 100000\n": 0.5, "250000 100000": 2.5, "0 100000": 0, "-1 100000": 0, "1 0": 0, "": 0,
		"1": 0, "1 2 3": 0, "-1\n 100000\n": 0, "150000\n 100000\n": 1.5,
	} {
		if got := parseQuota(text); got != want {
			t.Errorf("cpu.max %q: %v, want %v", text, got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]float64{
		"max\n": 0, "1073741824\n": 1 << 30, "9223372036854771712\n": 9223372036854771712, "": 0, "-1": 0, "1k": 0,
		"0": 0,
	} {
		if got := parseBytes(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add("30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n", "0::/a/b\n", "50000 100000")
	f.Add(`32 31 0:29 /a\040b /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu`, "3:cpu:/../a b/c\n", "max 100000")
	f.Fuzz(func(t *testing.T, mounts, groups, text string) {
		if g, ok := parseMounts(mounts).find(groups, "cpu"); ok {
			levels := g.levels()
			for _, dir := range levels {
				if path.Clean(dir) != dir || dir != g.top && g.top != "/" && !strings.HasPrefix(dir, g.top+"/") {
					t.Errorf("%q is not within %q", dir, g.top)
				}
			}
			if !slices.Contains(levels, g.top) || levels[0] != g.dir {
				t.Errorf("levels %q of %+v", levels, g)
			}
		}
		if cores := parseQuota(text); !(cores >= 0) {
			t.Errorf("%v cores", cores)
		}
		if n := parseBytes(text); !(n >= 0) {
			t.Errorf("%v bytes", n)
		}
	})
}

func TestLeast(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{5, 0}, 5}, {[]float64{0, 5}, 5}, {[]float64{5, 3}, 3},
		{[]float64{3, 5}, 3}} {
		if got := least(c.values...); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}
