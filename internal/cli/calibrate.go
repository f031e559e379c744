package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"

	"benchtop/internal/argv"
	"benchtop/internal/calibration"
	"benchtop/internal/files"
	"benchtop/internal/metronome"
	"benchtop/internal/session"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/tui"
)

const calibrateText = `
Measures this client on this machine, in about a minute: how many requests/s, open streams and chunks/s
it can time exactly, and how exact the time stamps of chunks are. The reference is a server that does no
work, in a separate process ('benchtop metronome'), and its log of when it wrote each chunk. Both share this
machine, so a client with a remote server can do more.

The result is saved, and 'serve' warns when a load exceeds it. Close other busy programs first, since they
distort the figures. Ctrl-C ends the calibration and prints the results so far.`

// calibrateOptions say where a calibration is saved.
type calibrateOptions struct {
	json   string
	noSave bool
}

func runCalibrate(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "calibrate [flags]", Text: calibrateText}
	var o calibrateOptions
	f := flags.Group("Calibration")
	quick := f.Bool("quick", false, "take about 20 s: fewer loads, less confidence")
	f.StringVar(&o.json, "json", "",
		"write all figures to this file; - for standard output, with the table on standard error")
	f.BoolVar(&o.noSave, "no-save", false, "do not save the result for later runs")
	rest, err := env.Parse(&flags, args)
	if err := errors.Join(err, noArguments("calibrate", rest), o.check()); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	signals := session.WatchSignals()
	ctx, stop := session.UntilSignal(signals, false)
	// A second signal ends the program at once.
	unwatch := context.AfterFunc(ctx, func() { signal.Stop(signals) })
	defer unwatch()

	telemetry.TuneMemory()
	server, err := startChild("the metronome", "metronome", "--port", "0", "--exit-with-stdin")
	if err != nil {
		_, _ = stop()
		return env.Fail(session.ExitFailed, err)
	}
	defer server.stop()
	plan := calibration.Usual()
	if *quick {
		plan = calibration.Quick()
	}
	code := o.calibrate(ctx, env, plan, server.url)
	if sig, _ := stop(); sig != nil {
		return session.SignalCode(sig)
	}
	return code
}

func (o *calibrateOptions) check() error {
	if o.json == "" || o.json == "-" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(o.json)); err != nil || !info.IsDir() {
		return fmt.Errorf("--json %s: there is no directory %s", usage.Quote(o.json), usage.Quote(filepath.Dir(o.json)))
	}
	return nil
}

// calibrate runs a campaign against a metronome, prints what it found and keeps it.
func (o *calibrateOptions) calibrate(ctx context.Context, env *session.Environment, plan calibration.Campaign,
	server string) int {
	plan.Draw = drawUnseen
	var done func()
	plan.Progress, done = calibrationProgress(env.Stderr)
	c := plan.Run(ctx, server)
	done()
	c.Version = session.Version()

	table, code := env.Stdout, session.ExitFine
	if o.json == "-" {
		table = env.Stderr
		if err := c.JSON(env.Stdout); err != nil {
			code = env.Fail(session.ExitFailed, fmt.Errorf("--json: %w", err))
		}
	} else if o.json != "" {
		if err := files.Write(o.json, c.JSON); err != nil {
			code = env.Fail(session.ExitFailed, fmt.Errorf("--json: %w; choose another file", err))
		}
	}
	if err := c.Text(table); err != nil {
		code = env.Fail(session.ExitFailed, err)
	}
	switch {
	case c.Figures.Empty() && c.Complete:
		return session.ExitFailed
	case !c.Complete:
		fmt.Fprintln(env.Stderr, "benchtop: the calibration was interrupted and is not saved")
	case !o.noSave:
		path, stays, err := keepCalibration(c)
		if err != nil {
			return env.Fail(session.ExitFailed,
				fmt.Errorf("the calibration is not saved: %w; set XDG_STATE_HOME to a directory that can be written, "+
					"or use --no-save", err))
		}
		if stays != "" {
			fmt.Fprintf(env.Stderr, "not saved in %s: %s\n", session.Harmless(path), stays)
			return code
		}
		fmt.Fprintf(env.Stderr, "saved in %s; 'serve' warns of loads beyond it\n", session.Harmless(path))
	}
	return code
}

// keepCalibration stores a calibration for serve. A better one is kept instead, with the reason in stays.
func keepCalibration(c *calibration.Calibration) (path, stays string, err error) {
	if path, err = session.CalibrationPath(); err != nil {
		return "", "", err
	}
	if before, err := calibration.ReadRecord(path); err == nil {
		stays = c.Worse(before)
	}
	if stays != "" {
		return path, stays, nil
	}
	return path, "", c.Write(path)
}

// calibrationProgress returns functions that show the progress of a campaign and clear it at the end. A terminal has
// one line that changes; any other output gets a line for each measurement.
func calibrationProgress(w io.Writer) (show func(part, of int, text string), done func()) {
	if !session.IsTerminal(w) || os.Getenv("TERM") == "dumb" {
		return func(part, of int, text string) { fmt.Fprintf(w, "[%d/%d] %s\n", part, of, text) }, func() {}
	}
	const clear, width = "\r\x1b[K", 79
	return func(part, of int, text string) {
		line := fmt.Sprintf("[%d/%d] %s", part, of, text)
		fmt.Fprintf(w, "%s%.*s", clear, width, line)
	}, func() { fmt.Fprint(w, clear) }
}

// drawUnseen draws the dashboard of a run to nowhere until ctx ends, and returns the number of bytes.
func drawUnseen(ctx context.Context, snapshots <-chan metrics.Snapshot) int64 {
	keys, nobody := io.Pipe() // no key is ever pressed
	defer nobody.Close()
	var screen byteCount
	// Its error is that ctx ended; a broken dashboard shows as one that drew next to nothing.
	_ = tui.Run(ctx, tui.Options{
		Snapshots: snapshots, Control: tui.NoControl{}, Input: keys, Output: &screen, Width: 120, Height: 40,
		Color: "256",
	})
	return screen.Load()
}

// byteCount is a terminal that only counts.
type byteCount struct{ atomic.Int64 }

func (c *byteCount) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

const metronomeText = `
Runs a server that does no work, to measure clients against: it answers a completions request with
max_tokens chunks at the pace given in the path, and logs when it wrote each of them.
It stops at Ctrl-C.

  POST /ttft=50ms/itl=10ms/v1/completions   the first chunk after 50 ms, then one every 10 ms
  POST /v1/completions                      all chunks as fast as the client takes them
  GET  /log                                 the log since the last request for it

'benchtop calibrate' measures this client against it.`

func runMetronome(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "metronome [flags]", Text: metronomeText}
	fs := flags.Group("Server")
	var at listenOptions
	at.define(fs, 8010)
	at.defineEnd(fs)
	rest, err := env.Parse(&flags, args)
	if at.port < 0 || at.port > 65535 {
		err = errors.Join(err, fmt.Errorf("--port %d: ports are from 1 to 65535; 0 takes a free one", at.port))
	}
	if err := errors.Join(err, noArguments("metronome", rest)); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	s := metronome.New()
	return env.Failed(
		at.serve(env, s.Serve, s.Close, func(url string) { fmt.Fprintf(env.Stdout, "%s%s\n", listening, url) }))
}
