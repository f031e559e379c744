package report

import "benchtop/metrics"

// serverShares sum up the requests of each of several servers; nil for one server.
type serverShares []serverShare

type serverShare struct {
	completed, failed, output int
	inFlight                  float64 // seconds
	waits                     metrics.Sample
}

func newServerShares(p *metrics.Plan) serverShares {
	if len(p.Servers) < 2 {
		return nil
	}
	all := make(serverShares, len(p.Servers))
	for i := range all {
		all[i].waits = metrics.Sample{}
	}
	return all
}

// add counts a request that ended by itself.
func (all serverShares) add(p *metrics.Plan, q *metrics.Request) {
	if q.Server >= len(all) || q.Server < 0 {
		return
	}
	s := &all[q.Server]
	s.inFlight += max(0, metrics.Since(q.Sent, q.Done)).Seconds()
	if !q.OK() {
		s.failed++
		return
	}
	s.completed++
	s.output += q.OutputTokens
	wait := q.TTFT()
	if p.FirstWait() == metrics.E2EL {
		wait = q.E2EL()
	}
	s.waits.Add(wait.Seconds())
}

// report is for a run of so many seconds.
func (all serverShares) report(p *metrics.Plan, length float64) (out []metrics.ServerShare) {
	for i := range all {
		s := &all[i]
		out = append(out, metrics.ServerShare{
			URL: p.Servers[i], Completed: s.completed, Failed: s.failed,
			InFlight:          metrics.PerSecond(s.inFlight, length),
			RequestThroughput: metrics.PerSecond(float64(s.completed), length),
			OutputThroughput:  metrics.PerSecond(float64(s.output), length),
			FirstWait:         s.waits.Statistic(nil),
		})
	}
	return out
}
