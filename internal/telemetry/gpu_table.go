package telemetry

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// gpuTable reads CSV. Unless the columns are given, a header names them, in the first line or any later one. The names
// differ between versions of the tools, so a column is known by the beginning of its name, and the first of several
// counts.
type gpuTable struct {
	columns []int   // the place of each, -1 for none; nil as long as no header came
	memory  float64 // the unit of memory, in bytes
	width   int     // of every line, in cells; 0 for one with headers
}

// The columns of a gpuTable.
const (
	columnIndex = iota
	columnName
	columnUse
	columnUsed
	columnTotal
	columnPower
	columnLimit
	columnTemperature
	columnClock
	columnPartition
)

// gpuColumn has the beginnings of a column's names, in lower case and only of letters and digits, the best first: of
// amd-smi, then of rocm-smi. other reports names that begin alike but belong to another column; nil for none.
type gpuColumn struct {
	names []string
	other func(name string) bool
}

func gpuColumns() []gpuColumn {
	return []gpuColumn{
		columnIndex: {[]string{"gpu", "device"}, func(name string) bool { return name != "gpu" && name != "device" }},
		columnName:  {[]string{"marketname", "cardseries", "cardmodel", "devicename"}, nil},
		columnUse: {[]string{"gpuuse", "gfxutil", "gfx"}, func(name string) bool {
			// a clock, or rocm-smi's activity, which is a counter
			return strings.HasPrefix(name, "gfx") && name != "gfx" && name != "gfxutil"
		}},
		columnUsed: {[]string{"vramused", "vramtotalused"}, nil},
		columnTotal: {[]string{"vramtotal"},
			func(name string) bool { return strings.HasPrefix(name, "vramtotalused") }},
		columnPower: {[]string{"powerusage", "socketpower", "averagegraphicspackagepower",
			"currentsocketgraphicspackagepower", "power"}, nil},
		columnLimit: {[]string{"maxpower", "powercap", "maxgraphicspackagepower"}, nil},
		columnTemperature: {
			[]string{"hotspottemperature", "gputemp", "temperaturesensorjunction", "temperaturesensoredge",
				"temperature"}, nil,
		},
		columnClock: {[]string{"gfxclk", "gfxclock", "sclkclockspeed"},
			func(name string) bool { return strings.HasSuffix(name, "level") }},
		columnPartition: {[]string{"xcp"}, nil},
	}
}

// place is the index of the column among the names of a header, -1 if it is not there.
func (c gpuColumn) place(names []string) int {
	for _, beginning := range c.names {
		if at := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, beginning) && (c.other == nil || !c.other(name))
		}); at >= 0 {
			return at
		}
	}
	return -1
}

// line reads a line; false if it is not about an accelerator.
func (t *gpuTable) line(line string) (metrics.GPU, bool) {
	c := cells(line)
	if t.width == 0 && t.header(c) || t.width != 0 && len(c) != t.width || t.columns == nil {
		return metrics.GPU{}, false
	}
	return t.gpu(c)
}

// gpu reads the cells of a line.
func (t *gpuTable) gpu(cells []string) (metrics.GPU, bool) {
	cell := func(column int) string {
		if at := t.columns[column]; at >= 0 && at < len(cells) {
			return cells[at]
		}
		return ""
	}
	index, ok := gpuIndex(cell(columnIndex))
	// The partitions of a GPU have their own lines; only the first has figures.
	if part := cell(columnPartition); !ok || part != "" && part != "0" && part != "N/A" {
		return metrics.GPU{}, false
	}
	return metrics.GPU{
		Index: index, Name: gpuName(cell(columnName)), Use: percent(cell(columnUse)),
		MemoryUsed: memory(cell(columnUsed), t.memory), MemoryTotal: memory(cell(columnTotal), t.memory),
		Power: watts(cell(columnPower)), PowerLimit: watts(cell(columnLimit)),
		Temperature: celsius(cell(columnTemperature)), Clock: quantity(cell(columnClock), 0, 1e5),
	}, true
}

// header reads a line as the names of columns if one of them is the index and another a figure.
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
	var columns []int
	found := 0
	for _, column := range gpuColumns() {
		at := column.place(names)
		if columns = append(columns, at); at >= 0 {
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

const (
	mebi = 1 << 20
	// mostGPUs is beyond any machine; a higher index is invalid.
	mostGPUs = 1024
)

// cells splits a line of CSV. Stray quotes are kept.
func cells(line string) []string {
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes, r.TrimLeadingSpace, r.FieldsPerRecord = true, true, -1
	found, err := r.Read()
	if err != nil {
		return nil
	}
	return metrics.Each(found, strings.TrimSpace)
}

// quantity is a cell as a number from least to most, Unsaid for "[N/A]", "[Not Supported]" and any other value. The
// number may be in parentheses, and a unit may follow.
func quantity(cell string, least, most float64) float64 {
	number, _ := unit(cell)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= least && v <= most) {
		return metrics.Unsaid()
	}
	return v
}

// unit splits a cell into a number and its unit.
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

// memory is a cell in bytes. each is the unit of a cell without one.
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

// gpuIndex is "3" or "card3".
func gpuIndex(cell string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(cell, "card"))
	return n, err == nil && n >= 0 && n < mostGPUs
}

// gpuName shortens a name.
func gpuName(cell string) string {
	const most = 64
	name := []rune(printable([]byte(cell)))
	return string(name[:min(len(name), most)])
}

// nvidiaQuery are the columns of nvidia-smi's lines, in the order of a gpuTable's.
const nvidiaQuery = "index,name,utilization.gpu,memory.used,memory.total," +
	"power.draw,power.limit,temperature.gpu,clocks.sm"

// nvidiaTable is the table of nvidia-smi, whose lines are
//
//	0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980
//
// one for each GPU. Memory is in MiB.
func nvidiaTable() gpuTable {
	return gpuTable{columns: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, -1}, memory: mebi, width: columnPartition}
}
