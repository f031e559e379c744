// Package suite reads and writes the files of vLLM's performance dashboard: results with the commands that made them, and the tables
// benchmark_results.json of a whole folder.
package suite

// Kind is the kind of a measurement.
type Kind string

// The kinds, in the order of a table.
const (
	Latency    Kind = "latency"
	Throughput Kind = "throughput"
	Serving    Kind = "serving"
)

// Commands are the content of NAME.commands, the file beside a result NAME.json.
type Commands struct {
	Server string // of serving, a line for a shell
	Client string // of serving; the whole command of latency and throughput
	GPU    string // a name for each GPU, one per line
}

// Row is a line of benchmark_results.json, by the titles of its columns. A value is a string, a float64 or a bool; an absent one has no
// entry.
type Row map[string]any
