package telemetry

import (
	"encoding/csv"
	"slices"
	"strconv"
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

const (
	mebi = 1 << 20
	// mostGPUs is more than a machine has; a higher index is none.
	mostGPUs = 1024
)

// cells cuts a line of CSV. Quotes that make no sense are taken as they are.
func cells(line string) []string {
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes, r.TrimLeadingSpace, r.FieldsPerRecord = true, true, -1
	found, err := r.Read()
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = strings.TrimSpace(found[i])
	}
	return found
}

// quantity is a cell as a number from least to most, Unsaid if it is none: "[N/A]", "[Not Supported]" and what cannot be.
// It may stand in parentheses, and a unit may follow.
func quantity(cell string, least, most float64) float64 {
	number, _ := unit(cell)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= least && v <= most) {
		return metrics.Unsaid()
	}
	return v
}

// unit cuts a cell into a number and what follows.
func unit(cell string) (number, unit string) {
	cell = strings.Trim(cell, "() ")
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell, ""
	}
	end := strings.IndexFunc(cell, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune("+-.", r) })
	if end < 0 {
		return cell, ""
	}
	return cell[:end], strings.TrimSpace(cell[end:])
}

// memory is a cell in bytes. each is the unit of one that has none.
func memory(cell string, each float64) float64 {
	switch _, named := unit(cell); strings.ToLower(named) {
	case "b":
		each = 1
	case "kb", "kib":
		each = 1 << 10
	case "mb", "mib":
		each = mebi
	case "gb", "gib":
		each = 1 << 30
	}
	return quantity(cell, 0, 1e15/each) * each
}

// percent is a cell as a share.
func percent(cell string) float64 { return quantity(cell, 0, 100) / 100 }

func watts(cell string) float64   { return quantity(cell, 0, 1e5) }
func celsius(cell string) float64 { return quantity(cell, -50, 500) }
func mhz(cell string) float64     { return quantity(cell, 0, 1e5) }

// gpuIndex is "3" or "card3".
func gpuIndex(cell string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(cell, "card"))
	return n, err == nil && n >= 0 && n < mostGPUs
}

// noGPU has an index and no figures.
func noGPU(index int) metrics.GPU {
	no := metrics.Unsaid()
	return metrics.GPU{Index: index, Use: no, MemoryUsed: no, MemoryTotal: no, Power: no, PowerLimit: no, Temperature: no, Clock: no}
}

// gpuName keeps a name short.
func gpuName(cell string) string {
	const most = 64
	name := []rune(printable([]byte(cell)))
	return string(name[:min(len(name), most)])
}

// nvidiaQuery are the columns that parseNvidia reads.
const nvidiaQuery = "index,name,utilization.gpu,memory.used,memory.total,power.draw,power.limit,temperature.gpu,clocks.sm"

// parseNvidia reads a line of nvidia-smi,
//
//	0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980
//
// which is one GPU. Memory is in MiB.
func parseNvidia(line string) (metrics.GPU, bool) {
	c := cells(line)
	if len(c) != 9 {
		return metrics.GPU{}, false
	}
	index, ok := gpuIndex(c[0])
	if !ok {
		return metrics.GPU{}, false
	}
	return metrics.GPU{
		Index: index, Name: gpuName(c[1]), Use: percent(c[2]), MemoryUsed: memory(c[3], mebi), MemoryTotal: memory(c[4], mebi),
		Power: watts(c[5]), PowerLimit: watts(c[6]), Temperature: celsius(c[7]), Clock: mhz(c[8]),
	}, true
}
