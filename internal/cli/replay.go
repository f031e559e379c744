package cli

import (
	"context"

	"benchtop/internal/files"
	"benchtop/internal/replay"
	"benchtop/metrics"
	"benchtop/tui"
)

// replayRun plays a saved run on the dashboard until the user leaves it.
func replayRun(file string, screen *screenOptions, baseline *tui.Baseline) error {
	events, err := files.ReadRun(file)
	if err != nil {
		return err
	}
	player, err := replay.New(events)
	if err != nil {
		return err
	}
	_, err = onTerminal(func(ctx context.Context) error {
		playing, stop := context.WithCancel(ctx)
		snapshots := player.Run(playing)
		defer func() {
			stop()
			for range snapshots { // until the player has ended
			}
		}()
		o := screen.options(snapshots, replayed{player: player})
		o.Player, o.Baseline, o.Quiet = player, baseline, true
		return tui.Run(ctx, o)
	})
	return err
}

// replayed is a run of the past as its dashboard sees it: it can be looked at.
type replayed struct {
	tui.NoControl
	player *replay.Player
}

// Inspect says what of single requests the dashboard wants to see.
func (r replayed) Inspect(l metrics.Inspection) { r.player.Inspect(l) }
