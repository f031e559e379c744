package telemetry

import (
	"bufio"
	"io"
	"strings"
)

// modelName reads /proc/cpuinfo, lines of "name : value" for each processor, and returns the first model with single spaces.
func modelName(r io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(r, 64<<10))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
