// Package grid describes a sweep for its screen, its plain lines and its plots: the combinations of server, benchmark
// and load parameters, their runs and the figures of these. It does no I/O.
package grid

import (
	"math"
	"time"
)

// State is how far a combination or a run is.
type State string

// The states of a combination and of a run. Found: the result of an earlier session is used. Linked: left out by
// --link-vars.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Found   State = "found"
	Failed  State = "failed"
	Skipped State = "skipped"
	Linked  State = "linked out"
)

// Over reports whether nothing more is done in this state.
func (s State) Over() bool { return s != Waiting && s != Running }

// Cell is a combination: its place in the grid, and its runs so far.
type Cell struct {
	// Server, Bench and Load name the parameters, "" for those of the base command.
	Server, Bench, Load string
	State               State
	// Runs are in order of their numbers.
	Runs []Run
}

// Run is one measurement of a combination.
type Run struct {
	Number int
	State  State
	// Figures are known where State is Done or Found.
	Figures Figures
	// Trouble says why a run failed, "" for one that did not.
	Trouble string
	Took    time.Duration
}

// Figures are those of a result that the grid shows, by the keys of vLLM's result. Latencies are in milliseconds; NaN
// for figures that a result lacks.
type Figures struct {
	Completed, Failed                                    int
	RequestThroughput, OutputThroughput, TotalThroughput float64
	MeanTTFT, MedianTTFT, P99TTFT, MedianTPOT, P99TPOT   float64
	P99ITL, MedianE2EL, P99E2EL, Goodput                 float64
	// PerUser and PerGPU are output tokens per second for each user and each GPU: the axes of the Pareto front.
	PerUser, PerGPU float64
	// Ready and FirstToken are times from the start of a server.
	Ready, FirstToken float64
}

// Alone reports whether all runs are repeats of one combination.
func (s *Snapshot) Alone() bool { return len(s.Cells) == 1 && s.Variable == "" }

// Unknown are figures of which none is known yet.
func Unknown() (f Figures) {
	for _, v := range f.values() {
		*v = math.NaN()
	}
	return f
}

// ServerState is how far the server of the combination in progress is.
type ServerState string

// The states of the server. Foreign: it ran before.
const (
	ServerNone     ServerState = ""
	ServerForeign  ServerState = "not started here"
	ServerStarting ServerState = "starting"
	ServerReady    ServerState = "ready"
	ServerStopping ServerState = "stopping"
	ServerFailed   ServerState = "failed"
)

// Server is the server of the combination in progress.
type Server struct {
	State   ServerState
	Command string
	// Since is how long it has been in this state.
	Since time.Duration
	// Log are its last lines, oldest first.
	Log []string
}

// Search is what a search for the highest load within one set of objectives knows so far.
type Search struct {
	// Server and Bench name the parameters, as in a Cell.
	Server, Bench string
	// Tier names the objectives.
	Tier string
	// Passed is the highest load that passed, Failed the lowest above it that did not; 0 for none.
	Passed, Failed float64
	// Confidence that Passed is within the objectives, 0 to 1.
	Confidence float64
	// Over: the search of this tier has ended.
	Over bool
}

// Snapshot is a sweep at a moment. It shares no memory with the sweep.
type Snapshot struct {
	// Title says what is swept; Dir is the directory of the experiment. Word is what all runs are together, sweep or
	// series, and Part what a cell of them is: combination, load, workload or start.
	Title, Dir, Word, Part string
	// Whole: the runs belong together, so that none is skipped or repeated.
	Whole bool
	Cells []Cell
	// Current is the index of the combination in progress, -1 for none; CurrentRun the number of its run, -1 for a
	// warm-up.
	Current, CurrentRun int
	Server              Server
	// Searches are those of serve_sla so far, by parameters and tier; Variable is what they set, such as
	// max_concurrency.
	Searches []Search
	Variable string
	// Table is what the runs show together; nil for nothing.
	Table *Table
	// Elapsed is the time since the start; Left about how long the rest takes, where LeftKnown.
	Elapsed, Left time.Duration
	LeftKnown     bool
	// Notice is the latest news, such as a failure.
	Notice string
	// Over: the sweep has ended. Summary says how.
	Over    bool
	Summary string
}

// Table is one for a screen, of lines under a title; the first is the head.
type Table struct {
	Title string
	Lines []TableLine
}

// TableLine is a line, and whether it says that something is better, or worse.
type TableLine struct {
	Text      string
	Good, Bad bool
}
