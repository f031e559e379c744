package attach

import (
	"cmp"
	"fmt"
	"slices"

	"benchtop/metrics"
)

// protocol is the version of what is said on the socket. It rises with every change of it or of metrics.Snapshot.
const protocol = 16

// hello is the viewer's first line, reply the host's answer to it.
type hello struct {
	Attach  int    `json:"benchtop_attach"`
	Version string `json:"version"`
	// Ask: the viewer only wants to know what the run is.
	Ask bool `json:"ask,omitempty"`
}

type reply struct {
	Attach  int    `json:"benchtop_attach"`
	Version string `json:"version"`
	// Refused says why there is nothing to see, "" for nothing.
	Refused string `json:"refused,omitempty"`
	// Control says that this viewer may change the run.
	Control bool  `json:"control,omitempty"`
	About   About `json:"about"`
}

// frame is a snapshot without what the viewer has already.
type frame struct {
	Snapshot metrics.Snapshot
	// The lists of the snapshot that only grow are sent from these places on; what the viewer has behind them is
	// replaced.
	Windows, Client, Server, GPUs, Marks int
	// NoGoodput: the report's goodput is 0, which gob would take for none at all. NoObjectives: they were taken away.
	NoGoodput, NoObjectives bool
	// Control says that the viewer may change the run from now on: the first terminal may be lost at any time.
	Control bool
}

// sender remembers what a viewer has.
type sender struct{ last metrics.Snapshot }

// next makes the frame that brings a viewer from the last snapshot to s.
func (d *sender) next(s metrics.Snapshot) frame {
	f := frame{
		Windows: same(d.last.Windows, s.Windows, func(a, b **metrics.Window) bool { return (*a).Same(*b) }),
		Client:  len(d.last.Client), Marks: len(d.last.Marks),
		Server: same(d.last.Server, s.Server,
			func(a, b *metrics.ServerSecond) bool { return a.At == b.At && a.Took == b.Took }),
		GPUs: same(d.last.GPUs, s.GPUs,
			func(a, b *metrics.GPUSecond) bool { return a.At == b.At && a.Took == b.Took }),
	}
	plan := s.Plan
	if d.last.Plan != nil {
		plan = nil
	}
	d.last = s
	f.Snapshot = s
	out := &f.Snapshot
	out.Plan = plan
	out.Windows, out.Minutes, out.Client = s.Windows[f.Windows:], metrics.Minutes{}, s.Client[f.Client:]
	out.Server, out.GPUs, out.Marks = s.Server[f.Server:], s.GPUs[f.GPUs:], s.Marks[f.Marks:]
	if s.Report != nil {
		// Every request's figures are for the files, not for the screen.
		short := *s.Report
		short.Rows, short.Details = nil, nil
		out.Report = &short
		f.NoGoodput = short.Goodput != nil && *short.Goodput == 0
	}
	f.NoObjectives = s.Objectives != nil && len(s.Objectives) == 0
	return f
}

// same is how many windows or samples at the start are the same in both.
func same[T any](a, b []T, equal func(a, b *T) bool) int {
	n := 0
	for n < len(a) && n < len(b) && equal(&a[n], &b[n]) {
		n++
	}
	return n
}

// receiver puts snapshots together again.
type receiver struct{ last metrics.Snapshot }

// next returns the snapshot that a frame makes of the last one; not ok if the frame does not fit it.
func (r *receiver) next(f frame) (s metrics.Snapshot, ok bool) {
	s = f.Snapshot
	l := &r.last
	s.Plan = cmp.Or(s.Plan, l.Plan)
	ok = extend(&s.Windows, l.Windows, f.Windows) && extend(&s.Client, l.Client, f.Client) &&
		extend(&s.Server, l.Server, f.Server) && extend(&s.GPUs, l.GPUs, f.GPUs) && extend(&s.Marks, l.Marks, f.Marks)
	if f.NoGoodput && s.Report != nil {
		s.Report.Goodput = new(float64)
	}
	if f.NoObjectives {
		s.Objectives = metrics.SLO{}
		if s.Report != nil {
			s.Report.Objectives = metrics.SLO{}
		}
	}
	if s.Plan == nil || !ok {
		return s, false
	}
	s.Minutes = l.Minutes.Follow(&s, f.Windows)
	s.JoinEngines(len(l.Server))
	r.last = s
	return s, true
}

// extend puts what was there before in front of what is new. The result shares nothing with what a reader may have.
func extend[T any](now *[]T, before []T, from int) bool {
	if from < 0 || from > len(before) {
		return false
	}
	*now = slices.Concat(before[:from], *now)
	return true
}

// request is what a viewer asks for: a command, or, with Inspect, what it wants to see of single requests.
type request struct {
	metrics.Command
	Inspect *metrics.Inspection `json:"look,omitempty"`
}

// refusal is what a viewer of another benchtop is told. Builds that are no release have the same version.
func refusal(run, here string) string {
	if run == here {
		return fmt.Sprintf("the run uses another build of benchtop %s; attach with the program that started it", run)
	}
	return fmt.Sprintf("the run uses benchtop %s, this is benchtop %s; attach with the program that started it", run,
		here)
}
