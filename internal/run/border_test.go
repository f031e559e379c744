package run

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/search"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/simtest"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	rule "benchtop/metrics/judge"
)

var seeds = flag.Int("border-seeds", 1, "seeds with which each border is searched")
var newBorders = flag.Bool("new-borders", false,
	"measure "+bordersFile+" anew, which takes about twenty minutes of a core")

const (
	bordersFile    = "testdata/borders.json"
	borderRequests = 400 // of a run that are judged
	borderSeeds    = 20  // runs at each load of the grid
	borderReach    = 12  // steps of the grid on either side of a border
)

// borderServer is a simulated server under requests of 64 tokens that ask for 16, each half as many to half as many
// more, and the highest loads that are within the objectives of tiers of its users.
type borderServer struct {
	Profile string
	Users   bool
	Tiers   []tierBorder

	took time.Duration // of all runs, in virtual time
}

// tierBorder is the highest load of a grid in steps of 1 % that enough requests were good under, of all seeds together,
// as under each lower load.
type tierBorder struct {
	Tier   string // as --tier takes it
	Border float64
	// Grid has for each load the requests of all seeds, and how many of them were good.
	Grid []gridPoint
}

type gridPoint struct {
	Load           float64
	Good, Requests int
}

// case of a person: the server and the variable.
func (b *borderServer) String() string {
	return b.Profile + " " + map[bool]string{false: "rate", true: "users"}[b.Users]
}

// verdicts is a sink that holds the requests of a run against the objectives of each tier.
type verdicts struct {
	plan   metrics.Plan
	skip   int // requests of the first wave, of users who all begin at once
	mu     sync.Mutex
	ratios [][]float64
	all    []rule.Summary
}

func (v *verdicts) Take(e *event.Event) {
	if e.Kind != event.Done || e.Request.Index < v.skip {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, rule.Summarize(&v.plan, e.Request))
	for i, tier := range v.plan.Tiers {
		v.ratios[i] = append(v.ratios[i], rule.Ratio(&v.plan, tier.SLO, e.Request))
	}
}

// evidence is that of the run for each tier, as a sweep judges it.
func (v *verdicts) evidence(share float64) (all []search.Evidence) {
	from, to := v.all[0].LoadTime, time.Duration(0)
	for i := range v.all {
		from, to = min(from, v.all[i].LoadTime), max(to, v.all[i].LoadTime)
	}
	tests := metrics.Each(v.ratios, func([]float64) rule.Test { return rule.Test{Enough: share} })
	sample := rule.NewSample(from, to+time.Microsecond, v.plan.Unit(), tests...)
	for i := range v.all {
		sample.Arrived(v.all[i].LoadTime)
		sample.Ended(&v.all[i])
		for tier := range v.ratios {
			sample.Judge(v.all[i].LoadTime, tier, v.ratios[tier][i])
		}
	}
	verdicts := sample.Verdicts(to)
	for i, ratios := range v.ratios {
		e := search.EvidenceOf(slices.Clone(ratios), share)
		e.Effective, e.Length, e.Capacity = min(verdicts[i].Effective, float64(e.Requests)), to-from, sample.Capacity()
		all = append(all, e)
	}
	return all
}

// measure makes a run of the real client against the simulated server, in virtual time.
func (b *borderServer) measure(t *testing.T, load float64, seed int) (all []search.Evidence) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, err := simulator.Named(b.Profile)
		assert.Fine(t, err)
		dial, stop := simtest.Serve(t, p)
		defer stop()
		v := &verdicts{ratios: make([][]float64, len(b.Tiers))}
		for _, of := range b.Tiers {
			tier := assert.Must(metrics.ParseTier(of.Tier))(t)
			v.plan.Tiers = append(v.plan.Tiers, tier)
		}
		o, requests := loadgen.Defaults(), borderRequests
		if v.plan.Rate = metrics.Rate(load); b.Users {
			v.plan.Rate, v.plan.MaxConcurrency, v.skip = metrics.Rate(math.Inf(1)), int(load), int(load)
			requests += v.skip
			o.Limit, o.ClosedLoop, o.Schedule = int(load), true, shape.Immediately()
		} else {
			o.Schedule = shape.At(shape.Rate{PerSecond: v.plan.Rate, Burstiness: 1}.Offsets(requests,
				numpy.NewLegacy(uint32(seed))))
		}
		random := datasets.RandomDefaults()
		random.InputLen, random.OutputLen, random.Ratio = 64, 16, datasets.RangeRatio{Input: .5, Output: .5}
		random.Prompts, random.Seed, random.Vocabulary = requests, int64(seed), datasets.AssumedVocabulary()
		source, err := datasets.NewRandom(random, nil)
		assert.Fine(t, err)
		if o.Target, err = target.New(target.Options{BaseURL: "http://simulated", Dial: dial}); err != nil {
			t.Fatal(err)
		}
		o.Model, o.Pacer, o.Timestamps, o.Start = p.Model, "timer", metrics.UserStamps, time.Now()
		o.InputSource, o.Extra = metrics.TokensFromIDs, []protocol.Field{{Name: "ignore_eos", JSON: "true"}}
		e, err := loadgen.New(o, v)
		assert.Fine(t, err)
		assert.Fine(t, e.Run(context.Background(), source))
		b.took += time.Since(o.Start)
		share, _ := v.plan.EnoughGood()
		all = v.evidence(share)
	})
	return all
}

// find searches for the borders of some of the tiers, and returns the results and how many runs that took.
func (b *borderServer) find(t *testing.T, o search.Options, seed int) (all []search.Result, runs int) {
	t.Helper()
	s := search.New(o)
	for {
		probe, more := s.Next()
		if !more {
			return s.Results(), runs
		}
		s.Observe(probe.Load, b.measure(t, probe.Load, seed+runs))
		runs++
	}
}

func readBorders(t *testing.T) (all []borderServer) {
	t.Helper()
	text, err := os.ReadFile(bordersFile)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	assert.Fine(t, err)
	return all
}

// borderCases are what is measured.
func borderCases() (all []borderServer) {
	tiers := map[string]string{
		"l40s-8b rate":        "gold=ttft:60,tpot:25 silver=ttft:100,tpot:28 bronze=ttft:200 batch=ttft:400",
		"l40s-8b users":       "gold=tpot:22 silver=tpot:26 bronze=e2el:800 batch=e2el:1000",
		"a10-8b-tight rate":   "gold=ttft:110,tpot:50 silver=ttft:150,tpot:70 bronze=ttft:300 batch=ttft:800",
		"a10-8b-tight users":  "gold=tpot:50 silver=tpot:65 bronze=tpot:80 batch=e2el:2500",
		"h100-70b-spec rate":  "gold=ttft:60,tpot:15 silver=ttft:100,tpot:25 bronze=ttft:150,tpot:35 batch=ttft:250",
		"h100-70b-spec users": "gold=tpot:20 silver=tpot:30 bronze=tpot:40 batch=e2el:1000",
	}
	for _, name := range simulator.Names() {
		for _, users := range []bool{false, true} {
			b := borderServer{Profile: name, Users: users}
			for _, tier := range strings.Fields(tiers[b.String()]) {
				b.Tiers = append(b.Tiers, tierBorder{Tier: tier})
			}
			all = append(all, b)
		}
	}
	return all
}

// TestNewBorders measures the golden borders by brute force:
//
//	nice go test ./internal/run -run TestNewBorders -new-borders -timeout 3h -v
func TestNewBorders(t *testing.T) {
	if !*newBorders {
		return
	}
	all := borderCases()
	for i := range all {
		all[i].measureBorders(t)
	}
	text, err := json.Marshal(all)
	if err == nil {
		lines := strings.NewReplacer(`{"Tier"`, "\n {\"Tier\"", `{"Profile"`, "\n{\"Profile\"").Replace(string(text))
		err = os.WriteFile(bordersFile, []byte(lines+"\n"), 0o644)
	}
	assert.Fine(t, err)
}

// grid is the brute force: loads in steps of 1 %, each measured with so many seeds.
type grid struct {
	of   *borderServer
	sums map[string][]gridPoint // by load and seeds, a tier each
}

func (g *grid) load(step int) float64 {
	load := math.Pow(1.01, float64(step))
	if g.of.Users {
		return math.Round(load)
	}
	return math.Round(1000*load) / 1000
}

// at counts the requests of a load.
func (g *grid) at(t *testing.T, step, seeds int) []gridPoint {
	load := g.load(step)
	key := fmt.Sprint(load, seeds)
	sums, known := g.sums[key]
	if !known {
		sums = make([]gridPoint, len(g.of.Tiers))
		for seed := range seeds {
			for i, e := range g.of.measure(t, load, 1_000_000+seed) {
				sums[i] = gridPoint{load, sums[i].Good + e.Good, sums[i].Requests + e.Requests}
			}
		}
		g.sums[key] = sums
	}
	return sums
}

func (p *gridPoint) passed() bool {
	e := search.Evidence{Good: p.Good, Requests: p.Requests, Share: metrics.EnoughGood}
	return e.Passed()
}

func (b *borderServer) measureBorders(t *testing.T) {
	g := grid{b, map[string][]gridPoint{}}
	for i := range b.Tiers {
		near := 210 // a load of 8
		for g.at(t, near, 2)[i].passed() {
			near += borderReach
		}
		near -= borderReach / 2
		tier := &b.Tiers[i]
		failed := false
		for step := near - borderReach; step <= near+borderReach; step++ {
			p := g.at(t, step, borderSeeds)[i]
			if n := len(tier.Grid); n > 0 && tier.Grid[n-1].Load == p.Load {
				continue // users are whole
			}
			tier.Grid = append(tier.Grid, p)
			if failed = failed || !p.passed(); !failed {
				tier.Border = p.Load
			}
		}
		first, last := tier.Grid[0].Load, tier.Grid[len(tier.Grid)-1].Load
		if tier.Border < first*1.03 || tier.Border > last/1.03 {
			t.Errorf("%s, %s: the border of %v is at the edge of the grid from %v to %v", b, tier.Tier, tier.Border,
				first, last)
		}
		t.Logf("%s, %s: %v", b, tier.Tier, tier.Border)
	}
}

// TestBorders finds the border of the last tier of one server within 10 % in at most 14 runs. With more seeds it says
// for all servers and tiers how often it does so, and what a search for four tiers at once costs: in runs, and in the
// time of their load.
//
//	nice go test ./internal/run -run TestBorders -border-seeds 20 -timeout 3h -v
func TestBorders(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	for _, b := range readBorders(t) {
		if *seeds == 1 && b.Profile != "l40s-8b" {
			continue // minutes
		}
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			if *seeds > 1 {
				b.tell(t, *seeds)
				return
			}
			b.Tiers = b.Tiers[len(b.Tiers)-1:]
			r, runs := b.find(t, b.options(), 0)
			if off := r[0].Estimate.Load/b.Tiers[0].Border - 1; math.Abs(off) > .1 || runs > search.DefaultRuns {
				t.Errorf("%d runs found %+v; the border is %v", runs, r[0], b.Tiers[0].Border)
			}
		})
	}
}

// options of a search for the borders of all tiers.
func (b *borderServer) options() search.Options {
	o := search.Options{From: 1, Most: 10_000}
	if b.Users {
		o.Unit = metrics.Users
	}
	for _, tier := range b.Tiers {
		o.Tiers = append(o.Tiers, tier.Tier)
	}
	return o
}

// tell logs how near searches come with several seeds, for each tier alone and for all at once.
func (b *borderServer) tell(t *testing.T, seeds int) {
	alone, aloneTook := 0, time.Duration(0)
	for _, tiers := range append(singles(b.Tiers), b.Tiers) {
		of := *b
		of.Tiers = tiers
		near, inside, all, worst := 0, 0, 0, 0
		for seed := range seeds {
			found, runs := of.find(t, of.options(), seed*1000)
			all, worst = all+runs, max(worst, runs)
			for i, r := range found {
				e, border := r.Estimate, tiers[i].Border
				if math.Abs(e.Load/border-1) <= .1 {
					near++
				}
				if e.Low <= 1.02*border && (e.High == 0 || .98*border <= e.High) {
					inside++
				}
			}
		}
		mean := float64(all) / float64(seeds)
		t.Logf("%d tiers, the first %s: %d of %d within 10 %%, %d intervals hold the border, %.1f runs, at most %d",
			len(tiers), tiers[0].Tier, near, seeds*len(tiers), inside, mean, worst)
		if len(tiers) > 1 {
			t.Logf("%.3f of the runs of single searches, %.3f of their time", float64(all)/float64(alone),
				of.took.Seconds()/aloneTook.Seconds())
		}
		alone, aloneTook = alone+all, aloneTook+of.took
	}
}

func singles(all []tierBorder) (alone [][]tierBorder) {
	for i := range all {
		alone = append(alone, all[i:i+1])
	}
	return alone
}
