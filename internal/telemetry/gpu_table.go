package telemetry

import (
	"slices"
	"strings"

	"benchtop/metrics"
)

// parseTable reads CSV whose first line, or any later one, names the columns. The names differ from version to version of
// the tools, so a column is known by what its name begins with, and the first of several counts.
func parseTable() func(line string) (metrics.GPU, bool) {
	var t gpuTable
	return t.line
}

// gpuTable knows the columns.
type gpuTable struct {
	columns []int   // the place of each, -1 for none; nil as long as no header came
	memory  float64 // the unit of memory, in bytes
}

// The columns of a gpuTable.
const (
	columnIndex = iota
	columnPartition
	columnName
	columnUse
	columnUsed
	columnTotal
	columnPower
	columnLimit
	columnTemperature
	columnClock
	tableColumns
)

// columnNames are the beginnings of names in lower case, only letters and digits, the best first: of amd-smi, then of
// rocm-smi.
func columnNames(column int) []string {
	switch column {
	case columnIndex:
		return []string{"gpu", "device"}
	case columnPartition:
		return []string{"xcp"}
	case columnName:
		return []string{"marketname", "cardseries", "cardmodel", "devicename"}
	case columnUse:
		return []string{"gpuuse", "gfxutil", "gfx"}
	case columnUsed:
		return []string{"vramused", "vramtotalused"}
	case columnTotal:
		return []string{"vramtotal"}
	case columnPower:
		return []string{"powerusage", "socketpower", "averagegraphicspackagepower", "currentsocketgraphicspackagepower", "power"}
	case columnLimit:
		return []string{"maxpower", "powercap", "maxgraphicspackagepower"}
	case columnTemperature:
		return []string{"hotspottemperature", "gputemp", "temperaturesensorjunction", "temperaturesensoredge", "temperature"}
	}
	return []string{"gfxclk", "gfxclock", "sclkclockspeed"}
}

// excluded are names that begin like those of a column but are another's.
func excluded(column int, name string) bool {
	switch column {
	case columnIndex:
		return name != "gpu" && name != "device"
	case columnUse:
		return strings.HasPrefix(name, "gfx") && name != "gfx" && name != "gfxutil" // a clock; rocm-smi's activity only grows
	case columnTotal:
		return strings.HasPrefix(name, "vramtotalused")
	case columnClock:
		return strings.HasSuffix(name, "level")
	}
	return false
}

func (t *gpuTable) line(line string) (metrics.GPU, bool) {
	c := cells(line)
	if t.header(c) || t.columns == nil {
		return metrics.GPU{}, false
	}
	cell := func(column int) string {
		if at := t.columns[column]; at >= 0 && at < len(c) {
			return c[at]
		}
		return ""
	}
	index, ok := gpuIndex(cell(columnIndex))
	// The parts of a partitioned GPU have lines of their own; only the first has figures.
	if part := cell(columnPartition); !ok || part != "" && part != "0" && part != "N/A" {
		return metrics.GPU{}, false
	}
	g := noGPU(index)
	g.Name, g.Use = gpuName(cell(columnName)), percent(cell(columnUse))
	g.MemoryUsed, g.MemoryTotal = memory(cell(columnUsed), t.memory), memory(cell(columnTotal), t.memory)
	g.Power, g.PowerLimit = watts(cell(columnPower)), watts(cell(columnLimit))
	g.Temperature, g.Clock = celsius(cell(columnTemperature)), mhz(cell(columnClock))
	return g, true
}

// header takes a line as the names of columns if one of them is the index and another a figure.
func (t *gpuTable) header(c []string) bool {
	names := make([]string, len(c))
	for i, name := range c {
		names[i] = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(name))
	}
	columns := make([]int, tableColumns)
	found := 0
	for column := range columns {
		columns[column] = columnOf(column, names)
		if columns[column] >= 0 {
			found++
		}
	}
	if columns[columnIndex] < 0 || found < 2 {
		return false
	}
	t.columns, t.memory = columns, mebi
	if at := columns[columnTotal]; at >= 0 && strings.HasSuffix(c[at], "(B)") {
		t.memory = 1 // rocm-smi; amd-smi counts MiB
	}
	return true
}

func columnOf(column int, names []string) int {
	for _, beginning := range columnNames(column) {
		if at := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, beginning) && !excluded(column, name)
		}); at >= 0 {
			return at
		}
	}
	return -1
}
