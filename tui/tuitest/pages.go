package tuitest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"benchtop/metrics"
)

// Full is a run of which everything is known: server, accelerators, single requests, a load set by hand, saturation.
func Full() metrics.Snapshot {
	s, told := known(Judge(Mid()))
	s.Windows = told.Windows
	s.Steering = metrics.Steering{LoadSetting: *told.Marks[0].Set, Steerable: true, Changes: 1}
	s.Marks = append(s.Marks[:len(s.Marks):len(s.Marks)], told.Marks...)
	return s
}

// FullDone is such a run when it is over.
func FullDone() metrics.Snapshot {
	s, told := known(Judge(Done()))
	r := *s.Report
	r.Answer, r.Levels = *told.Answer, told.Levels
	r.Events = append(r.Events[:len(r.Events):len(r.Events)], told.Marks...)
	s.Report, s.Marks = &r, r.Events
	return s
}

// known adds to a run what Full and FullDone have in common.
func known(s metrics.Snapshot) (metrics.Snapshot, metrics.Snapshot) {
	told := everything()
	for _, l := range pageLatencies {
		s.Histograms[l] = told.Histograms[l]
	}
	s.Server, s.GPUs, s.ServerKind = told.Server, told.GPUs, told.ServerKind
	s.Requests, s.Opened, s.Endpoints = told.Requests, told.Opened, told.Endpoints
	s.Answer, s.Levels, s.Objectives = told.Answer, told.Levels, s.Plan.Goodput
	return s, told
}

// mainLatencies are those of every run, pageLatencies those that only the page of latencies shows.
var (
	mainLatencies = []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}
	pageLatencies = []metrics.Latency{metrics.FirstAnswer, metrics.ScheduledLatency, metrics.SlotWait}
)

// everything holds what Full adds to the ramp, from the same requests.
var everything = sync.OnceValue(func() metrics.Snapshot {
	const at = 62400 * time.Millisecond
	s := Judge(Bad())
	out := metrics.Snapshot{Windows: metrics.Each(s.Windows, (*metrics.Window).Clone),
		Telemetry: metrics.Telemetry{ServerKind: "vLLM"}}
	for i := range out.Windows {
		w := out.Windows[i]
		for _, l := range pageLatencies {
			w.Histograms[l] = metrics.Histogram{}
		}
		w.TTFTParts, w.Reported = metrics.TTFTParts{}, metrics.ServerTimes{}
	}
	all := RampRequests(at, true)
	window := func(at time.Duration) *metrics.Window {
		return out.Windows[min(int(at/time.Second), len(out.Windows)-1)]
	}
	var ends metrics.Group
	for _, q := range all {
		count(&ends, q, at)
		if q.Sent > at {
			continue
		}
		sent(q, window(q.Sent))
		if q.FirstChunk != metrics.Never && q.FirstChunk <= at {
			first(&out, q, window(q.FirstChunk))
		}
		if q.Done <= at && q.OK() {
			done(&out, q, window(q.Done))
		}
	}
	out.Endpoints = []metrics.Group{ends}
	out.Requests = requestRows(all, at)
	out.Opened = openedRequest(all, at)
	for i := range out.Windows {
		w := out.Windows[i]
		out.Server = append(out.Server, serverSecond(w, i, s.At))
		out.GPUs = append(out.GPUs, gpuSecond(w, i))
	}
	set := metrics.LoadSetting{Load: metrics.Load{Value: 64}, By: metrics.ByUser}
	out.Marks = []metrics.LogEntry{{At: 50 * time.Second, Level: metrics.Info, Text: "load set to 64 req/s by hand",
		Mark: "64 req/s", Set: &set}}
	for i := range 6 {
		load := 10 + 12*float64(i)
		n := int(load * 10)
		good := min(n, int(float64(n)*(1.01-0.004*math.Exp(float64(i)))))
		verdict := metrics.LevelVerdict{Requests: n, Good: good, Effective: load, Standing: metrics.LevelMissed,
			Confidence: 0.99}
		if 100*good >= 95*n {
			verdict.Standing, verdict.Confidence = metrics.LevelWithin, 0.99-0.01*float64(i)
		}
		out.Levels = append(out.Levels, metrics.LoadLevel{
			Completed: min(1, 47.6/load), LevelVerdict: verdict,
			From: time.Duration(i) * 10 * time.Second, To: time.Duration(i+1) * 10 * time.Second, Offered: load,
			Sent: load, Done: min(load, 47.6), TTFTp50: 35 + 4*load, TTFTp99: 90 + 8*math.Exp(float64(i)*1.2),
			ITLp99: 20 + load/3,
		})
	}
	out.Answer = &metrics.Answer{
		TierAnswer: metrics.TierAnswer{Proven: 34, ProvenLevel: 2, Confidence: 0.97,
			Estimate: metrics.Range{Load: 38, Low: 35.2, High: 40.9}, HeldLevel: -1},
		Saturates: true, Confirmed: true, From: 34, To: 46, Before: 2, After: 3, SaturatedAt: 30 * time.Second,
	}
	return out
})

// sent, first and done fill in the latencies and waits of a run and of a second.
func sent(q *metrics.Request, w *metrics.Window) { w.Histograms[metrics.SlotWait].Add(q.SlotWait()) }

func first(s *metrics.Snapshot, q *metrics.Request, w *metrics.Window) {
	answer := q.TTFT() + 20*time.Millisecond
	w.Histograms[metrics.FirstAnswer].Add(answer)
	s.Histograms[metrics.FirstAnswer].Add(answer)
	prefill := min(q.TTFT(), 30*time.Millisecond)
	w.TTFTParts.N++
	w.TTFTParts.SlotWait += q.SlotWait()
	w.TTFTParts.Connect += 200 * time.Microsecond
	w.TTFTParts.TTFT += q.TTFT()
	w.Reported.TTFTParts = w.TTFTParts
	w.Reported.Queued++
	w.Reported.Prefilled++
	w.Reported.Prefill += prefill
	w.Reported.Queue += q.TTFT() - prefill
}

func done(s *metrics.Snapshot, q *metrics.Request, w *metrics.Window) {
	w.Histograms[metrics.ScheduledLatency].Add(q.Done - q.Scheduled)
	s.Histograms[metrics.ScheduledLatency].Add(q.Done - q.Scheduled)
	s.Histograms[metrics.SlotWait].Add(q.SlotWait())
}

// count counts a request of an endpoint.
func count(e *metrics.Group, q *metrics.Request, at time.Duration) {
	switch {
	case q.Sent > at:
		return
	case q.Done > at:
		e.InFlight++
	case q.OK():
		e.Completed++
		e.OutputTokens += q.OutputTokens
	default:
		e.Failed++
	}
	e.Sent++
	if q.FirstChunk != metrics.Never && q.FirstChunk <= at {
		e.Histograms[metrics.TTFT].Add(q.TTFT())
	}
}

// serverSecond is the server's sample of a second.
func serverSecond(w *metrics.Window, i int, at time.Duration) metrics.ServerSecond {
	mean := func(h *metrics.Histogram, part float64) metrics.ServerLatency {
		return metrics.ServerLatency{N: float64(h.Count()), Mean: time.Duration(part * float64(h.Mean()))}
	}
	running := min(float64(w.Running+w.Waiting), 96)
	s := metrics.ServerSecond{
		At: w.Start + time.Second, Took: time.Second,
		Running: running, Waiting: float64(w.Running+w.Waiting) - running, KVUsage: min(running/98, 1),
		PrefixQueries: float64(w.TokensIn), PrefixHits: 0.4 * float64(w.TokensIn), HitRate: 0.4,
		PromptTokens: 0.6 * float64(w.TokensIn), OutputTokens: float64(w.TokensOut),
		DraftTokens: float64(w.TokensOut), AcceptedTokens: 0.62 * float64(w.TokensOut),
		SpecDecode: &metrics.SpecDecode{Drafts: w.TokensOut / 3, DraftTokens: w.TokensOut,
			AcceptedTokens: w.TokensOut * 62 / 100, AcceptedPerPosition: []int{w.TokensOut * 8 / 30,
				w.TokensOut * (60 + i%8) / 300, w.TokensOut * (50 - i%8) / 300}},
		TTFT: mean(&w.Histograms[metrics.TTFT], 0.97), Queue: mean(&w.Histograms[metrics.TTFT], 0.6),
		Prefill: mean(&w.Histograms[metrics.TTFT], 0.3),
	}
	if i > 35 {
		s.Preemptions = float64(i % 3)
	}
	return s
}

// gpuSecond is a sample of two accelerators.
func gpuSecond(w *metrics.Window, i int) metrics.GPUSecond {
	out := metrics.GPUSecond{At: w.Start + time.Second, Took: time.Second}
	busy := min(float64(w.Running)/90, 1)
	for k := range 2 {
		out.GPUs = append(out.GPUs, metrics.GPU{
			Index: k, Name: "NVIDIA H200", Use: 0.98 * busy, MemoryUsed: 120e9 + 5e9*busy, MemoryTotal: 141e9,
			Power: 180 + 480*busy - 12*float64(k), PowerLimit: 700, Temperature: 42 + 24*busy + float64(k),
			Clock: 1980 - 45*busy - float64(i%2),
		})
	}
	return out
}

// requestRows are requests as the recorder lists them: those in flight, the last that ended, the slowest and the
// failed.
func requestRows(all []*metrics.Request, at time.Duration) []metrics.RequestRow {
	var out []metrics.RequestRow
	for i, q := range all {
		if q.Due > at || q.Done < at-3*time.Second && q.OK() && i%97 != 0 {
			continue
		}
		r := metrics.RequestRow{
			Index: q.Index, ID: fmt.Sprintf("chatcmpl-%06d", q.Index), Due: q.Due, Sent: metrics.Never,
			Ended:    metrics.Never,
			SlotWait: metrics.Never, TTFT: metrics.Never, TPOT: metrics.Never, E2EL: metrics.Never,
			InputTokens: q.InputTokens,
			State:       metrics.StateHeld, Slow: i%97 == 0, Kept: true,
		}
		if q.Sent <= at {
			r.Sent, r.SlotWait, r.State = q.Sent, q.SlotWait(), metrics.StateWaiting
		}
		if q.FirstChunk != metrics.Never && q.FirstChunk <= at {
			r.TTFT, r.State = q.TTFT(), metrics.StateRunning
			for _, c := range q.Chunks {
				if c.At <= at {
					r.OutputTokens++
				}
			}
		}
		if q.Done <= at {
			r.Ended, r.Status, r.State = q.Done, 200, metrics.StateDone
			if !q.OK() {
				r.State, r.Failure, r.Error, r.Status = metrics.StateFailed, q.Failure, q.Error, q.Status
			} else {
				r.E2EL, r.TPOT = q.E2EL(), q.TPOT()
			}
		}
		out = append(out, r)
	}
	return out
}

// openedRequest is one that runs.
func openedRequest(all []*metrics.Request, at time.Duration) *metrics.RequestDetail {
	words := strings.Fields("the server answers one token after the other and the text grows while it is read")
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, r := range requestRows(all, at) {
		if r.State != metrics.StateRunning || r.OutputTokens < 24 {
			continue
		}
		q := all[r.Index]
		out := &metrics.RequestDetail{
			RequestRow: r, Scheduled: q.Scheduled, Encode: 80 * time.Microsecond, Connect: 0,
			Prompt: Prompt, Chunks: q.Chunks[:r.OutputTokens],
		}
		out.CachedTokens, out.ServerQueue, out.ServerPrefill = 64, r.TTFT/2, r.TTFT/3
		var text []string
		for range r.OutputTokens {
			text = append(text, words[rnd.IntN(len(words))])
		}
		out.Text = strings.Join(text, " ")
		return out
	}
	return nil
}

// Watched is a run whose server and accelerators said how they were: the queue grows from second 20 on, the cache
// fills, and from second 45 on requests are preempted.
func Watched(s metrics.Snapshot, gpus int) metrics.Snapshot {
	s.ServerKind = "vLLM"
	plan := *s.Plan
	plan.GPUPrice = 2.5
	s.Plan = &plan
	for at := 980 * time.Millisecond; at < s.At; at += 1003 * time.Millisecond {
		t := at.Seconds()
		grown := math.Max(0, t-20)
		look := metrics.ServerSecond{
			At: at, Took: 1003 * time.Millisecond,
			Running: math.Min(4*t, 128), Waiting: math.Floor(grown * grown / 16), KVUsage: math.Min(t/50, 0.97),
			Preemptions:   math.Floor(math.Max(0, t-45) / 3),
			PrefixQueries: 2000 + 40*t, PrefixHits: 1300 + 25*t, HitRate: 0.64,
			PromptTokens: 700 + 30*t, OutputTokens: math.Min(120*t, 4200),
			DraftTokens: metrics.Unsaid(), AcceptedTokens: metrics.Unsaid(),
			TTFT:       metrics.ServerLatency{N: 120, Mean: time.Duration(150+10*grown) * time.Millisecond},
			Queue:      metrics.ServerLatency{N: 120, Mean: time.Duration(5+9*grown) * time.Millisecond},
			Prefill:    metrics.ServerLatency{N: 120, Mean: 90 * time.Millisecond},
			WaitsAtEnd: true,
		}
		if k := int(at/time.Second) - 1; k >= 0 && k+1 < len(s.Windows) {
			look.First, look.Ended = s.Windows[k+1].TTFTParts, s.Windows[k].TTFTParts
		}
		s.Server = append(s.Server, look)
		g := metrics.GPUSecond{At: at, Took: look.Took}
		for i := range gpus {
			g.GPUs = append(g.GPUs, metrics.GPU{
				Index: i, Name: "NVIDIA H200", Use: math.Min(t/40, 0.99), MemoryUsed: 120e9, MemoryTotal: 150754820096,
				Power: 200 + math.Min(10*t, 450) + float64(7*i), PowerLimit: 700, Temperature: 40 + math.Min(t, 28),
				Clock: 1980,
			})
		}
		if gpus > 0 {
			s.GPUs = append(s.GPUs, g)
		}
	}
	return s
}

// Gone is a run whose server and accelerators fell silent after 40 seconds.
func Gone(s metrics.Snapshot) metrics.Snapshot {
	s.Server, s.GPUs = s.Server[:40], s.GPUs[:40]
	s.ServerAbsent = "http://127.0.0.1:8000/metrics does not answer any more: connection refused"
	s.GPUsAbsent = "nvidia-smi ended"
	return s
}

// Listed is a run with requests of every state, request 4310 open.
func Listed(s metrics.Snapshot) metrics.Snapshot {
	for i := range 60 {
		q := metrics.RequestRow{
			Index: 4300 + i, ID: fmt.Sprintf("bench-7f3a-%d", 4300+i), State: metrics.StateDone, Kept: true,
			Due: s.At - 20*time.Second + time.Duration(i)*333*time.Millisecond, InputTokens: 400 + 7*i,
			OutputTokens: 128, Status: 200,
			TTFT: time.Duration(180+i*i) * time.Millisecond, TPOT: time.Duration(2100+30*(i%7)) * 10 * time.Microsecond,
			SlotWait:     time.Duration(max(0, i-30)) * 12 * time.Millisecond,
			CachedTokens: 16 * (i % 9), ServerQueue: time.Duration(i) * time.Millisecond,
			ServerPrefill: 90 * time.Millisecond,
			Finish:        "length",
		}
		q.Sent = q.Due + q.SlotWait
		q.E2EL = q.TTFT + 127*q.TPOT
		q.Ended = q.Sent + q.E2EL
		switch {
		case i >= 58:
			q.State, q.Sent, q.SlotWait = metrics.StateHeld, metrics.Never, metrics.Never
		case i >= 50:
			q.State = metrics.StateWaiting
		case i >= 36:
			q.State, q.OutputTokens, q.TTFT = metrics.StateRunning, 140-2*i, 300*time.Millisecond
		case i == 12:
			q.State, q.Failure, q.Status = metrics.StateFailed, metrics.FailedStatus, 503
			q.Error = `{"error": "overloaded: the queue is full, try again later"}`
		case i == 21:
			q.State, q.Failure, q.Error = metrics.StateFailed, metrics.FailedTruncated,
				"the stream ended before its finish"
			q.OutputTokens = 31
		case i == 22:
			q.State, q.Failure = metrics.StateCancelled, metrics.Cancelled
		case i == 7, i == 30:
			q.Slow, q.E2EL = true, q.E2EL+9*time.Second
		case i == 5:
			q.Kept = false
		}
		if !slices.Contains([]metrics.RequestState{metrics.StateDone, metrics.StateFailed, metrics.StateCancelled},
			q.State) {
			q.E2EL, q.TPOT, q.Ended, q.Status, q.Finish = metrics.Never, metrics.Never, metrics.Never, 0, ""
			q.CachedTokens, q.ServerQueue, q.ServerPrefill = 0, metrics.Never, metrics.Never
		}
		if q.Failure != "" {
			q.Finish = ""
		}
		if q.Failure != "" || q.State == metrics.StateWaiting || q.State == metrics.StateHeld {
			q.TTFT, q.TPOT = metrics.Never, metrics.Never
		}
		if q.State == metrics.StateWaiting || q.State == metrics.StateHeld || q.Status == 503 {
			q.OutputTokens = 0
		}
		if q.State == metrics.StateDone {
			q.Missed[metrics.TTFT], q.Missed[metrics.E2EL] = q.TTFT > time.Second, q.Slow
		}
		s.Requests = append(s.Requests, q)
	}
	s.Opened = Detail(s.Requests[10])
	return s
}

// Prompt is one of some lines.
const Prompt = "Describe a small harbour in the north, early in the morning, in the words of a fisherman who has " +
	"lived there all his life.\nDo not name the country. Close with the weather." + "\x1b[31m"

// Detail is a request with a chunk every 23 ms and a pause of half a second in the middle.
func Detail(q metrics.RequestRow) *metrics.RequestDetail {
	d := &metrics.RequestDetail{
		RequestRow: q, Scheduled: q.Due - time.Millisecond, Encode: 40 * time.Microsecond,
		Connect: 1200 * time.Microsecond,
		Prompt:  Prompt,
		Text: "The harbour was quiet when the first boats came in. " + strings.Repeat(
			"Nets were drying on the wall, and somebody had painted the number of each boat on a stone beside it. ",
			12) + "\n\nIn the evening the wind turned.",
	}
	d.CachedTokens, d.ServerQueue, d.ServerPrefill, d.Finish = 128, 90*time.Millisecond, 130*time.Millisecond, "length"
	at := q.Sent + q.TTFT
	for i := range 128 {
		d.Chunks = append(d.Chunks, metrics.Chunk{At: at, Tokens: 1, Answer: true})
		if at += 23 * time.Millisecond; i == 70 {
			at += 500 * time.Millisecond
		}
	}
	d.Ended = at
	d.E2EL = at - q.Sent
	return d
}

// Two of the orders of the list.
const BySlowTTFT, ByFailure = 2, 4
