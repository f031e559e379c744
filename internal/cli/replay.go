package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"benchtop/export"
	"benchtop/internal/replay"
	"benchtop/metrics"
	"benchtop/tui"
)

// replayRun plays a saved run on the dashboard until the user leaves it.
func replayRun(file string, screen *screenOptions, baseline *tui.Baseline) error {
	path, err := journalOf(file)
	if err != nil {
		return err
	}
	run, requests, err := export.ReadJournal(path)
	if err != nil {
		return err
	}
	player, err := replay.New(run, requests)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	snapshots := player.Run(ctx)
	o := screen.options(snapshots, replayed{player: player})
	o.Player, o.Baseline, o.Quiet = player, baseline, true
	err = tui.Run(ctx, o)
	stop()
	for range snapshots { // until the player has ended
	}
	if ctx.Err() != nil || errors.Is(err, tui.ErrTerminal) {
		return nil
	}
	return err
}

// replayed is a run of the past as its dashboard sees it: it can be looked at.
type replayed struct {
	tui.NoControl
	player *replay.Player
}

// Look says what of single requests the dashboard wants to see.
func (r replayed) Look(l metrics.Look) { r.player.Look(l) }
