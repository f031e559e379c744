// Package dashboard reads and writes the files of vLLM's performance dashboard: results with the commands that made
// them, and the table of the results of a folder.
package dashboard

import "strings"

// Kind is the kind of a measurement.
type Kind string

// The kinds, in the order of a table.
const (
	Latency    Kind = "latency"
	Throughput Kind = "throughput"
	Serving    Kind = "serving"
)

// kinds are all of them, in that order.
var kinds = []Kind{Latency, Throughput, Serving}

// Commands are the content of NAME.commands, the file beside a result NAME.json. Each is a line for a shell.
type Commands struct {
	Server     string `json:"server_command,omitempty"` // of serving
	Client     string `json:"client_command,omitempty"` // of serving
	Latency    string `json:"latency_command,omitempty"`
	Throughput string `json:"throughput_command,omitempty"`
	GPU        string `json:"gpu_type"` // a name for each GPU, one per line
}

// Row is a line of the table, by the titles of its columns. A value is a string, a float64 or a bool; an absent one has
// no entry.
type Row map[string]any

// Number is a value as a number, and whether it is one. A text is one if it reads as one, as "inf" does.
func (r Row) Number(title string) (float64, bool) { return number(r[title]) }

// FileName is a name with underscores for all but letters, digits, dots, dashes and underscores of ASCII, and of at
// most 180 bytes.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 180)]
}
