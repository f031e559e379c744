package run

import (
	"fmt"

	"benchtop/metrics"
)

// Order is what the machine that leads a run asks of one that sends a part of it.
type Order struct {
	Do    string  `json:"do"`
	Value float64 `json:"value,omitempty"`
}

// What an Order asks for.
const (
	OrderRate   = "rate"   // arrivals per second of the whole run, instead of the plan's
	OrderUsers  = "users"  // of the whole run, instead of the plan's
	OrderPause  = "pause"  // no arrivals
	OrderResume = "resume" // arrivals again
	OrderLeave  = "leave"  // the plan's arrivals end
	OrderStop   = "stop"   // nothing new is sent
	OrderDrain  = "drain"  // the same, by the user
	OrderAbort  = "abort"  // requests in flight are cut
)

// Obey carries out an order. The error says that this program does not know it.
func (r *Run) Obey(o Order) (err error) {
	r.call(func() {
		switch o.Do {
		case OrderRate:
			r.load.Yield()
			r.engine.SetRate(o.Value)
		case OrderUsers:
			r.load.Yield()
			r.engine.SetUsers(int(o.Value))
		case OrderPause:
			r.load.Pause()
		case OrderResume:
			r.load.Resume()
		case OrderLeave:
			r.load.Yield()
			r.engine.LeavePlan()
		case OrderStop:
			r.engine.StopSending()
		case OrderDrain:
			r.step(drain)
		case OrderAbort:
			r.step(abort)
		default:
			err = fmt.Errorf("order %q is not known", o.Do)
		}
	})
	return err
}

// Repeat files a fact that the machine that leads the run told.
func (r *Run) Repeat(fact any) { r.stream.Tell(fact) }

// Sending is how far the sending of a run is.
type Sending struct {
	// Dispatched counts the requests of the whole run that were handed over by now, those of other machines included.
	Dispatched int `json:"dispatched"`
	// PlanSent: those of the plan all were. Open: more may follow.
	PlanSent bool `json:"plan_sent,omitempty"`
	Open     bool `json:"open,omitempty"`
}

// Sending is that of the run now.
func (r *Run) Sending() Sending {
	return Sending{r.engine.Dispatched(), r.engine.PlanSent(), r.engine.Sending()}
}

// leads reports whether a fact is about the load, so that the machines of a run have to know it.
func leads(fact any) bool {
	switch x := fact.(type) {
	case metrics.Steering:
		return x.Changes > 0 // each machine knows the plan
	case metrics.LogEntry:
		return x.Set != nil || x.Objectives != nil || x.Search != nil
	}
	return false
}
