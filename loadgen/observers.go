package loadgen

import "benchtop/metrics"

// Observers joins several into one; each hears everything, in order.
func Observers(all ...Observer) Observer { return observers(all) }

type observers []Observer

func (o observers) Due(q *metrics.Request) {
	for _, x := range o {
		x.Due(q)
	}
}

func (o observers) Sent(q *metrics.Request) {
	for _, x := range o {
		x.Sent(q)
	}
}

func (o observers) Chunk(q *metrics.Request) {
	for _, x := range o {
		x.Chunk(q)
	}
}

func (o observers) Done(q *metrics.Request) {
	for _, x := range o {
		x.Done(q)
	}
}
