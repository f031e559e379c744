package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// view is a snapshot in compact form: all that a dashboard can show of it, but for the samples of the client and what
// is made of them, which no two runs have alike, and the text of an answer, which a journal has only where it is asked
// for. Fields that are empty are left out.
type view []viewField

type viewField struct{ key, value string }

func (v *view) add(key string, value any) {
	if text := withoutPorts(fmt.Sprint(value)); text != "" && text != "0" && text != "false" && text != "[]" {
		*v = append(*v, viewField{key, text})
	}
}

func (v view) String() string {
	var b strings.Builder
	for _, f := range v {
		b.WriteString(f.key)
		for line := range strings.SplitSeq(f.value, "\n") {
			b.WriteString("\t" + line + "\n")
		}
	}
	return b.String()
}

// viewsText is what a golden file has.
func viewsText(all []view) string {
	return strings.Join(each(all, func(v *view) string { return v.String() }), "\n")
}

// parseViews reads what viewsText wrote.
func parseViews(text string) (all []view) {
	for part := range strings.SplitSeq(text, "\n\n") {
		var v view
		for line := range strings.SplitSeq(strings.TrimSuffix(part, "\n"), "\n") {
			if key, value, _ := strings.Cut(line, "\t"); key != "" {
				v = append(v, viewField{key, value})
			} else {
				v[len(v)-1].value += "\n" + value
			}
		}
		all = append(all, v)
	}
	return all
}

// at is when a view was taken.
func (v view) at() string { return v[0].value }

// values of a key, for a log and endpoints have several.
func (v view) values(key string) string {
	var all []string
	for _, f := range v {
		if f.key == key {
			all = append(all, f.value)
		}
	}
	return strings.Join(all, "\n")
}

// differences are the fields that a replay shows otherwise than the run did, by name. Views that only one of them has
// come whole.
func differences(live, replay []view) string {
	var b strings.Builder
	byKey := map[string]*strings.Builder{}
	var keys []string
	for i := range max(len(live), len(replay)) {
		switch {
		case i >= len(live):
			b.WriteString("only the replay has\n" + replay[i].String() + "\n")
			continue
		case i >= len(replay):
			b.WriteString("only the run has\n" + live[i].String() + "\n")
			continue
		}
		seen := map[string]bool{}
		for _, f := range slices.Concat(live[i], replay[i]) {
			was, is := live[i].values(f.key), replay[i].values(f.key)
			if seen[f.key] || was == is {
				continue
			}
			seen[f.key] = true
			if byKey[f.key] == nil {
				byKey[f.key] = new(strings.Builder)
				keys = append(keys, f.key)
			}
			fmt.Fprintf(byKey[f.key], "\t%s\t%s\n\t\t%s\n", live[i].at(), indented(was), indented(is))
		}
	}
	for _, key := range keys {
		b.WriteString(key + "\n" + byKey[key].String())
	}
	return b.String()
}

func indented(text string) string { return strings.ReplaceAll(cmp.Or(text, "-"), "\n", "\n\t\t") }

// viewLatency is the name of a latency in views.
type viewLatency struct {
	name    string
	latency metrics.Latency
}

// ofRun and ofSecond are the latencies of a run and of its seconds, in the order of views.
var (
	ofRun = []viewLatency{
		{"ttft", metrics.TTFT}, {"tpot", metrics.TPOT}, {"itl", metrics.ITL}, {"e2el", metrics.E2EL},
		{"client_queue", metrics.SlotWait},
		{"e2el_queued", metrics.E2ELQueued}, {"first_answer", metrics.FirstAnswer},
		{"scheduled", metrics.ScheduledLatency},
	}
	ofSecond = []viewLatency{
		{"ttft", metrics.TTFT}, {"tpot", metrics.TPOT}, {"itl", metrics.ITL}, {"e2el", metrics.E2EL},
		{"first_answer", metrics.FirstAnswer}, {"client_queue", metrics.SlotWait},
		{"scheduled", metrics.ScheduledLatency},
	}
)

func (v *view) histograms(prefix string, names []viewLatency, all []metrics.Histogram) {
	for _, x := range names {
		v.add(prefix+x.name, figuresOf(&all[x.latency]))
	}
}

func figuresOf(h *metrics.Histogram) string {
	if h.Count() == 0 {
		return ""
	}
	return fmt.Sprintf("n=%d mean=%s p50=%s p99=%s", h.Count(), h.Mean(), h.Quantile(0.5), h.Quantile(0.99))
}

// viewOf is a snapshot with the log since a moment.
func viewOf(s *metrics.Snapshot, since time.Duration) (v view) {
	v.add("at", s.At)
	v.add("state", s.State)
	v.add("drain_by", moment(s.DrainBy))
	v.totals(&s.Totals)
	v.add("planned_good", s.Totals.PlannedGood)
	v.add("held", s.Held)
	v.add("waiting", s.Waiting)
	v.add("running", s.Running)
	v.add("output_exact", s.OutputExact)
	v.histograms("", ofRun, s.Histograms[:])
	if n := len(s.Windows); n > 0 {
		v.add("windows", n)
		v.window("second.", s.Windows[n-1])
	}
	v.add("failures", strings.Join(each(s.Failures, failureText), "\n"))
	for _, e := range inOrder(s.Log) {
		if e.At > since && !ofClient(&e) {
			v.add("log", eventText(e))
			v.add("log.text", e.Text)
		}
	}
	v.add("marks", len(slices.DeleteFunc(slices.Clone(s.Marks), func(e metrics.LogEntry) bool { return ofClient(&e) })))
	v.steering(&s.Steering)
	v.search(s.Search)
	v.add("objectives", objectivesText(s.Objectives))
	v.answer(s)
	v.server(s)
	v.add("gpus", len(s.GPUs))
	v.add("gpus_absent", s.GPUsAbsent)
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		v.add("endpoint", fmt.Sprintf("%q sent=%d done=%d failed=%d in_flight=%d output=%d", e.Model, e.Sent,
			e.Completed, e.Failed, e.InFlight, e.OutputTokens))
		v.add("endpoint.ttft", figuresOf(&e.Histograms[s.Plan.FirstWait()]))
	}
	v.requests(s)
	if s.SavePath != "" {
		v.add("save_path", filepath.Base(s.SavePath))
	}
	v.add("save_error", s.SaveError)
	v.add("notice", s.Notice)
	v.add("report", s.Report != nil)
	return v
}

// lastView is the snapshot of a run that is over, with all its seconds, its whole log and each request in full.
func lastView(s *metrics.Snapshot) view {
	v := viewOf(s, metrics.Never)
	for i := range s.Windows {
		v.window(fmt.Sprintf("window%d.", i), s.Windows[i])
	}
	for i := range s.Requests {
		q := &s.Requests[i]
		v.add(fmt.Sprintf("request%d", q.Index),
			fmt.Sprintf("%s %q %s due=%s sent=%s ended=%s held=%s ttft=%s tpot=%s e2el=%s in=%d out=%d %s %d %q "+
				"kept=%t", q.ID, q.Model, q.State,
				moment(q.Due), moment(q.Sent), moment(q.Ended), moment(q.SlotWait), moment(q.TTFT), moment(q.TPOT),
				moment(q.E2EL),
				q.InputTokens, q.OutputTokens, q.Failure, q.Status, q.Error, q.Kept))
	}
	return v
}

func (v *view) totals(t *metrics.Counts) {
	v.add("due", t.Due)
	v.add("sent", t.Sent)
	v.add("done", t.Completed)
	v.add("failed", t.Failed)
	v.add("cancelled", t.Cancelled)
	v.add("warmed_up", t.WarmedUp)
	v.add("input_tokens", t.InputTokens)
	v.add("output_tokens", t.OutputTokens)
	v.add("cached_tokens", t.Cached.Tokens)
	v.add("good", fmt.Sprintf("%d ttft=%d tpot=%d e2el=%d", t.Good, t.Met[metrics.TTFT], t.Met[metrics.TPOT],
		t.Met[metrics.E2EL]))
}

func (v *view) window(prefix string, w *metrics.Window) {
	v.add(prefix+"start", w.Start)
	v.add(prefix+"counts",
		fmt.Sprintf("due=%d sent=%d done=%d failed=%d cancelled=%d", w.Due, w.Sent, w.Completed, w.Failed, w.Cancelled))
	v.add(prefix+"good", fmt.Sprintf("%d ttft=%d tpot=%d e2el=%d", w.Good, w.Met[metrics.TTFT], w.Met[metrics.TPOT],
		w.Met[metrics.E2EL]))
	v.add(prefix+"tokens",
		fmt.Sprintf("in=%d out=%d prompt=%d cached=%d", w.TokensIn, w.TokensOut, w.InputTokens, w.Cached.Tokens))
	v.add(prefix+"levels", fmt.Sprintf("held=%d waiting=%d running=%d", w.Held, w.Waiting, w.Running))
	v.histograms(prefix, ofSecond, w.Histograms[:])
	v.add(prefix+"waits", waitsText(&w.TTFTParts))
	if t := &w.Reported; t.N > 0 {
		v.add(prefix+"told", fmt.Sprintf("%s queued=%d %s prefilled=%d %s", waitsText(&t.TTFTParts), t.Queued, t.Queue,
			t.Prefilled, t.Prefill))
	}
}

func (v *view) steering(t *metrics.Steering) {
	v.add("load", settingText(&t.LoadSetting))
	v.add("load.steerable", t.Steerable)
	v.add("load.in_users", t.Unit == metrics.Users)
	v.add("load.why", t.Why)
	v.add("load.changes", t.Changes)
	v.add("load.search", t.Search)
}

func (v *view) search(s *metrics.Search) {
	if s != nil {
		v.add("search", fmt.Sprintf("%s %.6g users=%t passed=%.6g failed=%.6g found=%t tested=%v left=%s at_least=%t",
			s.Phase, s.Load, s.Unit == metrics.Users, s.Passed, s.Failed, s.Found,
			metrics.Each(s.Tested, tested), s.Left, s.AtLeast))
	}
}

// tested is a load that a search tested, with the verdicts of further tiers where there are any.
func tested(l metrics.TestedLoad) string {
	text := fmt.Sprint(l.Load, l.Passed, l.Held)
	if l.Others != nil {
		text += fmt.Sprint(" ", l.Others)
	}
	return "{" + text + "}"
}

func (v *view) answer(s *metrics.Snapshot) {
	if a := s.Answer; a != nil {
		v.add("answer",
			fmt.Sprintf("saturates=%t from=%.6g to=%.6g capacity=%s confirmed=%t drifting=%t before=%d after=%d "+
				"shown=%d at=%s users=%t tried=%.6g-%.6g why=%q limit=%q peak=%.6g",
				a.Saturates, a.From, a.To, loads(&a.Capacity), a.Confirmed, a.Drifting, a.Before, a.After, a.Shown,
				moment(a.SaturatedAt), a.Unit == metrics.Users, a.LowestTried, a.HighestTried,
				a.Why, a.Bottleneck, a.PeakOutput))
		for i := range 1 + len(a.Others) {
			of := a.Tier(i)
			v.add(fmt.Sprintf("within%d", i),
				fmt.Sprintf("proven=%.6g level=%d sure=%.4f estimate=%s none=%t untested=%t held=%d why=%q",
					of.Proven, of.ProvenLevel, of.Confidence, loads(&of.Estimate), of.None, of.Untested, of.HeldLevel,
					of.Why))
		}
	}
	for i := range s.Levels {
		l := &s.Levels[i]
		v.add(fmt.Sprintf("level%d", i),
			fmt.Sprintf("%s-%s offered=%.6g users=%t completed=%.4f requests=%d good=%d sent=%.4f done=%.4f ttft=%.3f "+
				"%.3f wait=%.3f itl=%.3f limited=%d %s",
				l.From, l.To, l.Offered, l.Unit == metrics.Users, l.Completed, l.Requests, l.Good, l.Sent, l.Done,
				l.TTFTp50, l.TTFTp99, l.WaitP99, l.ITLp99, len(l.Limited), l.Standing))
		for k := range 1 + len(l.Others) {
			of := l.Tier(k)
			v.add(fmt.Sprintf("level%d.%d", i, k), fmt.Sprintf("effective=%.4g sure=%.4f missing=%s %s %q",
				of.Effective, of.Confidence, of.Missing, of.Standing, of.Why))
		}
	}
}

func loads(r *metrics.Range) string { return fmt.Sprintf("%.6g(%.6g-%.6g)", r.Load, r.Low, r.High) }

func (v *view) server(s *metrics.Snapshot) {
	v.add("server.kind", s.ServerKind)
	v.add("server.absent", s.ServerAbsent)
	v.add("server.looks", len(s.Server))
	if n := len(s.Server); n > 0 {
		x := &s.Server[n-1]
		v.add("server.last",
			fmt.Sprintf("%s took=%s running=%g waiting=%g kv=%.6g preemptions=%g prefix=%g/%g rate=%.4f prompt=%g "+
				"output=%g draft=%g/%g ends=%t,%t,%t",
				x.At, x.Took, x.Running, x.Waiting, x.KVUsage, x.Preemptions, x.PrefixHits, x.PrefixQueries, x.HitRate,
				x.PromptTokens, x.OutputTokens,
				x.AcceptedTokens, x.DraftTokens, x.WaitsAtEnd, x.PromptAtEnd, x.OutputAtEnd))
		v.add("server.times", fmt.Sprintf("ttft=%g %s queue=%g %s prefill=%g %s first=%s ended=%s", x.TTFT.N,
			x.TTFT.Mean, x.Queue.N, x.Queue.Mean,
			x.Prefill.N, x.Prefill.Mean, waitsText(&x.First), waitsText(&x.Ended)))
	}
}

// requests are those in flight in full, of the others how many there are.
func (v *view) requests(s *metrics.Snapshot) {
	var flying []string
	slow := 0 // which of them is a matter of order where several took equally long
	ended := map[metrics.RequestState]int{}
	for i := range s.Requests {
		switch q := &s.Requests[i]; q.State {
		case metrics.StateHeld, metrics.StateWaiting, metrics.StateRunning:
			flying = append(flying, fmt.Sprintf("%d %s sent=%s held=%s ttft=%s out=%d", q.Index, q.State,
				moment(q.Sent), moment(q.SlotWait), moment(q.TTFT), q.OutputTokens))
		default:
			ended[q.State]++
			if q.Slow {
				slow++
			}
		}
	}
	v.add("requests.in_flight", strings.Join(flying, "\n"))
	if len(s.Requests) > 0 {
		v.add("requests.ended", fmt.Sprintf("done=%d failed=%d cancelled=%d", ended[metrics.StateDone],
			ended[metrics.StateFailed], ended[metrics.StateCancelled]))
	}
	v.add("requests.slow", slow)
	if q := s.Opened; q != nil {
		v.add("opened",
			fmt.Sprintf("%d %s scheduled=%s encode=%s connect=%s cached=%d redials=%d queue=%s prefill=%s finish=%s "+
				"chunks=%d cut=%t", q.Index, q.State, moment(q.Scheduled),
				q.Encode, q.Connect, q.CachedTokens, q.Redials, moment(q.ServerQueue), moment(q.ServerPrefill),
				q.Finish,
				len(q.Chunks), q.TextCut))
	}
}

func each[T any](all []T, f func(*T) string) []string {
	var out []string
	for i := range all {
		out = append(out, f(&all[i]))
	}
	return out
}

func moment(d time.Duration) string {
	if d == metrics.Never {
		return ""
	}
	return d.String()
}

func waitsText(w *metrics.TTFTParts) string {
	if *w == (metrics.TTFTParts{}) {
		return ""
	}
	return fmt.Sprintf("n=%d held=%s connect=%s ttft=%s", w.N, w.SlotWait, w.Connect, w.TTFT)
}

func failureText(f *metrics.FailureCount) string {
	return fmt.Sprintf("%s %d n=%d last=%s %q", f.Kind, f.Status, f.Count, f.Last, f.Examples)
}

func settingText(l *metrics.LoadSetting) string {
	if *l == (metrics.LoadSetting{Load: l.Unit.Of(0)}) {
		return ""
	}
	return fmt.Sprintf("rate=%.6g users=%d paused=%t ramp_to=%.6g in=%s by=%s", l.Rate(), l.Users(), l.Paused, l.RampTo,
		l.RampOver, l.By)
}

func objectivesText(slo metrics.SLO) string {
	return strings.Join(
		each(slo, func(o *metrics.Objective) string { return fmt.Sprintf("%s:%g", o.Metric, o.LimitMS) }), " ")
}

// inOrder sorts errors in a row of one moment by their words: requests that fail at once may be told in any order.
func inOrder(log []metrics.LogEntry) []metrics.LogEntry {
	log = slices.Clone(log)
	for from := 0; from < len(log); {
		to := from + 1
		for to < len(log) && log[from].Level == metrics.Error && log[to].Level == metrics.Error &&
			log[to].At == log[from].At {
			to++
		}
		slices.SortStableFunc(log[from:to], func(a, b metrics.LogEntry) int { return cmp.Compare(a.Text, b.Text) })
		from = to
	}
	return log
}

func eventText(e metrics.LogEntry) string {
	text := fmt.Sprintf("%s %s", e.At, e.Level)
	if e.Mark != "" {
		text += fmt.Sprintf(" mark=%q", e.Mark)
	}
	if e.Set != nil {
		text += " set=" + settingText(e.Set)
	}
	if e.Objectives != nil {
		text += " objectives=" + objectivesText(*e.Objectives)
	}
	if n := cmp.Or(e.Count, 1); n > 1 {
		text += fmt.Sprintf(" times=%d", n)
	}
	return text
}

// ofClient reports whether an event is about the client, which depends on the machine.
func ofClient(e *metrics.LogEntry) bool {
	return strings.HasPrefix(strings.TrimPrefix(e.Text, "this "), "client ")
}

const clientSays = "(this )?client "

// wordless hides the words of events and of the load: a journal keeps those that the program had when it was written.
func wordless(all []view) (hidden []view) {
	for _, v := range all {
		v = slices.Clone(v)
		for i := range v {
			if slices.Contains([]string{"log.text", "load.why", "load.search", "server.absent"}, v[i].key) {
				v[i].value = "words"
			}
		}
		hidden = append(hidden, v)
	}
	return hidden
}
