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

func runCalibrate(env *environment, args []string) int {
	flags := argv.Flags{Synopsis: "calibrate [flags]", Text: calibrateText}
	var o calibrateOptions
	f := flags.Group("Calibration")
	quick := f.Bool("quick", false, "take about 20 s: fewer loads, less confidence")
	f.StringVar(&o.json, "json", "", "write all figures to this file; - for standard output, with the table on standard error")
	f.BoolVar(&o.noSave, "no-save", false, "do not save the result for later runs")
	rest, err := env.parse(&flags, args)
	if err := errors.Join(err, noArguments("calibrate", rest), o.check()); err != nil {
		return env.fail(exitUsage, err)
	}
	signals := watchSignals()
	ctx, stop := untilSignal(signals, false)
	// A second signal ends the program at once.
	unwatch := context.AfterFunc(ctx, func() { signal.Stop(signals) })
	defer unwatch()

	telemetry.TuneMemory()
	server, err := startChild("the metronome", "metronome", "--port", "0", "--exit-with-stdin")
	if err != nil {
		_, _ = stop()
		return env.fail(exitFailed, err)
	}
	defer server.stop()
	plan := calibration.Usual()
	if *quick {
		plan = calibration.Quick()
	}
	code := o.calibrate(ctx, env, plan, server.url)
	if sig, _ := stop(); sig != nil {
		return signalCode(sig)
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
func (o *calibrateOptions) calibrate(ctx context.Context, env *environment, plan calibration.Campaign, server string) int {
	plan.Draw = drawUnseen
	var done func()
	plan.Progress, done = calibrationProgress(env.stderr)
	c := plan.Run(ctx, server)
	done()
	c.Version = version()

	table, code := env.stdout, exitFine
	if o.json == "-" {
		table = env.stderr
		if err := c.JSON(env.stdout); err != nil {
			code = env.fail(exitFailed, fmt.Errorf("--json: %w", err))
		}
	} else if o.json != "" {
		if err := files.Write(o.json, c.JSON); err != nil {
			code = env.fail(exitFailed, fmt.Errorf("--json: %w; choose another file", err))
		}
	}
	if err := c.Text(table); err != nil {
		code = env.fail(exitFailed, err)
	}
	switch {
	case c.Figures.Empty() && c.Complete:
		return exitFailed
	case !c.Complete:
		fmt.Fprintln(env.stderr, "benchtop: the calibration was interrupted and is not saved")
	case !o.noSave:
		path, stays, err := keepCalibration(c)
		if err != nil {
			return env.fail(exitFailed, fmt.Errorf("the calibration is not saved: %w; set XDG_STATE_HOME to a directory that can be written, or use --no-save", err))
		}
		if stays != "" {
			fmt.Fprintf(env.stderr, "not saved in %s: %s\n", harmless(path), stays)
			return code
		}
		fmt.Fprintf(env.stderr, "saved in %s; 'serve' warns of loads beyond it\n", harmless(path))
	}
	return code
}

// keepCalibration stores a calibration for serve. A better one is kept instead, with the reason in stays.
func keepCalibration(c *calibration.Calibration) (path, stays string, err error) {
	if path, err = calibrationPath(); err != nil {
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

// calibrationProgress returns functions that show the progress of a campaign and clear it at the end. A terminal has one line that
// changes; any other output gets a line for each measurement.
func calibrationProgress(w io.Writer) (show func(part, of int, text string), done func()) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return func(part, of int, text string) { fmt.Fprintf(w, "[%d/%d] %s\n", part, of, text) }, func() {}
	}
	const clear, width = "\r\x1b[K", 79
	return func(part, of int, text string) {
		line := fmt.Sprintf("[%d/%d] %s", part, of, text)
		fmt.Fprintf(w, "%s%.*s", clear, width, line)
	}, func() { fmt.Fprint(w, clear) }
}

// calibrationPath is the path of the user's calibration of this machine.
func calibrationPath() (string, error) {
	// A relative path would be another file in every directory; by the rules of the variable it does not count.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "benchtop", "calibration.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no directory to save it in: neither XDG_STATE_HOME nor a home directory is set")
	}
	return filepath.Join(home, ".local", "state", "benchtop", "calibration.json"), nil
}

// calibrationWarnings are about a load beyond the calibrated limits of this client. There are none without a calibration of this
// machine.
func calibrationWarnings(p calibration.Planned) []string {
	path, err := calibrationPath()
	if err != nil {
		return nil
	}
	c, err := calibration.ReadRecord(path)
	if err != nil || !c.Matches() {
		return nil
	}
	return c.Beyond(p)
}

// drawUnseen draws the dashboard of a run to nowhere until ctx ends, and returns the number of bytes.
func drawUnseen(ctx context.Context, snapshots <-chan metrics.Snapshot) int64 {
	keys, nobody := io.Pipe() // no key is ever pressed
	defer nobody.Close()
	var screen byteCount
	// Its error is that ctx ended; a broken dashboard shows as one that drew next to nothing.
	_ = tui.Run(ctx, tui.Options{
		Snapshots: snapshots, Control: tui.NoControl{}, Input: keys, Output: &screen, Width: 120, Height: 40, Color: "256",
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

func runMetronome(env *environment, args []string) int {
	flags := argv.Flags{Synopsis: "metronome [flags]", Text: metronomeText}
	fs := flags.Group("Server")
	var at listenOptions
	at.define(fs, 8010)
	at.defineEnd(fs)
	rest, err := env.parse(&flags, args)
	if at.port < 0 || at.port > 65535 {
		err = errors.Join(err, fmt.Errorf("--port %d: ports are from 1 to 65535; 0 takes a free one", at.port))
	}
	if err := errors.Join(err, noArguments("metronome", rest)); err != nil {
		return env.fail(exitUsage, err)
	}
	s := metronome.New()
	return env.failed(at.serve(env, s.Serve, s.Close, func(url string) { fmt.Fprintf(env.stdout, "%s%s\n", listening, url) }))
}
