package calibration

import "time"

// Limits of what counts as measured exactly, for chunks; MostLate is that for requests. Of the chunks' stamps, 99 % may be off
// by no more than MostError, and no more than MostShared of them may share a stamp with the one before.
const (
	MostError  = time.Millisecond
	MostShared = 0.01
)

// Figures are what a campaign measured. What could not be measured is 0 or empty, and Problems say why.
type Figures struct {
	// The most that was measured exactly, in whichever step: requests that arrived at a rate and were sent on time, streams
	// and chunks with exact stamps. MoreStreams and MoreChunks say that the campaign ended there and not the client.
	RequestsPerSecond float64 `json:"most_requests_per_s"`
	OpenStreams       float64 `json:"most_open_streams"`
	ChunksPerSecond   float64 `json:"most_chunks_per_s"`
	MoreStreams       bool    `json:"more_open_streams_not_tried"`
	MoreChunks        bool    `json:"more_chunks_per_s_not_tried"`
	// WithoutPause is what Users reach who ask again at once, the median of the rounds. Nothing of that is on time or late: it
	// is how many requests/s the client and the server can do together, and not how many can be measured.
	WithoutPause float64 `json:"without_pause_requests_per_s"`
	// StampError at a load that most machines carry, with the stamps that serve would use.
	StampError Quantiles `json:"stamp_error"`
	Timestamps string    `json:"timestamps"`

	Rounds    []RequestRound `json:"request_rounds"`
	Rates     []RateStep     `json:"request_rate_steps"`
	Streams   []Step         `json:"open_streams_steps"`
	Chunks    []Step         `json:"chunks_per_s_steps"`
	Stamps    []StampRun     `json:"stamps"`
	Lateness  []LatenessRun  `json:"lateness"`
	Dashboard *Dashboard     `json:"dashboard"`
	Problems  []Problem      `json:"problems"`
}

// RequestRound is a closed loop that asked as fast as it could.
type RequestRound struct {
	Users             int     `json:"users"`
	RequestsPerSecond float64 `json:"requests_per_s"`
}

// RateStep is a rate of requests on the way to the highest.
type RateStep struct {
	// Asked for, and what was Reached over the time of the arrivals and of what took longer.
	Asked   float64 `json:"asked_requests_per_s"`
	Reached float64 `json:"reached_requests_per_s"`
	// Missed says in a few words why the step does not count as measured exactly; "" if it does.
	Missed string `json:"missed"`
	Result Result `json:"result"`
}

// Step is a load of open streams on the way to the most of them.
type Step struct {
	// Asked for; in Result is what came.
	Streams         int     `json:"asked_streams"`
	ChunksPerSecond float64 `json:"asked_chunks_per_s"`
	// Plateau is the rate of chunks while all streams were open.
	Plateau float64 `json:"plateau_chunks_per_s"`
	// Missed says in a few words why the step does not count as measured exactly; "" if it does.
	Missed string `json:"missed"`
	Result Result `json:"result"`
}

// StampRun is the same load with one kind of stamps, the medians of its rounds.
type StampRun struct {
	Timestamps      string    `json:"timestamps"`
	Streams         int       `json:"streams"`
	ChunksPerSecond float64   `json:"chunks_per_s"`
	Rounds          int       `json:"rounds"`
	Error           Quantiles `json:"error"`
	SharedShare     float64   `json:"shared_share"`
	CPU             float64   `json:"cpu_per_chunk_us"`
}

// LatenessRun is how late arrivals were, with requests sent or, for the pacer alone, without.
type LatenessRun struct {
	RequestsPerSecond float64   `json:"requests_per_s"`
	Sent              bool      `json:"sent"`
	Lateness          Quantiles `json:"lateness"`
}

// Dashboard compares rounds of a load with the dashboard drawn and without.
type Dashboard struct {
	Pairs int `json:"pairs"`
	// CPURatio is the CPU time with the dashboard divided by that without, DrawnBytes what it would have sent to the terminal.
	CPURatio   float64 `json:"cpu_ratio"`
	DrawnBytes float64 `json:"drawn_bytes_per_s"`
	With       Watched `json:"with"`
	Without    Watched `json:"without"`
}

// Watched is a side of a comparison, the medians of its rounds.
type Watched struct {
	Error    Quantiles `json:"stamp_error"`
	Lateness Quantiles `json:"lateness"`
	CPU      float64   `json:"cpu_s"`
}

// Problem is why a part of the campaign has no figure.
type Problem struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

// Empty reports whether nothing at all was measured.
func (f *Figures) Empty() bool {
	return len(f.Rounds) == 0 && len(f.Rates) == 0 && len(f.Streams) == 0 && len(f.Chunks) == 0 && len(f.Stamps) == 0 && len(f.Lateness) == 0 && f.Dashboard == nil
}
