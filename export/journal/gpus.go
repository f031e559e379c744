package journal

import (
	"strconv"
	"strings"

	"benchtop/metrics"
)

// mostGPUs bounds the accelerators of one look.
const mostGPUs = 1024

// longestName of an accelerator in bytes.
const longestName = 256

// gpuFigures are those of one accelerator.
func gpuFigures(g *metrics.GPU) []figure {
	return []figure{
		{"use", &g.Use}, {"memory_bytes", &g.MemoryUsed}, {"memory_total_bytes", &g.MemoryTotal}, {"power_w", &g.Power},
		{"power_limit_w", &g.PowerLimit}, {"temperature_c", &g.Temperature}, {"clock_mhz", &g.Clock},
	}
}

// appendGPUs appends a look at all accelerators.
func appendGPUs(b []byte, s *metrics.GPUSecond) []byte {
	b = appendLength(b, "at_ns", s.At)
	b = appendLength(b, "took_ns", s.Took)
	b = append(appendKey(b, "each"), '[')
	for i := range s.GPUs[:min(len(s.GPUs), mostGPUs)] {
		if i > 0 {
			b = append(b, ',')
		}
		g := &s.GPUs[i]
		b = append(b, '{')
		b = appendNatural(b, "index", g.Index)
		b = appendText(b, "name", g.Name[:min(len(g.Name), longestName)])
		for _, f := range gpuFigures(g) {
			b = appendFigure(b, f.key, *f.value)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// gpus reads what appendGPUs wrote.
func (f *fields) gpus() metrics.GPUSecond {
	s := metrics.GPUSecond{At: f.length("at_ns"), Took: f.length("took_ns")}
	each := f.array("each")
	if len(each) > mostGPUs {
		f.fail("each", "at most "+strconv.Itoa(mostGPUs)+" accelerators")
		return s
	}
	for _, v := range each {
		o, err := v.Object()
		if err != nil {
			f.fail("each", "an object for each accelerator")
			return s
		}
		inner := fields{o: o}
		s.GPUs = append(s.GPUs, inner.gpu())
		f.inherit(&inner)
	}
	return s
}

func (f *fields) gpu() metrics.GPU {
	g := metrics.GPU{Index: f.natural("index"), Name: f.text("name")}
	if len(g.Name) > longestName {
		g.Name = strings.ToValidUTF8(g.Name[:longestName], "")
	}
	for _, x := range gpuFigures(&g) {
		*x.value = f.figure(x.key)
	}
	return g
}
