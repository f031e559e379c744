package metrics

// MostClasses bounds the classes of a report. Requests of further ones are of the class OtherClasses.
const (
	MostClasses  = 64
	OtherClasses = "others"
)

// ClassShare is what the requests of one class did.
type ClassShare struct {
	Class             string // foreign text
	Completed, Failed int
	// Tokens of the successes.
	InputTokens, OutputTokens, CachedTokens int
	// RequestThroughput and OutputThroughput are per second of the run.
	RequestThroughput, OutputThroughput float64
	// TTFT, TPOT and E2EL have the percentiles of the plan. TPOT is of answers of more than one token.
	TTFT, TPOT, E2EL Statistic
	// Good successes met every objective of the run; with no objectives it is 0.
	Good int
	// Judged answers had to have a form, and Correct ones had it.
	Judged, Correct int
}
