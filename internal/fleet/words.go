// Package fleet has several machines load a server as one run. One of them leads: it knows the plan, sets the load,
// sees all and reports. The others send a part each, which they work out themselves from the plan and the seed, and
// keep its journal. Nothing central happens for a request.
//
//	run.Run ──orders──▶ Fleet ~~NATS~~▶ Member ──▶ run.Run
//	event.Stream ◀── follower ◀~~ feed, journal ~~ event.Stream
package fleet

import (
	"encoding/json"
	"fmt"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/run"
	"benchtop/metrics"
)

// Subjects of the messages of a run. Those of a machine end with its part.
const (
	subjectLead  = "lead"  // whether a machine leads
	subjectHello = "hello" // a machine asks for a part, and becomes a member
	subjectAlive = "alive" // the machine that leads: how many orders there are
	subjectOrder = "order" // an order, or several from a number on to one that asks
	subjectOver  = "over"  // the run is over for all
)

func subjectOf(what string, part int) string { return fmt.Sprintf("%s.%d", what, part) }

// Messages about a machine alone: it is ready, it may start, its journal and feed, its clock.
const (
	aboutReady = "ready"
	aboutStart = "start"
	aboutPart  = "part"
	aboutClock = "clock"
)

// hello is what a machine says of itself.
type hello struct {
	Version string `json:"version"`
	ID      string `json:"id"` // drawn by the process, so that a question asked twice gets one part
	Host    string `json:"host"`
	Worker  int    `json:"worker,omitempty"` // see link.Join
}

// Setup is what a member is to do.
type Setup struct {
	Part metrics.Part `json:"part"`
	// Values are the flags of the run, Environment are the variables that they name.
	Values      []argv.Value      `json:"values"`
	Environment map[string]string `json:"environment,omitempty"`
	// Discard: the files are not needed once the machine that leads has them. Dir is where they are, "" for a temporary
	// directory.
	Discard bool   `json:"discard,omitempty"`
	Dir     string `json:"dir,omitempty"`
	// Refused says why the machine cannot take part, "" if it can.
	Refused string `json:"refused,omitempty"`
}

// ready is a machine that is prepared, or that cannot be.
type ready struct {
	// Plan is the first line of its journal.
	Plan    []byte `json:"plan,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// start is when the run begins.
type start struct {
	// At is by the clock of the machine.
	At time.Time `json:"at"`
	// Began is the same moment by the clock of the machine that leads, Offset and Bound are those of metrics.Worker.
	Began  time.Time     `json:"began"`
	Offset time.Duration `json:"offset_ns"`
	Bound  time.Duration `json:"bound_ns"`
}

// clock is that of a machine when it began, and goes on however that is set since then: the machines of a run agree on
// its start by it.
type clock struct {
	began time.Time
	read  time.Time // what the clock read then
}

func newClock() *clock {
	now := time.Now()
	return &clock{now, now.Round(0)}
}

func (c *clock) now() time.Time { return c.read.Add(time.Since(c.began)) }

// at is a time of this clock as one that time.Until knows.
func (c *clock) at(t time.Time) time.Time { return c.began.Add(t.Sub(c.read)) }

// order is one of a list, with a number from 1.
type order struct {
	Number int `json:"number"`
	run.Order
	Fact []byte `json:"fact,omitempty"` // a line of the journal instead
}

// state is what a machine tells of its sending with each notice.
type state struct {
	run.Sending
	Number int `json:"number"` // of the states so far, from 1
	Orders int `json:"orders"` // that it has carried out
	// File is that of its journal.
	File string `json:"file"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // types of this package
	}
	return b
}
