package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"benchtop/metrics"
)

// walkStages announces the stages of the load as they begin, and the end of the warm-up, and sets the number of users of a
// stage of users.
func (s *session) walkStages(ctx context.Context) {
	type moment struct {
		at time.Duration
		do func()
	}
	var moments []moment
	users := 0
	var connecting sync.WaitGroup
	defer connecting.Wait()
	for i, stage := range s.plan.Stages {
		if stage.Users > users && i > 0 {
			moments = append(moments, moment{max(stage.Start-connectAhead, s.plan.Stages[i-1].Start), func() {
				connecting.Go(func() { s.connectFor(ctx, stage) })
			}})
		}
		users = max(users, stage.Users)
		moments = append(moments, moment{stage.Start, func() {
			if set, on := s.helm.stage(stage.Users); on {
				s.stream.Tell(s.stageEvent(i, set))
			}
		}})
	}
	if w := s.plan.Warmup; w > 0 {
		at := len(moments)
		for i := range moments {
			if moments[i].at >= w {
				at = i
				break
			}
		}
		moments = append(moments[:at], append([]moment{{w, func() { s.mark("the warm-up is over: figures begin here", "warm") }}}, moments[at:]...)...)
	}
	for _, m := range moments {
		select {
		case <-time.After(time.Until(s.load.Start.Add(m.at))):
			m.do()
		case <-ctx.Done():
			return
		}
	}
}

// connectAhead is how long before a stage of more users their connections are opened.
const connectAhead = time.Second

// connectFor opens what the users of a stage will need. It takes no longer than the time until then.
func (s *session) connectFor(ctx context.Context, stage metrics.Stage) {
	ctx, cancel := context.WithDeadline(ctx, s.load.Start.Add(stage.Start))
	defer cancel()
	_ = s.load.Connections.Open(ctx, stage.Users) // what is missing is dialled when it is needed
}

// stageEvent says that a stage begins, and with set that it is a load of its own though the run was steered.
func (s *session) stageEvent(i int, set *metrics.LoadSetting) metrics.LogEntry {
	stage := s.plan.Stages[i]
	load := stage.String()
	text := fmt.Sprintf("stage %d/%d: %s for %s", i+1, len(s.plan.Stages), load, metrics.Duration(stage.Length))
	return metrics.LogEntry{Level: metrics.Info, Text: text, Mark: load, Set: set}
}

// mark files an event that is drawn across the charts.
func (s *session) mark(text, mark string) {
	s.stream.Tell(metrics.LogEntry{Level: metrics.Info, Text: text, Mark: mark})
}
