package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"benchtop/datasets"
	"benchtop/export/journal"
	"benchtop/internal/fleet/link"
	"benchtop/internal/run"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	// startsIn is the time between the last word before a run and its start.
	startsIn = 500 * time.Millisecond
	// aliveEvery is how often members hear of the machine that leads.
	aliveEvery = 500 * time.Millisecond
	// leadFor is how long another machine that leads the run may take to say so.
	leadFor = 2 * time.Second
	// outOfSight is the silence after which a member is told to be out of sight. It is never stopped for that.
	outOfSight = 3 * time.Second
	// patience is how long members that are out of sight are waited for when all else is over, impatience how long when
	// the user wants the end.
	patience, impatience = 60 * time.Second, 5 * time.Second
)

// Fleet are the machines of a run, as the one that leads it sees them. It is a run.Fleet.
type Fleet struct {
	wire    link.Wire
	clock   *clock
	version string
	setup   func(metrics.Part) Setup
	parts   []*part
	stops   []func()
	news    chan struct{} // something has changed for Gather
	hearing time.Time     // since when the machines are listened to

	mu      sync.Mutex // guards the following, and those of the parts
	orders  []order
	begun   bool // the machines are what they are
	over    bool // nothing new is sent any more
	aborted bool
	exits   map[int]bool // workers whose processes ended early
	stream  *event.Stream
	told    func(metrics.Level, string)
}

// part is a machine.
type part struct {
	n        int
	id, host string
	worker   int // see link.Join
	ready    *ready
	clock    link.Offset
	follower *follower
	replica  *link.Replica
	hidden   bool   // it is out of sight
	lost     string // why nothing more comes of it, "" while something may
}

func (p *part) String() string { return fmt.Sprintf("part %d on %s", p.n, text.Clean(p.host)) }

// New waits for so many machines that join. setup is what one of them is to do. The error says that another machine
// leads the run. Close ends it.
func New(ctx context.Context, w link.Wire, version string, parts int, setup func(metrics.Part) Setup) (*Fleet, error) {
	f := &Fleet{wire: w, clock: newClock(), version: version, setup: setup, news: make(chan struct{}, 1),
		exits: map[int]bool{}}
	for n := 1; n <= parts; n++ {
		f.parts = append(f.parts, &part{n: n})
	}
	asking, cancel := context.WithTimeout(ctx, leadFor)
	defer cancel()
	if _, err := w.Request(asking, subjectLead, nil); err == nil {
		return nil, errors.New("another machine leads this run: take another --join-file")
	}
	err := errors.Join(f.handle(subjectLead, func([]byte) any { return true }), f.handle(subjectHello, f.hello))
	for _, p := range f.parts {
		err = errors.Join(err, f.handle(subjectOf(aboutReady, p.n), func(b []byte) any { return f.isReady(p, b) }))
	}
	err = errors.Join(err, f.handle(subjectOrder, f.repeat))
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Size is the number of machines.
func (f *Fleet) Size() int { return len(f.parts) }

// handle answers the messages on a subject.
func (f *Fleet) handle(subject string, take func([]byte) any) error {
	stop, err := f.wire.Handle(subject, func(_ string, b []byte) []byte {
		if answer := take(b); answer != nil {
			return encode(answer)
		}
		return nil
	})
	if err == nil {
		f.stops = append(f.stops, stop)
	}
	return err
}

// hello gives a machine a part.
func (f *Fleet) hello(b []byte) any {
	var h hello
	if err := json.Unmarshal(b, &h); err != nil || h.ID == "" {
		return nil
	}
	if h.Version != f.version {
		f.Warn(fmt.Sprintf("a machine that asked for a part has another version: %s has benchtop %s, this one %s",
			text.Clean(h.Host), text.Clean(h.Version), f.version))
		return Setup{Refused: fmt.Sprintf("this is benchtop %s, and the run is led by %s: use the same on all machines",
			h.Version, f.version)}
	}
	setup, ok := f.join(&h)
	if !ok {
		f.forget()
		setup, ok = f.join(&h)
	}
	if !ok {
		return Setup{Refused: fmt.Sprintf("all %d parts of the run are taken", len(f.parts))}
	}
	return setup
}

// join gives a machine a part, if there is one.
func (f *Fleet) join(h *hello) (Setup, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		if p.id == "" || p.id == h.ID {
			p.id, p.host, p.worker = h.ID, h.Host, h.Worker
			f.wake()
			return f.setup(metrics.Part{K: p.n, N: len(f.parts)}), true
		}
	}
	return Setup{}, false
}

// goneAfter is how long a machine that has a part may not answer before the run.
const goneAfter = 2 * time.Second

// forget takes their parts from machines that are gone before the run begins.
func (f *Fleet) forget() {
	f.mu.Lock()
	begun := f.begun
	f.mu.Unlock()
	if begun {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goneAfter)
	defer cancel()
	var asking sync.WaitGroup
	for _, p := range f.parts {
		asking.Go(func() {
			err := link.ErrNobody
			for errors.Is(err, link.ErrNobody) && ctx.Err() == nil { // it has just joined
				if _, err = f.wire.Request(ctx, subjectOf(aboutClock, p.n), nil); err != nil {
					time.Sleep(goneAfter / 20)
				}
			}
			if f.mu.Lock(); err != nil && !f.begun {
				p.id, p.ready = "", nil
			}
			f.mu.Unlock()
		})
	}
	asking.Wait()
}

func (f *Fleet) wake() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *Fleet) isReady(p *part, b []byte) any {
	var r ready
	if err := json.Unmarshal(b, &r); err != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.ready = &r
	f.wake()
	return true
}

// Gather waits until all machines are ready for a plan. The error is that of a machine that cannot be, or of lost.
func (f *Fleet) Gather(ctx context.Context, plan *metrics.Plan, lost <-chan error, show func(string)) error {
	for {
		waiting, err := f.gathered(plan)
		if err != nil {
			return err
		}
		if waiting == "" {
			break
		}
		show(waiting)
		select {
		case <-f.news:
		case err := <-lost:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for _, p := range f.parts {
		var err error
		if p.clock, err = link.MeasureClock(ctx, f.wire, subjectOf(aboutClock, p.n), f.clock.now); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// mostNamed bounds the machines that are named in a line.
const mostNamed = 3

// gathered says what is waited for, "" for nothing.
func (f *Fleet) gathered(plan *metrics.Plan) (waiting string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	absent := 0
	var unready []string
	for _, p := range f.parts {
		if p.id == "" {
			absent++
			continue
		}
		if p.ready == nil {
			unready = append(unready, p.String())
			continue
		}
		if p.ready.Problem != "" {
			return "", fmt.Errorf("%s: %s", p, p.ready.Problem)
		}
		own, err := new(journal.Decoder).Plan(p.ready.Plan)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p, err)
		}
		if apart := (&event.Piece{Plan: own}).Apart(&event.Piece{Plan: *plan}); apart != "" {
			const words = "%s would not send its part of this run: %s; do all machines have the same files?"
			return "", fmt.Errorf(words, p, apart)
		}
	}
	switch all := len(f.parts); {
	case absent > 0:
		return fmt.Sprintf("%d of %d machines joined", all-absent, all), nil
	case len(unready) > 0:
		return fmt.Sprintf("%d of %d machines ready; not yet: %s", all-len(unready), all,
			text.List(unready, mostNamed)), nil
	}
	f.begun = true
	return "", nil
}

// Start has the machines begin together, and returns that moment once it has come. The error names those that cannot.
func (f *Fleet) Start(ctx context.Context) (time.Time, error) {
	at := f.clock.now().Add(startsIn)
	begin := f.clock.at(at)
	ctx, cancel := context.WithDeadline(ctx, begin)
	defer cancel()
	problems := make([]error, len(f.parts))
	var asking sync.WaitGroup
	for i, p := range f.parts {
		asking.Go(func() {
			c := p.clock
			s := start{At: at.Add(c.Value), Began: begin.Round(0), Offset: c.Value, Bound: c.Bound}
			if _, err := f.wire.Request(ctx, subjectOf(aboutStart, p.n), encode(s)); err != nil {
				problems[i] = fmt.Errorf("%s does not answer: %w", p, err)
			}
		})
	}
	asking.Wait()
	if err := errors.Join(problems...); err != nil {
		_ = f.wire.Publish(subjectOver, nil)
		return begin, err
	}
	time.Sleep(time.Until(begin))
	return begin, nil
}

// Close tells the machines that the run is over for this one.
func (f *Fleet) Close() {
	_ = f.wire.Publish(subjectOver, nil) // they find out by themselves, too
	for _, stop := range f.stops {
		stop()
	}
	for _, p := range f.parts {
		if p.replica != nil {
			p.replica.Close()
		}
	}
}

// Hear has the events of the machines go to a stream.
func (f *Fleet) Hear(stream *event.Stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stream, f.hearing = stream, time.Now()
	merge := event.NewMerge(0)
	for _, p := range f.parts {
		stream.Tell(metrics.Worker{Part: p.n, Host: p.host, Offset: p.clock.Value, Bound: p.clock.Bound})
		p.follower = newFollower(p.n, stream, merge)
		var err error
		if p.replica, err = link.NewReplica(f.wire, subjectOf(aboutPart, p.n), 0, p.follower.lines,
			p.follower.feed); err != nil {
			p.lost = err.Error()
		}
	}
}

// Run waits until the machines have sent their parts, and all is here that they have told.
func (f *Fleet) Run(ctx context.Context, _ datasets.Flow) error {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	since := time.Now()
	for {
		f.mu.Lock()
		orders := len(f.orders)
		f.mu.Unlock()
		_ = f.wire.Publish(subjectAlive, encode(orders)) // the next one says the same
		left, moved := f.look()
		if len(left) == 0 {
			return nil
		}
		if moved {
			since = time.Now()
		}
		wait := patience
		if f.isAborted() {
			wait = impatience
		}
		if time.Since(since) > wait || ctx.Err() != nil {
			f.giveUp(left)
			return nil
		}
		f.giveUp(f.dead(left))
		<-alive.C
	}
}

// dead are the machines out of sight whose processes have ended.
func (f *Fleet) dead(left []*part) (dead []*part) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range left {
		if p.hidden && f.exits[p.worker] {
			dead = append(dead, p)
		}
	}
	return dead
}

func (f *Fleet) isAborted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.aborted
}

// look returns the machines of which something may still come, and whether one of them was heard of lately.
func (f *Fleet) look() (left []*part, moved bool) {
	for _, p := range f.parts {
		f.mu.Lock()
		lost := p.lost
		f.mu.Unlock()
		if lost != "" {
			continue
		}
		c := p.replica.Progress()
		if c.Ended && c.Have >= c.Length {
			if err := p.replica.Wait(context.Background()); err != nil { // it is over
				f.tell(metrics.Error, fmt.Sprintf("%s: %s", p, err))
			}
			f.lose(p, "it has ended")
			continue
		}
		left = append(left, p)
		silent := min(time.Since(c.Heard), time.Since(f.hearing)) > outOfSight
		moved = moved || !silent
		if silent != p.hidden {
			f.mu.Lock()
			p.hidden = silent
			f.mu.Unlock()
			if silent {
				f.Warn(fmt.Sprintf("%s is out of sight: its requests are missing here until it is back", p))
			} else {
				f.tell(metrics.Info, fmt.Sprintf("%s is back", p))
			}
		}
	}
	return left, moved
}

// lose ends the waiting for a machine.
func (f *Fleet) lose(p *part, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.lost = cmp.Or(p.lost, why)
}

// Exited tells that the process of a worker has ended early, with its last words. Nothing more comes of its machine
// once that is out of sight.
func (f *Fleet) Exited(e link.Exit) {
	f.Warn(e.Err.Error())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exits[e.Worker] = true
}

// giveUp ends the waiting for machines that are out of sight.
func (f *Fleet) giveUp(left []*part) {
	for _, p := range left {
		p.replica.Close() // what comes later would be of requests that are cancelled here
		p.follower.drop()
		p.follower.mu.Lock()
		file := p.follower.state.File
		p.follower.mu.Unlock()
		f.lose(p, "out of sight")
		if file = text.Clean(file); file != "" {
			file += "*" // it is compressed at its end
		}
		file = cmp.Or(file, "if it has one")
		f.mu.Lock()
		sending := ""
		if !f.exits[p.worker] {
			sending = " and may still send"
		}
		f.mu.Unlock()
		words := fmt.Sprintf("%s did not come back%s; its journal there, %s, has the rest", p, sending, file)
		if !f.setup(metrics.Part{}).Discard { // the others have theirs as well
			words += ": 'benchtop report' joins the journals of all parts"
		}
		f.tell(metrics.Error, words)
	}
}

// Inform has trouble with the machines, and its end, told elsewhere as well.
func (f *Fleet) Inform(told func(metrics.Level, string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
}

// Warn tells of trouble with the machines.
func (f *Fleet) Warn(words string) { f.tell(metrics.Warn, words) }

func (f *Fleet) tell(level metrics.Level, words string) {
	f.mu.Lock()
	stream, told := f.stream, f.told
	f.mu.Unlock()
	if stream != nil {
		stream.Tell(metrics.LogEntry{Level: level, Text: words})
	}
	if told != nil {
		told(level, words)
	}
}

// order has the machines do something. It is false where nothing more is sent.
func (f *Fleet) order(o order) bool {
	f.mu.Lock()
	sending := !f.over
	o.Number = len(f.orders) + 1
	f.orders = append(f.orders, o)
	f.over = f.over || o.Do == run.OrderStop || o.Do == run.OrderDrain || o.Do == run.OrderAbort
	f.aborted = f.aborted || o.Do == run.OrderAbort
	f.mu.Unlock()
	_ = f.wire.Publish(subjectOrder+".new", encode(o)) // who misses it asks
	return sending
}

// mostRepeated bounds the orders of one answer.
const mostRepeated = 500

// repeat answers a machine that lacks orders from a number on.
func (f *Fleet) repeat(b []byte) any {
	var from int
	if err := json.Unmarshal(b, &from); err != nil || from < 1 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from = min(from-1, len(f.orders))
	return append([]order{}, f.orders[from:min(len(f.orders), from+mostRepeated)]...)
}

// Tell has the machines file a fact about the load.
func (f *Fleet) Tell(fact any) {
	if line := journal.AppendFact(nil, &event.Event{Kind: event.Fact, Value: fact}); len(line) > 0 {
		f.order(order{Fact: line})
	}
}

// states are those of the sending of the machines, or of those that are in sight and have not ended.
func (f *Fleet) states(inSight bool) (all []state) {
	for _, p := range f.parts {
		f.mu.Lock()
		gone := p.hidden || p.lost != ""
		f.mu.Unlock()
		if p.follower != nil && !(inSight && gone) {
			p.follower.mu.Lock()
			all = append(all, p.follower.state)
			p.follower.mu.Unlock()
		}
	}
	return all
}

// Whole reports whether all machines are in sight.
func (f *Fleet) Whole() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		if p.hidden {
			return false
		}
	}
	return true
}

// SetRate sets the arrivals per second of the whole run.
func (f *Fleet) SetRate(perSecond float64) bool {
	return f.order(order{Order: run.Order{Do: run.OrderRate, Value: perSecond}})
}

// SetLimit does nothing, since each machine follows the plan.
func (f *Fleet) SetLimit(int) {}

// SetUsers sets the users of the whole run.
func (f *Fleet) SetUsers(users int) {
	f.order(order{Order: run.Order{Do: run.OrderUsers, Value: float64(users)}})
}

func (f *Fleet) Pause() bool  { return f.order(order{Order: run.Order{Do: run.OrderPause}}) }
func (f *Fleet) Resume() bool { return f.order(order{Order: run.Order{Do: run.OrderResume}}) }
func (f *Fleet) StopSending() { f.order(order{Order: run.Order{Do: run.OrderStop}}) }
func (f *Fleet) LeavePlan()   { f.order(order{Order: run.Order{Do: run.OrderLeave}}) }

// Drain ends the sending, and cuts what is in flight after a time.
func (f *Fleet) Drain(limit time.Duration) {
	f.order(order{Order: run.Order{Do: run.OrderDrain}})
	time.AfterFunc(limit, f.Abort)
}

// Abort cuts what is in flight.
func (f *Fleet) Abort() {
	if !f.isAborted() {
		f.order(order{Order: run.Order{Do: run.OrderAbort}})
	}
}

// PlanSent reports whether all requests of the plan were handed over, as far as machines are in sight.
func (f *Fleet) PlanSent() bool {
	all := f.states(true)
	return len(all) > 0 && !slices.ContainsFunc(all, func(s state) bool { return !s.PlanSent })
}

// Dispatched counts the requests that were handed over.
func (f *Fleet) Dispatched() (n int) {
	for _, s := range f.states(false) {
		n = max(n, s.Dispatched)
	}
	return n
}

// Sending reports whether more may follow.
func (f *Fleet) Sending() bool {
	f.mu.Lock()
	over := f.over
	f.mu.Unlock()
	if over {
		return false
	}
	for _, s := range f.states(false) {
		if s.Open || s.Number == 0 {
			return true
		}
	}
	return false
}

// ends are those of the machines that have ended.
func (f *Fleet) ends() (all []*metrics.End) {
	for _, p := range f.parts {
		if p.follower != nil && p.follower.end != nil {
			all = append(all, p.follower.end)
		}
	}
	return all
}

// Ended is when the last machine ended.
func (f *Fleet) Ended() (at time.Duration) {
	for _, end := range f.ends() {
		at = max(at, end.Ended)
	}
	return at
}

// Probes are those of the machine that sends them.
func (f *Fleet) Probes() metrics.Probes {
	for _, end := range f.ends() {
		if end.Probes != nil {
			return *end.Probes
		}
	}
	return metrics.Probes{}
}

// Finish completes the end of the run by those of the machines.
func (f *Fleet) Finish(end *metrics.End) {
	ends := f.ends()
	var all metrics.End
	for i, e := range ends {
		if all = all.With(e); i == 0 {
			all = *e
		}
	}
	missing := len(f.parts) - len(ends)
	if end.Stamps, end.Probes = all.Stamps, all.Probes; missing > 0 {
		end.Unsent = all.Unsent // what the others sent is not known
	}
	if missing > 0 && end.Reason == "" {
		end.Reason = fmt.Sprintf("%s: %d of %d", metrics.PartsLost, missing, len(f.parts))
	}
	for _, p := range f.parts {
		if p.follower != nil && p.follower.end != nil && p.follower.end.Reason != "" && end.Reason == "" {
			end.Reason = fmt.Sprintf("%s: %s ended early: %s", metrics.PartsLost, p, p.follower.end.Reason)
		}
	}
}
