// Package loadgen loads a server: it starts requests, sends them, and times the chunks of their answers. It knows
// nothing of screens or files; it sends events to a sink.
//
//	Schedule ──offsets──> pacer ──due──> limiter ──slot──> exchange ──chunks──> event.Sink
//	Flow ────conversations──┘             (queue)          (goroutine, connection)
//
// Two knobs make every load: the schedule says when work may start, the limit how much may be in flight. Requests
// beyond the limit wait in a queue, and their wait is observed.
package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/pace"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Options describe a load. They are not changed by a run.
type Options struct {
	Servers
	Endpoint string // "" for the protocol's own
	Protocol protocol.Protocol
	// Model is the name sent in each request.
	Model string
	// ModelFor names the model of a conversation by its number instead; nil, or "" as the name, for Model. It is called
	// once for each conversation, in the order of the numbers, by one goroutine.
	ModelFor func(conversation int) string
	// Observer hears of the requests of Try, whose numbers begin with First; nil for nobody. A run has the sink of New.
	Observer event.Sink
	First    int
	// Extra fields of the request body, set last and replacing those of the same name where they stand. Any may be
	// replaced: with "stream" of false, the answer is read as one piece of JSON, which is its only chunk. A value of
	// null leaves a protocol.OwnField out of the body; in any other field it is sent.
	Extra []protocol.Field
	// Salt keeps the requests from hitting prefixes that earlier runs left in the server's cache.
	Salt Salt
	// Sharing takes each prompt that is made when it is sent; nil where nothing counts what prompts share.
	Sharing *datasets.Sharing
	// InputSource is the source of the prompts' token counts.
	InputSource metrics.TokenSource
	// CountText counts the tokens of a generated text, without special ones, where the server did not; nil without a
	// tokenizer. It is called from many goroutines at once, after the request is over.
	CountText func(text string) (int, error)

	// Start is offset 0 of the run.
	Start    time.Time
	Schedule shape.Schedule
	// ClosedLoop: the schedule has no times of its own, and a request is due when a slot is free for it.
	ClosedLoop bool
	// Until ends the sending at this offset of the run and drops queued requests; 0 means that the schedule or the
	// prompts ends it. Requests in flight go on. Requests due at the offset itself still count: the end waits at most
	// 50 ms for a late dispatcher. A closed loop, where no request has a time of its own, ends at once.
	Until time.Duration
	// Limit of requests in flight; 0 for none.
	Limit int
	// Active is the most conversations that are under way, those between two turns among them; 0 for no limit.
	Active int
	// Part is the share of the load that this engine sends. Schedule, limits, rates and prompts are those of the whole.
	Part metrics.Part
	// Steered draws the gaps between the arrivals of a load that SetRate sets, in seconds at a rate of 1; nil for even
	// gaps. One goroutine at a time calls it.
	Steered func() float64
	// SteeredUntil ends the sending, as Until does, of a run whose arrivals were steered or paused, since its schedule
	// no longer determines its length. With 0 the prompts end it.
	SteeredUntil time.Duration
	// GoesOn: the sending does not end with the schedule. It waits for LeavePlan, and ends by StopSending.
	GoesOn bool
	// HoldPaused keeps queued requests from starting during a pause. A closed loop always does.
	HoldPaused bool
	// ProbeRate: beside the load, a Probe is sent, its end awaited, and the next one sent after a pause of 1/ProbeRate
	// seconds, so that the real rate is below it; 0 for no probes. None starts once the sending has ended. Probes are
	// not observed, take no slot, have no request id and ask for Model.
	ProbeRate float64
	Probe     datasets.Turn
	// Timestamps is the clock of chunks: metrics.KernelStamps or metrics.UserStamps; "" for the kernel's where this
	// system has them. A connection without them is timed by its reads, and Request.ReadDelay is metrics.Never.
	Timestamps string
	// Pacer is one of pace.Kinds; "" for this system's best.
	Pacer string

	// Drain is how long requests in flight may go on when the context of Run ends, and users try again after the
	// sending was ended or its time is over.
	Drain time.Duration
	// StallTimeout is the longest wait between chunks after the first, RequestTimeout the longest request.
	StallTimeout, RequestTimeout time.Duration
	// Users are the habits of the users.
	Users Users
	// GroupHeaders are headers of answers whose values Request.Served gets; nil for none.
	GroupHeaders []string
	// EchoHeader is a header whose value each turn of a conversation takes over from the answer before, if that had it;
	// "" for none. An answer whose value has more than EchoMost bytes fails.
	EchoHeader string
	// Garbage judges the text of each success, see metrics.Plan.Garbage; nil for nothing. KeepTokens keeps the tokens
	// of answers.
	Garbage    func(q *metrics.Request, text []byte, more bool) metrics.Garbage
	KeepTokens bool
	// KeepText keeps the generated text of every request; without it, only of requests without a usage block.
	KeepText bool
}

// Defaults returns the options that have a default value.
func Defaults() Options {
	return Options{
		Protocol: protocol.Default(),
		Drain:    30 * time.Second, StallTimeout: time.Minute, RequestTimeout: 6 * time.Hour,
	}
}

// Validate reports every problem at once.
func (o *Options) Validate() error {
	problems := []error{o.Salt.check(), o.Servers.check()}
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	for _, f := range o.Extra {
		problems = append(problems, f.Check())
	}
	require(o.Target != nil, "no target")
	require(o.Protocol != nil, "no protocol")
	if o.Protocol != nil {
		problems = append(problems, o.Protocol.Traits().CheckEndpoint(o.Endpoint))
	}
	require(isEndpoint(o.Endpoint), "endpoint %q: expected a path such as /v1/completions", o.Endpoint)
	require(o.Schedule != nil, "no schedule")
	require(o.ProbeRate >= 0, "probe rate %v: must be positive, or 0 for no probes", o.ProbeRate)
	require(o.Until >= 0 && o.SteeredUntil >= 0, "the end of the sending must not be before the start")
	require(o.Active >= 0, "limit of conversations %d: must be positive, or 0 for none", o.Active)
	require(o.Limit >= 0, "limit %d: must be positive, or 0 for none", o.Limit)
	require(!o.ClosedLoop || o.Limit != 0 || o.Active != 0, "a closed loop needs a limit")
	require(o.Drain >= 0 && o.StallTimeout > 0 && o.RequestTimeout > 0,
		"drain, stall and request time-outs must be positive")
	require(o.Pacer == "" || slices.Contains(pace.Kinds(), o.Pacer), "pacer %q: this system has %v", o.Pacer,
		pace.Kinds())
	stamps := []string{"", metrics.UserStamps, metrics.KernelStamps}
	require(slices.Contains(stamps, o.Timestamps), "timestamps %q: use kernel or user", o.Timestamps)
	require(o.Timestamps != metrics.KernelStamps || conn.KernelStamps(),
		"timestamps kernel: this system's kernel does not stamp packets; use user")
	return errors.Join(problems...)
}

// extra is the value of an extra field, "" for none.
func (o *Options) extra(name string) (value string) {
	for _, f := range o.Extra {
		if f.Name == name {
			value = strings.TrimSpace(f.JSON)
		}
	}
	return value
}

// IgnoresEOS reports whether the requests ask for answers of full length.
func (o *Options) IgnoresEOS() bool { return o.extra("ignore_eos") == "true" }

// Engine is one run. Its methods but Run may be called from any goroutine, also before and after it.
type Engine struct {
	options   Options
	clock     conn.Clock
	encoder   encoder
	sink      event.Sink
	servers   *servers
	pools     conn.Pools
	limiter   limiter
	exchanges sync.Pool // of *exchange
	buffers   sync.Pool // of *[]byte, for requests
	parsers   protocol.Parsers
	buffered  atomic.Int64 // bytes that streams hold beyond their own memory
	ahead     atomic.Int64 // bytes of bodies that are made and not sent
	// unstreamed: the requests ask for an answer in one piece.
	unstreamed bool
	pacer      *pace.Pacer

	stopping context.Context // ends when no request may start any more
	stop     context.CancelFunc
	cutting  context.Context // ends when requests in flight are cut
	cut      context.CancelFunc
	trying   context.Context // ends when no user tries again: Options.Drain after the end of the sending
	giveUp   context.CancelFunc
	ended    atomic.Int64
	// dispatched counts requests. planSent: those of the schedule are.
	dispatched atomic.Int64
	planSent   atomic.Bool
	halting    chan struct{} // holds a token unless dropped jobs are being reported; a mutex would stop virtual time
	drain      sync.Once

	preparing sync.WaitGroup // of arrivals

	probing sync.WaitGroup
	probes  metrics.Probes
}

// New checks the options and prepares a run. The sink gets the events of each request, from many goroutines at once:
// Due, Sent, Chunk…, Done; a request that ends early has fewer. Run sends the first request.
func New(o Options, sink event.Sink) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	traits := o.Protocol.Traits()
	if o.Steered == nil {
		o.Steered = func() float64 { return 1 }
	}
	o.Endpoint = cmp.Or(o.Endpoint, traits.Path)
	e := &Engine{
		options: o, clock: conn.Clock{Start: o.Start}, sink: sink,
		encoder: newEncoder(&o),
		limiter: limiter{limit: share(o.Part, o.Limit), most: share(o.Part, o.Active)},
	}
	until := o.Until
	if o.ClosedLoop {
		until = 0
	}
	e.pacer = pace.New(o.Start, until, o.SteeredUntil)
	stream := o.extra("stream")
	e.unstreamed = !traits.Streams || stream == "false" || stream == "null"
	e.halting = make(chan struct{}, 1)
	e.halting <- struct{}{}
	e.servers, e.pools = newServers(&o, traits)
	e.pools.SetClock(e.clock)
	e.stopping, e.stop = context.WithCancel(context.Background())
	e.cutting, e.cut = context.WithCancel(context.Background())
	e.trying, e.giveUp = context.WithCancel(e.cutting)
	context.AfterFunc(e.stopping, func() {
		end := time.AfterFunc(o.Drain, e.giveUp)
		context.AfterFunc(e.cutting, func() { end.Stop() })
	})
	return e, nil
}

// Run starts a conversation at each arrival, at most Limit at a time, and returns when the last has ended. When ctx
// ends it starts no more, lets requests in flight finish for Options.Drain, then cuts them. The error is that of the
// prompts.
//
// Only one goroutine takes from prompts, some before they are due. More of them are opened at their end if the plan was
// left and no number of requests ends the sending: a higher rate needs more requests than were planned.
func (e *Engine) Run(ctx context.Context, prompts datasets.Flow) error {
	unwatch := context.AfterFunc(ctx, func() { e.Drain(e.options.Drain) })
	defer unwatch()
	dispatched := make(chan struct{})
	if e.options.Until > 0 {
		end := e.options.Start.Add(e.options.Until)
		defer time.AfterFunc(time.Until(end), func() { e.expire(dispatched) }).Stop()
	}
	if until := e.options.SteeredUntil; until > 0 { // a schedule of times may end by itself
		end := e.options.Start.Add(until + e.options.Drain)
		defer time.AfterFunc(time.Until(end), e.giveUp).Stop()
	}
	var err error
	go func() {
		defer close(dispatched)
		defer func() {
			if bug := recover(); bug != nil {
				err = fmt.Errorf("the dispatcher broke: %v\n%s", bug, debug.Stack())
			}
		}()
		err = e.dispatch(prompts)
	}()
	if e.options.ProbeRate > 0 {
		e.probing.Go(e.probe)
	}
	<-dispatched
	e.limiter.wait()
	e.halt() // waits for a halt in progress, so that every job is reported
	e.ended.Store(int64(e.clock.Now()))
	e.finish()
	return err
}

// Ended is the offset at which the last request ended, for use after Run. Closing the connections afterwards is not
// part of the run.
func (e *Engine) Ended() time.Duration { return time.Duration(e.ended.Load()) }

// finish stops the timer of a drain, probes and idle connections after the last request.
func (e *Engine) finish() {
	e.drain.Do(func() {})
	e.cut()
	e.pools.Close()
	e.preparing.Wait()
	e.probing.Wait()
}

// handOverMost is the longest wait at the end of a duration for the dispatcher to hand over the last due requests. It
// takes microseconds, unless the backlog is full, which is dropped anyway, or the prompts are slow.
const handOverMost = 50 * time.Millisecond

// expire ends the sending at the end of the run's duration. The dispatcher ends by itself then, see pace.New.
func (e *Engine) expire(dispatched <-chan struct{}) {
	if !e.options.ClosedLoop {
		late := time.NewTimer(handOverMost)
		defer late.Stop()
		select {
		case <-dispatched:
		case <-e.stopping.Done():
		case <-late.C:
		}
	}
	e.halt()
}

// halt ends the sending and drops queued jobs.
func (e *Engine) halt() {
	e.stop()
	<-e.halting
	defer func() { e.halting <- struct{}{} }()
	for _, j := range e.limiter.close() {
		j.cancel()
	}
}

// Drain ends the sending, drops queued jobs, and cuts requests that are in flight after the limit. Only the first call
// counts.
func (e *Engine) Drain(limit time.Duration) {
	e.drain.Do(func() {
		e.halt()
		end := time.AfterFunc(limit, e.Abort)
		context.AfterFunc(e.cutting, func() { end.Stop() })
	})
}

// Abort ends the sending and cuts all requests in flight.
func (e *Engine) Abort() {
	e.cut()
	e.Drain(math.MaxInt64)
	e.pools.Close()
}

// isEndpoint reports whether a text can be put into a request line as a path; "" stands for a protocol's own.
func isEndpoint(s string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }
	return s == "" || s[0] == '/' && !strings.ContainsFunc(s, odd)
}

// SetLimit changes how many requests may be in flight, 0 for no limit; or how many conversations may be under way,
// where only these are limited.
func (e *Engine) SetLimit(n int) {
	if e.options.Active > 0 && e.options.Limit == 0 {
		e.limiter.setMost(share(e.options.Part, n))
	} else {
		e.limiter.setLimit(share(e.options.Part, n))
	}
}

// SetUsers is SetLimit for users that the plan does not have.
func (e *Engine) SetUsers(n int) { e.SetLimit(n) }

// SetRate leaves the plan's schedule for good: from now on requests arrive at a rate per second, with gaps that
// Options.Steered draws. A rate that is not positive stops the arrivals until the next call. A pause goes on. It
// returns false where the rate has no effect: the sending has ended, or the load is a closed loop, which SetLimit
// steers.
func (e *Engine) SetRate(perSecond float64) bool {
	if e.options.ClosedLoop || e.stopping.Err() != nil {
		return false
	}
	return e.pacer.SetRate(e.clock.Now(), perSecond)
}

// LeavePlan ends the plan's schedule. A closed loop goes on without it, other arrivals stop until SetRate.
func (e *Engine) LeavePlan() {
	rate := 0.0
	if e.options.ClosedLoop {
		rate = 1 // its requests are due as soon as a slot is free, whatever the rate
	}
	e.pacer.SetRate(e.clock.Now(), rate)
}

// PlanSent reports whether all requests of the plan were handed over in a run that goes on.
func (e *Engine) PlanSent() bool { return e.planSent.Load() }

// Pause stops the arrivals. Queued requests still start, except in a closed loop and with Options.HoldPaused. The clock
// that ends the sending goes on. It returns false after the end of the sending.
func (e *Engine) Pause() bool { return e.setPaused(true) }

// Resume ends a pause. The arrivals go on where they stopped, without a burst.
func (e *Engine) Resume() bool { return e.setPaused(false) }

func (e *Engine) setPaused(paused bool) bool {
	sending := e.pacer.SetPaused(e.clock.Now(), paused) && e.stopping.Err() == nil
	if e.options.ClosedLoop || e.options.HoldPaused {
		e.limiter.setPaused(paused)
		// Jobs may be queued here, and conversations between two turns, after all have been dispatched.
		sending = sending || e.stopping.Err() == nil && e.limiter.waiting()
	}
	return sending
}

// Sending reports whether requests may still start, so that steering has an effect.
func (e *Engine) Sending() bool {
	return e.stopping.Err() == nil && (!e.pacer.Closed() || e.limiter.waiting())
}

// Dispatched is the number of requests handed over so far, queued ones included.
func (e *Engine) Dispatched() int { return int(e.dispatched.Load()) }

// StopSending drops queued jobs and starts no more, as the end of a duration does. Requests in flight go on.
func (e *Engine) StopSending() { e.halt() }
