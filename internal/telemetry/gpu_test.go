package telemetry

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestParseNvidia(t *testing.T) {
	no, nvidia := math.NaN(), nvidiaTable()
	for _, c := range []struct {
		line string
		want metrics.GPU
		ok   bool
	}{
		{"0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980",
			metrics.GPU{Index: 0, Name: "NVIDIA H200", Use: 0.97, MemoryUsed: 131072 * mebi, MemoryTotal: 143771 * mebi,
				Power: 612.34, PowerLimit: 700, Temperature: 64, Clock: 1980}, true},
		{"3, NVIDIA A100-SXM4-80GB, [N/A], 5, 81920, [Not Supported], [Unknown Error], N/A, [N/A]",
			metrics.GPU{Index: 3, Name: "NVIDIA A100-SXM4-80GB", Use: no, MemoryUsed: 5 * mebi,
				MemoryTotal: 81920 * mebi, Power: no, PowerLimit: no, Temperature: no, Clock: no}, true},
		{"1, x\x1b[31m, 101, -1, 1e300, NaN, Inf, -300, 1e9",
			metrics.GPU{Index: 1, Name: "x [31m", Use: no, MemoryUsed: no, MemoryTotal: no, Power: no, PowerLimit: no,
				Temperature: no, Clock: no}, true},
		{"4, g, 1 %, 2 MiB, 3 MiB, 4 W, 5 W, 6, 7 MHz",
			metrics.GPU{Index: 4, Name: "g", Use: 0.01, MemoryUsed: 2 * mebi, MemoryTotal: 3 * mebi, Power: 4,
				PowerLimit: 5, Temperature: 6, Clock: 7}, true},
		{"0, NVIDIA H200, 97, 131072", metrics.GPU{}, false},
		{"-1, g, 1, 2, 3, 4, 5, 6, 7", metrics.GPU{}, false},
		{"1024, g, 1, 2, 3, 4, 5, 6, 7", metrics.GPU{}, false},
		{"index, name, utilization.gpu [%], m, m, p, p, t, c", metrics.GPU{}, false},
		{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", metrics.GPU{}, false},
		{"", metrics.GPU{}, false},
	} {
		got, ok := nvidia.line(c.line)
		if diff := cmp.Diff(c.want, got, compareSeconds); diff != "" || ok != c.ok {
			t.Errorf("%q: %v, want %v; -want +got\n%s", c.line, ok, c.ok, diff)
		}
	}
}

// Tables as versions of amd-smi and rocm-smi print them.
func TestParseTable(t *testing.T) {
	no := math.NaN()
	for _, c := range []struct {
		name, text string
		want       []metrics.GPU
	}{
		{"amd-smi", "timestamp,gpu,power_usage,hotspot_temperature,memory_temperature,gfx_clk,gfx,mem,mem_clock," +
			"vram_used,vram_total\n" +
			"1725000000,0,133,47,36,132,25,0,900,283,196300\n1725000000,1,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n" +
			"timestamp,gpu,power_usage,hotspot_temperature,memory_temperature,gfx_clk,gfx,mem,mem_clock,vram_used," +
			"vram_total\n" +
			"1725000001,0,134,47,36,132,25,0,900,283,196300\n", []metrics.GPU{
			{Index: 0, Use: 0.25, MemoryUsed: 283 * mebi, MemoryTotal: 196300 * mebi, Power: 133, PowerLimit: no,
				Temperature: 47, Clock: 132},
			{Index: 1, Use: no, MemoryUsed: no, MemoryTotal: no, Power: no, PowerLimit: no, Temperature: no, Clock: no},
			{Index: 0, Use: 0.25, MemoryUsed: 283 * mebi, MemoryTotal: 196300 * mebi, Power: 134, PowerLimit: no,
				Temperature: 47, Clock: 132},
		}},
		{"amd-smi with units and partitions",
			"GPU,XCP,POWER_USAGE,MAX_POWER,GPU_TEMP,GFX_UTIL,GFX_CLOCK,VRAM_USED,VRAM_TOTAL\n" +
				"0,0,133 W,750 W,47 °C,25 %,132 MHz,1.5 GB,191.7 GB\n0,1,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n", []metrics.GPU{
				{Index: 0, Use: 0.25, MemoryUsed: 1.5 * 1024 * mebi, MemoryTotal: 191.7 * 1024 * mebi, Power: 133,
					PowerLimit: 750, Temperature: 47, Clock: 132},
			}},
		{"rocm-smi", "\nWARNING: AMD GPU device(s) is/are in a low-power state.\n" +
			"device,Temperature (Sensor edge) (C),Temperature (Sensor junction) (C),mclk clock speed:,mclk clock " +
			"level:,sclk clock level:,sclk clock speed:,Average Graphics Package Power (W),Max Graphics Package " +
			"Power " +
			"(W),GPU use (%),GFX Activity,VRAM Total Memory (B),VRAM Total Used Memory (B),Card Series,Card Vendor\n" +
			"card0,38.0,40.0,(96Mhz),0,1,(1700Mhz),41.0,300.0,3,4200000,34342961152,5000000,AMD Instinct " +
			"MI210,\"Advanced Micro Devices, Inc. [AMD/ATI]\"\n", []metrics.GPU{
			{Index: 0, Name: "AMD Instinct MI210", Use: 0.03, MemoryUsed: 5000000, MemoryTotal: 34342961152, Power: 41,
				PowerLimit: 300, Temperature: 40, Clock: 1700},
		}},
		{"no header", "0,133,47\n", nil},
		{"a header only", "gpu,power_usage\n", nil},
		{"short lines", "gpu,power_usage,gfx\n0\n1,5\nx,5,5\n", []metrics.GPU{
			{Index: 0, Use: no, MemoryUsed: no, MemoryTotal: no, Power: no, PowerLimit: no, Temperature: no, Clock: no},
			{Index: 1, Use: no, MemoryUsed: no, MemoryTotal: no, Power: 5, PowerLimit: no, Temperature: no, Clock: no},
		}},
	} {
		var table gpuTable
		var got []metrics.GPU
		for line := range strings.Lines(c.text) {
			if g, ok := table.line(strings.TrimSpace(line)); ok {
				got = append(got, g)
			}
		}
		if diff := cmp.Diff(c.want, got, compareSeconds); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// Lines become samples by an index that does not rise, or by a pause.
func TestGPUTicks(t *testing.T) {
	type line struct {
		at    time.Duration
		index int
	}
	for _, c := range []struct {
		name  string
		lines []line
		only  []int
		want  []string
		fails string
	}{
		{"two, together", []line{{0, 0}, {0, 1}, {1000 * ms, 0}, {1000 * ms, 1}}, nil,
			[]string{"0s+0s: 0 1", "1s+1s: 0 1"}, ""},
		{"one", []line{{0, 0}, {1000 * ms, 0}, {2500 * ms, 0}}, nil, []string{"0s+0s: 0", "1s+1s: 0", "2.5s+1.5s: 0"},
			""},
		{"a slow driver", []line{{0, 0}, {400 * ms, 1}, {1500 * ms, 0}, {2400 * ms, 1}, {3500 * ms, 0}}, nil,
			[]string{"0s+0s: 0 1", "1.5s+1.5s: 0 1", "3.5s+2s: 0"}, ""},
		{"one was lost", []line{{0, 0}, {0, 1}, {1000 * ms, 0}, {2000 * ms, 0}}, nil,
			[]string{"0s+0s: 0 1", "1s+1s: 0", "2s+1s: 0"}, ""},
		{"some of them", []line{{0, 0}, {0, 1}, {0, 2}, {1000 * ms, 0}, {1000 * ms, 1}, {1000 * ms, 2}}, []int{0, 2},
			[]string{"0s+0s: 0 2", "1s+1s: 0 2"}, ""},
		{"none of them", []line{{0, 0}, {0, 1}, {1000 * ms, 0}}, []int{7}, nil,
			"nvidia-smi shows none of the GPUs [7], only 0 to 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, err := gpuToolOf("nvidia-smi", time.Second)
				assert.Fine(t, err)
				o := GPUOptions{Only: c.only, timeouts: timeouts{later: time.Hour}}.defaults()
				s := gpuStream{tool: tool, options: o, out: make(chan metrics.GPUSecond, 9), limit: time.Hour}
				p := &toolProcess{lines: make(chan string)}
				over := make(chan error)
				go func() {
					over <- s.follow(t.Context(), p)
				}()
				for _, l := range c.lines {
					time.Sleep(time.Until(o.Start.Add(l.at)))
					select {
					case p.lines <- string(rune('0'+l.index)) + ", g, 1, 2, 3, 4, 5, 6, 7":
					case err = <-over:
					}
				}
				if c.fails == "" {
					time.Sleep(3 * time.Second)
					close(p.lines)
					err = <-over
				}
				if c.fails == "" && err != nil || c.fails != "" && (err == nil || err.Error() != c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				close(s.out)
				var got []string
				for second := range s.out {
					text := second.At.String() + "+" + second.Took.String() + ":"
					for _, g := range second.GPUs {
						text += " " + string(rune('0'+g.Index))
					}
					got = append(got, text)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		})
	}
}

func TestWatchGPUsWithout(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := WatchGPUs(t.Context(), GPUOptions{})
	if !errors.Is(err, errNoGPUTool) || err.Error() != "no GPU tool: nvidia-smi, amd-smi and rocm-smi not found" {
		t.Errorf("error %v", err)
	}
	_, err = WatchGPUs(t.Context(), GPUOptions{tools: []string{"rm"}})
	if err == nil || errors.Is(err, errNoGPUTool) {
		t.Errorf("error %v, want one that refuses the tool", err)
	}
}

// An accelerator has sane figures or none, for any output of a tool.
func FuzzGPULines(f *testing.F) {
	f.Add("0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980\n1, x, [N/A], 1e300, NaN, Inf, -1, (5), " +
		"0x1p4\n")
	f.Add("timestamp,gpu,power_usage,gfx,vram_used,vram_total\n17,0,133 W,5 %,1.5 GB,\"19\n17,1\n")
	f.Add("device,GPU use (%),VRAM Total Memory (B)\ncard0,3,34342961152\ncard,\"\"\",1\n")
	f.Fuzz(func(t *testing.T, text string) {
		nvidia := nvidiaTable()
		var table gpuTable
		var tick gpuSample
		for line := range strings.Lines(text) {
			for _, parse := range []func(string) (metrics.GPU, bool){nvidia.line, table.line} {
				g, ok := parse(strings.TrimSpace(line))
				if !ok {
					continue
				}
				if g.Index < 0 || g.Index >= mostGPUs || len(g.Name) > 4*64 {
					t.Errorf("%+v", g)
				}
				for _, v := range []float64{g.Use, g.MemoryUsed, g.MemoryTotal, g.Power, g.PowerLimit, g.Clock} {
					if v < 0 || v > 1e15 {
						t.Errorf("%+v", g)
					}
				}
				if tick.ends(g.Index) {
					_, _ = tick.take([]int{0})
				}
				tick.add(g, 0)
				if len(tick.gpus) > mostGPUs {
					t.Errorf("%d accelerators in a look", len(tick.gpus))
				}
			}
		}
	})
}

func BenchmarkGPULine(b *testing.B) {
	nvidia := nvidiaTable()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := nvidia.line("0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980"); !ok {
			b.Fatal("not read")
		}
	}
}
