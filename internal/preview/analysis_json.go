package preview

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"benchtop/internal/text"
)

// analysisSchema is the version of an analysis as JSON. It rises when a key changes its meaning or is removed.
const analysisSchema = 1

type analysisJSON struct {
	Schema int `json:"schema"`
	About
	Sessions      *sessionsJSON `json:"conversations,omitempty"`
	Requests      int           `json:"requests"`
	Input         *lengthsJSON  `json:"input_tokens"`
	Output        *lengthsJSON  `json:"output_tokens"`
	UnknownOutput int           `json:"unknown_output_lengths"`
	Joint         *jointJSON    `json:"joint"`
	Prefixes      *prefixesJSON `json:"prefix_sharing"`
	Arrivals      *arrivalsJSON `json:"arrivals"`
	Flags         []string      `json:"flags"`
}

type lengthsJSON struct {
	Total     int     `json:"total"`
	Mean      float64 `json:"mean"`
	Std       float64 `json:"std"`
	Min       int     `json:"min"`
	P50       int     `json:"p50"`
	P90       int     `json:"p90"`
	P99       int     `json:"p99"`
	Max       int     `json:"max"`
	Histogram []bin   `json:"histogram"`
}

type jointJSON struct {
	Correlation *float64   `json:"correlation"`
	Cells       []cellJSON `json:"cells"`
}

// cellJSON has limits that are both included.
type cellJSON struct {
	InputFrom  int `json:"input_from"`
	InputTo    int `json:"input_to"`
	OutputFrom int `json:"output_from"`
	OutputTo   int `json:"output_to"`
	Requests   int `json:"requests"`
}

type prefixesJSON struct {
	PromptTokens     int         `json:"prompt_tokens"`
	Approximate      bool        `json:"approximate"` // texts are compared by their bytes
	Blocks           []blockJSON `json:"block_sizes"`
	MainBlock        int         `json:"block_tokens"` // that all below is of
	SharedPrefixes   int         `json:"shared_prefixes"`
	MainPrefixes     *int        `json:"shared_prefixes_of_90_percent"`
	WorkingSetTokens int         `json:"working_set_tokens"`
	ReusedTokens     int         `json:"reused_tokens"`
}

type blockJSON struct {
	Tokens    int     `json:"block_tokens"`
	HitTokens int     `json:"hit_tokens"`
	HitRate   float64 `json:"hit_rate"`
	AtLeast   bool    `json:"at_least"`
}

type arrivalsJSON struct {
	Requests   int        `json:"requests"`
	DurationS  float64    `json:"duration_s"`
	Rate       *float64   `json:"requests_per_s"`
	PeakSecond int        `json:"peak_in_1s"`
	PeakMinute int        `json:"peak_in_60s"`
	CV         *float64   `json:"gap_cv"`
	Burstiness *float64   `json:"burstiness"`
	Back       int        `json:"times_going_back"`
	Series     seriesJSON `json:"series"`
}

type seriesJSON struct {
	IntervalS float64 `json:"interval_s"`
	Requests  []int   `json:"requests"`
}

// MarshalJSON gives the analysis for programs, null where something is not known.
func (a *Analysis) MarshalJSON() ([]byte, error) {
	j := analysisJSON{Schema: analysisSchema, About: a.About, Sessions: a.sessions.json(), Requests: a.input.n,
		Input: a.input.json(), Output: a.output.json(),
		UnknownOutput: a.unanswered, Joint: a.joint.json(), Prefixes: a.prefixes.json(), Arrivals: a.arrivals.json(),
		Flags: []string{}}
	for _, flag := range a.Flags() {
		j.Flags = append(j.Flags, strings.Fields(flag)...)
	}
	return json.Marshal(j)
}

func (l *lengths) json() *lengthsJSON {
	if l.n == 0 {
		return nil
	}
	return &lengthsJSON{l.sum, l.mean(), l.std(), l.quantile(0), l.quantile(0.5), l.quantile(0.9), l.quantile(0.99),
		l.quantile(1), l.bins(mostBins)}
}

func (j *joint) json() *jointJSON {
	if j.n == 0 {
		return nil
	}
	out := &jointJSON{Correlation: finite(j.correlation())}
	to := func(bits int) int { return max(binFrom(bits), binFrom(bits+1)-1) }
	for _, c := range slices.SortedFunc(maps.Keys(j.cells),
		func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) }) {
		out.Cells = append(out.Cells, cellJSON{binFrom(c[0]), to(c[0]), binFrom(c[1]), to(c[1]), j.cells[c]})
	}
	return out
}

func (p *prefixes) json() *prefixesJSON {
	if p.prompts == 0 {
		return nil
	}
	j := &prefixesJSON{PromptTokens: p.total, Approximate: p.texts, MainBlock: p.sizes[p.whole].tokens,
		WorkingSetTokens: p.cached,
		ReusedTokens:     min(int(p.reused), p.cached)}
	for _, size := range p.sizes {
		j.Blocks = append(j.Blocks,
			blockJSON{size.tokens, size.hits, float64(size.hits) / float64(max(1, p.total)), p.atLeast(size.tokens)})
	}
	some, all := p.main(0.9)
	if j.SharedPrefixes = all; some > 0 || all == 0 {
		j.MainPrefixes = &some
	}
	return j
}

func (a *arrivals) json() *arrivalsJSON {
	if a.n == 0 {
		return nil
	}
	return &arrivalsJSON{Requests: a.n, DurationS: a.duration().Seconds(), Rate: finite(a.rate()),
		PeakSecond: a.second.most, PeakMinute: a.minute.most,
		CV: finite(a.cv()), Burstiness: finite(a.burstiness()), Back: a.back,
		Series: seriesJSON{a.series.width.Seconds(), a.series.n}}
}

// finite is null for numbers that JSON does not have.
func finite(v float64) *float64 {
	if !text.Finite(v) {
		return nil
	}
	return &v
}
