package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// answersFile is the name of the file with the answers of a search, in the directory of its pair.
const answersFile = "sla.json"

// allAtOnce is the rate at which all requests are sent at once.
const allAtOnce = "inf"

// Planned is the first combination that a search measures for a pair.
func (o *SLA) Planned(pair Combination) []Combination {
	if from := o.from(pair); from > 0 {
		return []Combination{o.at(pair, loadValue(from))}
	}
	return []Combination{o.at(pair, allAtOnce)}
}

// at is a pair under a load.
func (o *SLA) at(pair Combination, load string) Combination {
	pair.Place = filepath.Join(pair.Dir(), o.Variable+"="+load)
	pair.Load = o.Variable + "=" + load
	pair.Bench = pair.Bench.With(o.Variable, rateJSON(load))
	return pair
}

// Drive searches the highest load of a pair for each set, prints the answers and stores them.
func (o *SLA) Drive(ctx context.Context, s *Sweep, pair Combination) ([]Combination, error) {
	s.say("[SLA START]\nServe parameters: %s\nBench parameters: %s", orNone(pair.Server), orNone(pair.Bench))
	for _, set := range o.Sets {
		s.say("SLA criteria: %s", set.Conditions())
	}
	if s.o.DryRun {
		_, err := s.measure(ctx, o.Planned(pair)[0], 1)
		s.say("Omitting SLA search.\n[SLA END]")
		return nil, err
	}
	p := &pairSearch{SLA: o, sweep: s, pair: pair, runs: map[float64][]Record{}}
	err := p.search(ctx)
	answers := p.answers()
	for _, a := range answers {
		text := a.Text(o.Variable)
		s.say("%s", text)
		o.Found = append(o.Found, pairName(pair)+text)
	}
	missing := errors.Is(err, errMissing)
	if missing {
		s.say("The search ended early: %s", err)
		err = nil
	}
	err = errors.Join(err, p.store(answers, err == nil && !missing))
	if err != nil {
		return nil, err
	}
	s.say("[SLA END]")
	return p.combinations(), nil
}

// pairName is the name of a pair before its answer, "" for the only one.
func pairName(pair Combination) string {
	if dir := pair.Dir(); dir != "" {
		return dir + ": "
	}
	return ""
}

// errMissing is the end of a search by a run that failed or was skipped where the sweep goes on.
var errMissing = errors.New("a run has no result")

// run makes a run at a load, or finds it.
func (p *pairSearch) run(ctx context.Context, load string, number int) (Record, error) {
	records, err := p.sweep.measure(ctx, p.at(p.pair, load), number+1)
	if err != nil {
		return Record{}, err
	}
	for _, r := range records {
		if r.count("run_number") == number {
			return r, nil
		}
	}
	return Record{}, fmt.Errorf("%w: run %d at %s=%s", errMissing, number, p.Variable, load)
}

// file is that of a run.
func (p *pairSearch) file(load string, number int) string {
	return p.sweep.Path(p.at(p.pair, load), number)
}

// dir is the directory of all runs of the pair.
func (p *pairSearch) dir() string { return filepath.Join(p.sweep.o.Dir, p.pair.Dir()) }

// earlier are the loads that have runs already, with their number.
func (p *pairSearch) earlier() map[float64]int {
	found := map[float64]int{}
	entries, err := os.ReadDir(p.dir())
	if err != nil {
		return nil
	}
	for _, e := range entries {
		text, mine := strings.CutPrefix(e.Name(), p.Variable+"=")
		load, err := strconv.ParseFloat(text, 64)
		if !mine || err != nil || !(load > 0) || math.IsInf(load, 0) || loadValue(load) != text {
			continue
		}
		for n := 0; ; n++ {
			if info, err := os.Stat(p.file(text, n)); err != nil || info.Size() == 0 {
				break
			}
			found[load]++
		}
	}
	return found
}

// combinations are the loads that were measured, in order.
func (p *pairSearch) combinations() (all []Combination) {
	for _, load := range p.loads() {
		all = append(all, p.at(p.pair, loadValue(load)))
	}
	if p.guessed {
		all = append(all, p.at(p.pair, allAtOnce))
	}
	return all
}

// others reports whether the answers on file are to other sets.
func (p *pairSearch) others() bool {
	var stored storedAnswers
	raw, err := os.ReadFile(filepath.Join(p.dir(), answersFile))
	if err != nil || json.Unmarshal(raw, &stored) != nil {
		return false
	}
	same := slices.EqualFunc(stored.Sets, p.Sets,
		func(a storedAnswer, s Set) bool { return a.Name == s.Name && a.Conditions == s.Conditions() })
	return !same
}

func (p *pairSearch) loads() []float64 { return slices.Sorted(maps.Keys(p.runs)) }

// known is a figure, nil for 0.
func known(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// storedAnswers is the content of answersFile.
type storedAnswers struct {
	Variable string         `json:"variable"`
	Unit     string         `json:"unit"`
	Complete bool           `json:"complete"`
	Sets     []storedAnswer `json:"sets"`
	Tested   []storedLoad   `json:"tested"`
}

// storedAnswer is an Answer. Highest is the highest load within the set, null for none; Failed the lowest above it that
// failed; Confidence is null where there is none to have.
type storedAnswer struct {
	Name       string   `json:"name"`
	Conditions string   `json:"conditions"`
	Highest    *float64 `json:"highest"`
	Failed     *float64 `json:"lowest_failed"`
	AtLeast    bool     `json:"at_least"`
	Confidence *float64 `json:"confidence"`
	// Proven: the confidence is enough. Estimate is where the border probably is, null where no request counts.
	Proven   bool            `json:"proven"`
	Estimate *storedEstimate `json:"estimate"`
	Runs     int             `json:"runs"`
	Achieved float64         `json:"achieved_request_throughput"`
	Unmet    []string        `json:"unmet"`
	Why      string          `json:"why"`
}

// storedEstimate is a range of loads; High is null where nothing failed.
type storedEstimate struct {
	Load float64  `json:"load"`
	Low  float64  `json:"low"`
	High *float64 `json:"high"`
}

type storedLoad struct {
	Load float64 `json:"load"`
	Runs int     `json:"runs"`
}

// store writes the answers, and the records of the search for each set, as vLLM has them.
func (p *pairSearch) store(answers []Answer, complete bool) error {
	if len(p.runs) == 0 {
		return nil
	}
	stored := storedAnswers{Variable: p.Variable, Unit: unit(p.Variable).String(), Complete: complete}
	for _, a := range answers {
		s := storedAnswer{
			Name: a.Set.Name, Conditions: a.Set.Conditions(), AtLeast: a.AtLeast, Proven: a.Proven(), Runs: a.Runs,
			Achieved: a.Achieved,
			Failed:   known(a.Failed), Confidence: known(a.Confidence), Unmet: metrics.Each(a.Unmet, Criterion.String),
			Why: a.Why,
		}
		if len(a.Unmet) == 0 {
			s.Highest = known(a.Passed)
		}
		if e := a.Estimate; e.Known() {
			s.Estimate = &storedEstimate{Load: e.Load, Low: e.Low, High: known(e.High)}
		}
		stored.Sets = append(stored.Sets, s)
	}
	var records []Record
	for _, load := range p.loads() {
		stored.Tested = append(stored.Tested, storedLoad{load, len(p.runs[load])})
		records = append(records, p.runs[load]...)
	}
	raw, err := json.MarshalIndent(stored, "", "    ")
	if err != nil {
		return err
	}
	problems := []error{writeAll(filepath.Join(p.dir(), answersFile), append(raw, '\n'))}
	for _, s := range p.Sets {
		problems = append(problems, writeRecords(filepath.Join(p.dir(), s.file()), records))
	}
	return errors.Join(problems...)
}
