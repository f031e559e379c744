package panels

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/export"
	"benchtop/internal/ci"
	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// The verdict line, the card, the report, the JSON and the stages say the same of a run, each by the words of the
// findings alone.
func TestFindingsAreTheSameEverywhere(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	for seed := range uint64(200) {
		c := &sameEverywhere{t: t, seed: seed, report: madeUpReport(rand.New(rand.NewPCG(seed, 9)))}
		c.found = findings.OfReport(&c.report).Findings()
		c.snapshot = metrics.Snapshot{
			Plan: &c.report.Plan, Objectives: c.report.Objectives, State: metrics.Finished, At: c.report.Ended, Report: &c.report,
			Totals: metrics.Counts{Completed: c.report.Completed, Failed: c.report.Failed},
		}
		c.lines()
		c.card()
		c.answer()
		c.json()
		c.stages()
		c.contradictions()
		c.live()
	}
}

type sameEverywhere struct {
	t        *testing.T
	seed     uint64
	report   metrics.Report
	snapshot metrics.Snapshot
	found    []findings.Finding
}

func (c *sameEverywhere) failf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("seed %d: %s\n%+v", c.seed, fmt.Sprintf(format, args...), c.found)
}

// madeUpReport is a run of any kind, whose answer keeps to what its type says.
func madeUpReport(rnd *rand.Rand) metrics.Report {
	pick := func(n int) bool { return rnd.IntN(n) == 0 }
	share := func() float64 { return [...]float64{0, rnd.Float64(), 0.95 + rnd.Float64()/20, 1}[rnd.IntN(4)] }
	r := metrics.Report{Ended: time.Minute, Counts: metrics.Counts{Completed: rnd.IntN(5000) + 1}, RequestThroughput: 100 * rnd.Float64(), OutputThroughput: 1e4 * rnd.Float64()}
	if pick(3) {
		r.Failed = rnd.IntN(50)
		r.Failures = []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: r.Failed}}
	}
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.ITL, metrics.E2EL} {
		p50 := math.Exp(10 * rnd.Float64())
		shown := []metrics.Percentile{{P: 50, Value: p50}, {P: 99, Value: p50 * (1 + rnd.Float64())}}
		r.Statistics[l] = metrics.Statistic{N: 9, Shown: shown}
	}
	users, tiers, n := pick(4), 1, 1+rnd.IntN(6)
	switch rnd.IntN(5) {
	case 0:
		tiers = 0
	case 1:
		tiers = 2 + rnd.IntN(3)
	}
	if tiers > 0 {
		r.Objectives = aGoal
	}
	for i := range tiers {
		if tiers > 1 {
			r.Plan.Tiers = append(r.Plan.Tiers, metrics.Tier{Name: fmt.Sprintf("tier%d", i), SLO: aGoal})
		}
	}
	r.Plan.Goodput = r.Objectives
	switch pick(2) {
	case true:
		r.Plan.Ramp = &metrics.Ramp{From: 1, To: 80}
	default:
		r.Plan.Find = map[bool]*metrics.Find{true: {From: 1}}[pick(4)]
	}
	standings := []metrics.Standing{metrics.LevelWithin, metrics.LevelMissed, metrics.LevelBehind, metrics.LevelUnknown, metrics.LevelLimited, metrics.LevelUnanswered, metrics.LevelOpen}
	verdict := func() metrics.LevelVerdict {
		v := metrics.LevelVerdict{Requests: 1000, Good: rnd.IntN(1001), Standing: standings[rnd.IntN(len(standings))]}
		switch v.Standing {
		case metrics.LevelUnknown:
			v.Why, v.Missing = "too short", time.Duration(rnd.IntN(100))*time.Second
		case metrics.LevelWithin, metrics.LevelMissed, metrics.LevelBehind:
			v.Confidence, v.Effective = share(), 100
		}
		return v
	}
	load, unit := 0.1+10*rnd.Float64(), metrics.RequestsPerSecond
	if users {
		unit = metrics.Users
	}
	for i := range n {
		l := metrics.LoadLevel{From: time.Duration(i) * 9 * time.Second, To: time.Duration(i+1) * 9 * time.Second, Offered: load, Unit: unit, LevelVerdict: verdict()}
		if users {
			l.Offered = math.Round(load + 1)
		}
		for range max(0, tiers-1) {
			l.Others = append(l.Others, verdict())
		}
		r.Levels = append(r.Levels, l)
		load *= 1.05 + rnd.Float64()
	}
	a := &r.Answer
	*a = metrics.Answer{
		Unit: unit, Confirmed: true, Before: -1, After: -1, SaturatedAt: metrics.Never, PeakOutput: 1e6 * rnd.Float64() * rnd.Float64(),
		LowestTried: r.Levels[0].Offered, HighestTried: r.Levels[n-1].Offered, Why: []string{"no saturation up to 9 req/s", "too few requests", ""}[rnd.IntN(3)],
	}
	border := rnd.IntN(n + 1) // the server kept up with so many levels
	a.Drifting = pick(10)
	if !a.Drifting && pick(2) {
		a.Saturates, a.Why, a.Shown = true, "", n-1
		if border > 0 {
			a.Before, a.From = border-1, r.Levels[border-1].Offered
		}
		if border < n {
			a.After, a.To = border, r.Levels[border].Offered
		}
		if !users && pick(2) || a.From == 0 && a.To == 0 {
			at := max(a.From, 0.5) * (1 + rnd.Float64()/50)
			a.Capacity = metrics.Range{Load: at, Low: at * (1 - rnd.Float64()/8), High: at * (1.001 + rnd.Float64()/8)}
		}
		if pick(2) {
			a.Bottleneck = metrics.Bottleneck{Part: metrics.QueuePart, Share: rnd.Float64(), Of: "TTFT"}
		}
	}
	answer := func(tier int) metrics.TierAnswer {
		t := metrics.TierAnswer{ProvenLevel: -1, HeldLevel: rnd.IntN(n+1) - 1}
		k := n - 1
		if a.Saturates {
			k = border - 1
		}
		switch rnd.IntN(4) {
		case 0:
			if k >= 0 {
				t.Proven, t.ProvenLevel, t.Confidence, t.Untested = r.Levels[k].Offered*(0.98+0.02*rnd.Float64()), k, 0.95+0.05*rnd.Float64(), k == n-1
				if users {
					t.Proven = r.Levels[k].Offered
				}
				if a.Capacity.Known() {
					t.Proven = min(t.Proven, a.Capacity.High)
				}
			}
		case 1:
			low := r.Levels[0].Offered
			t.Estimate = metrics.Range{Load: 1.1 * low, Low: low, High: 1.2 * low * float64(rnd.IntN(2))}
		case 2:
			t.None = true
		}
		if t.Proven == 0 && !t.Estimate.Known() && !t.None {
			t.Why = "too few requests"
		}
		if t.Proven > 0 && pick(2) && !t.Untested {
			t.Estimate = metrics.Range{Load: 1.1 * t.Proven, Low: t.Proven * (0.9 + rnd.Float64()/5), High: 1.2 * t.Proven}
		}
		return t
	}
	a.TierAnswer = answer(0)
	for i := 1; i < tiers; i++ {
		a.Others = append(a.Others, answer(i))
	}
	return r
}

// says reports whether a text is one of the findings, or the beginning of one that was cut.
func says(found []findings.Finding, text string, cut bool) bool {
	return slices.ContainsFunc(found, func(f findings.Finding) bool {
		for _, of := range []string{f.Long, f.Short} {
			if text == of || cut && strings.HasPrefix(of, strings.TrimRight(text, " …│")) {
				return true
			}
		}
		return false
	})
}

// lines checks the line of the verdict, with and without room.
func (c *sameEverywhere) lines() {
	for _, w := range []int{500, 120, 80} {
		parts := strings.Split(verdictOf(&c.snapshot, w, 1, false), " │ ")
		for i, part := range parts {
			if !says(c.found, part, i == len(parts)-1) {
				c.failf("%d columns: %q is no finding", w, part)
			}
		}
		if w == 500 && len(parts) != len(c.found) {
			c.failf("the line has %q", parts)
		}
	}
}

func (c *sameEverywhere) card() {
	v := &View{Snapshot: &c.snapshot, Terminal: screen.Terminal{Mono: true}, Whole: true}
	for _, w := range []int{300, 80} {
		text := verdictOf(&c.snapshot, w, v.cardHeight(w, 50), false)
		for _, f := range c.found {
			long, brief := regexp.QuoteMeta(f.Name)+" +"+regexp.QuoteMeta(f.Value), regexp.QuoteMeta(f.Name)+" +"+regexp.QuoteMeta(f.Brief)
			if f.ID != findings.Errors && !regexp.MustCompile(long).MatchString(text) && (w > 80 || !regexp.MustCompile(brief).MatchString(text)) {
				c.failf("the card of %d columns has neither %q nor %q:\n%s", w, long, brief, text)
			}
		}
	}
}

// answer checks the line of the report and its table of tiers.
func (c *sameEverywhere) answer() {
	inASCII := slices.Clone(c.found)
	for i := range inASCII {
		for _, s := range []*string{&inASCII[i].Long, &inASCII[i].Short, &inASCII[i].Value} {
			*s = strings.ReplaceAll(*s, "–", "-")
		}
	}
	text := export.Answer(c.report)
	const drift = "under a constant load; no border named"
	own := regexp.MustCompile(`^client |^sent only|^waited| failed \(|% within |succeeded$`)
	evidence, load := regexp.MustCompile(` \(p99 [^)]*\)$`), regexp.MustCompile(`^.*: (?:.* req/s, )?(TTFT|ITL) p`)
	for _, part := range strings.Split(strings.Replace(text, drift, "", 1), "; ") {
		if strings.HasPrefix(part, "drifting: ") {
			part += drift
		}
		part = load.ReplaceAllString(evidence.ReplaceAllString(part, ""), "$1 p")
		switch {
		case own.MatchString(part), says(inASCII, part, len(text) > 140):
		default:
			c.failf("%q of the answer is no finding: %s", part, text)
		}
	}
	var table bytes.Buffer
	if _, err := table.WriteString(export.Tiers(c.report)); err != nil {
		c.t.Fatal(err)
	}
	for _, f := range inASCII {
		if f.Tier != "" && !regexp.MustCompile(`(?m)^`+f.Tier+` +`+regexp.QuoteMeta(f.Value)+` +ttft:500$`).MatchString(table.String()) {
			c.failf("tier %s: %s", f.Tier, table.String())
		}
	}
}

// json checks the figures of the result, written as the findings are.
func (c *sameEverywhere) json() {
	var b bytes.Buffer
	if err := export.JSON(&b, c.report); err != nil {
		c.t.Fatal(err)
	}
	type tier struct {
		Highest  *float64 `json:"highest_within_slo"`
		Sure     *float64
		Estimate *metrics.Range
		Proven   bool
		NoLoad   bool `json:"no_load"`
		Untested bool
	}
	var all struct {
		Benchtop struct {
			Answer struct {
				tier
				Bends, Drifting bool
				At              *float64
				Unit, Text      string
				Limit           *struct{ Share float64 }
				Peak            float64 `json:"peak_output_tokens_per_s"`
				Tiers           []tier
			}
			Levels []struct {
				Offered    float64
				Standing   string
				Confidence *float64
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		c.t.Fatal(err)
	}
	a := &all.Benchtop.Answer
	if a.Text != export.Answer(c.report) {
		c.failf("the text is %q", a.Text)
	}
	tiers := a.Tiers
	if len(tiers) == 0 {
		tiers = []tier{a.tier}
	}
	want := func(f *findings.Finding, text string) {
		if !strings.Contains(f.Long, text) {
			c.failf("no %q in %q", text, f.Long)
		}
	}
	for i := range c.found {
		f := &c.found[i]
		switch f.ID {
		case findings.Within:
			x := tiers[i]
			if x.Proven {
				want(f, fmt.Sprintf("%s %s proven (%s)", findings.Number(*x.Highest), a.Unit, findings.Confidence(*x.Sure)))
			} else if x.Sure != nil {
				c.failf("sure of what is not proven")
			} else if x.Estimate != nil {
				about := findings.Bounds(x.Estimate.Low, x.Estimate.High)
				if x.Estimate.High == 0 {
					low, _, _ := strings.Cut(findings.Bounds(x.Estimate.Low, 2*x.Estimate.Low), "–")
					about = "at least " + low
				}
				want(f, "estimate "+about+" ")
			}
			if strings.Contains(f.Long, "no load") != x.NoLoad || strings.Contains(f.Long, "higher loads untested") && !x.Untested {
				c.failf("%+v: %s", x, f.Long)
			}
		case findings.Saturation:
			if a.At != nil {
				want(f, "at "+findings.Number(*a.At)+" req/s (")
			}
			if strings.HasPrefix(f.Long, "saturates ") != a.Bends || strings.HasPrefix(f.Long, "drifting") != a.Drifting {
				c.failf("bends %t, drifting %t: %s", a.Bends, a.Drifting, f.Long)
			}
		case findings.Limit:
			want(f, fmt.Sprintf(" %.0f %% of TTFT", math.Floor(100*a.Limit.Share+1e-9)))
		case findings.Peak:
			want(f, "peak "+number.Short(a.Peak)+" tok/s")
		}
	}
	for i, l := range all.Benchtop.Levels {
		if of := c.report.Levels[i]; l.Offered != of.Offered || l.Standing != string(of.Standing) || (l.Confidence != nil) != (of.Confidence > 0) {
			c.failf("level %d: %+v", i, l)
		}
	}
}

// stages checks the table of the loads.
func (c *sameEverywhere) stages() {
	sf := screen.NewSurface(200, 40)
	sf.Terminal.Mono = true
	v := &View{Snapshot: &c.snapshot, Terminal: sf.Terminal, Whole: true}
	v.drawStages(sf.All(), v.stageRows())
	rows := strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
	row := 1
	for i, l := range c.report.Levels {
		if strings.Contains(rows[row], " saturates ") && strings.HasPrefix(strings.TrimSpace(rows[row]), "─") {
			if f := v.finding(findings.Saturation); !strings.Contains(rows[row], " "+f.Long+" ") {
				c.failf("the line of saturation: %s", rows[row])
			}
			row++
		}
		text := rows[row]
		row++
		if !regexp.MustCompile(`^ *\d\d:\d\d +` + regexp.QuoteMeta(findings.Number(l.Offered)) + " ").MatchString(text) {
			c.failf("level %d: %s", i, text)
		}
		switch len(v.tiers()) {
		case 0:
			continue
		case 1:
			sign := map[metrics.Standing]string{metrics.LevelWithin: "✓", metrics.LevelMissed: "!", metrics.LevelBehind: "!", metrics.LevelOpen: " "}[l.Standing]
			if sign == "" {
				sign = "?"
			}
			if sure := findings.Confidence(l.Confidence); !strings.Contains(text, strings.TrimRight(sign+"  "+sure, " ")) {
				c.failf("level %d: no %q in %s", i, sign+"  "+sure, text)
			}
			if l.Standing == metrics.LevelUnknown && !strings.Contains(text, l.Why) {
				c.failf("level %d says no %q: %s", i, l.Why, text)
			}
		}
		for k, f := range c.found {
			if highest := f.ID == findings.Within && f.Severity == findings.Good && slices.Contains(f.Touches, i); highest && !strings.Contains(text, "highest") {
				c.failf("level %d is the highest of tier %d: %s", i, k, text)
			}
		}
	}
}

var figures = regexp.MustCompile(`[\d.]+`)

// contradictions checks that no two parts of the headline exclude each other.
func (c *sameEverywhere) contradictions() {
	most, unit := math.Inf(1), ""
	for _, f := range c.found {
		if strings.ContainsAny(f.Long+f.Short+f.Value+f.Brief, "~") || strings.Contains(f.Long, "NaN") {
			c.failf("%q", f.Long)
		}
		if f.ID == findings.Saturation && strings.HasPrefix(f.Long, "saturates ") && !strings.Contains(f.Long, "above") {
			most, unit = 0, c.report.Answer.Unit.String()
			for _, n := range figures.FindAllString(f.Long, -1) {
				v, _ := strconv.ParseFloat(n, 64)
				most = max(most, v)
			}
			if !strings.Contains(f.Long, strings.TrimSuffix(unit, "s")) {
				c.failf("%q is not in %s", f.Long, unit)
			}
		}
	}
	for _, f := range c.found {
		if f.ID != findings.Within || f.Severity != findings.Good {
			continue
		}
		v, _ := strconv.ParseFloat(figures.FindString(f.Brief), 64)
		if v > most {
			c.failf("%q at most %g", f.Long, most)
		}
	}
}

// live checks the line while the run is on.
func (c *sameEverywhere) live() {
	s := metrics.Snapshot{
		Plan: &c.report.Plan, Objectives: c.report.Objectives, State: metrics.Running, At: c.report.Ended, Answer: &c.report.Answer, Levels: c.report.Levels,
		Totals: metrics.Counts{Completed: c.report.Completed, Failed: c.report.Failed},
	}
	found := findings.OfSnapshot(&s).Findings()
	for i, f := range found { // but for what is missing, the same
		if strings.HasPrefix(string(f.ID), string(findings.Latency)) {
			continue
		}
		if is := slices.ContainsFunc(c.found, func(o findings.Finding) bool {
			return o.ID == f.ID && o.Tier == f.Tier && strings.HasPrefix(f.Brief, o.Brief)
		}); !is {
			c.failf("live %d: %+v", i, f)
		}
	}
	for _, part := range strings.Split(verdictOf(&s, 900, 1, false), " │ ") {
		if part != "measuring …" && !says(found, part, false) {
			c.failf("live: %q is no finding", part)
		}
	}
	for _, part := range strings.Split(AnswerText(&s), "; ") {
		if !strings.Contains(strings.Join(longs(found), "; "), part) {
			c.failf("progress: %q is no finding", part)
		}
	}
}

func longs(found []findings.Finding) []string {
	return metrics.Each(found, func(f findings.Finding) string { return f.Long })
}
