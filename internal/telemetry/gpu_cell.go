package telemetry

import (
	"encoding/csv"
	"strconv"
	"strings"

	"benchtop/metrics"
)

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
