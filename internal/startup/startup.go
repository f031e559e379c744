// Package startup measures how long a server command takes until it serves, with cold and with warm caches. It leaves
// out its command line, and where the result is saved.
package startup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"benchtop/internal/launch"
)

// Kind is the state of the caches when a server starts.
type Kind string

// A cold start has caches of its own, and the model's files are not in memory. A warm one has the caches that the
// starts before it filled. A warm-up is a warm start that is not recorded.
const (
	Cold   Kind = "cold"
	WarmUp Kind = "warm-up"
	Warm   Kind = "warm"
)

// Options say what to measure.
type Options struct {
	Server             launch.Options // Log and Env are set here
	Key                string         // for the server's API, may be empty
	Model              string         // of the command: a directory or a name on the hub, may be empty
	Cold, WarmUp, Warm int            // how many starts of each kind
	Say                func(string)   // takes news, a line each; it may be called by several goroutines
	Log                func(string)   // takes each line that a server prints; nil for none
}

// Start is one start of the server. Times are from the start of its process, 0 for unknown.
type Start struct {
	Kind       Kind
	Listening  time.Duration // the address takes connections
	Healthy    time.Duration // GET /health answers 200; this is the start-up time
	Models     time.Duration // GET /v1/models answers 200
	FirstToken time.Duration // a request for one token is answered
	Phases     []Phase       // in the order in which they ended
	Compiled   Compilation
	Dropped    CacheDrop // of the model's files, before a cold start
}

// Result are the recorded starts, in order.
type Result struct {
	Starts      []Start
	Model       string // its name, as the server has it, or as the command has
	Interrupted bool   // there are fewer than were asked for
}

// Of are the starts of a kind.
func (r *Result) Of(kind Kind) []Start {
	return slices.DeleteFunc(slices.Clone(r.Starts), func(s Start) bool { return s.Kind != kind })
}

// Run starts and stops the server as often as was asked for. An error leaves the starts before it in the result.
func Run(ctx context.Context, o Options) (r Result, err error) {
	m, err := New(o)
	if err != nil {
		return Result{}, err
	}
	for _, c := range o.Starts() {
		for range c.Times {
			if _, err = m.Start(ctx, c.Kind); err != nil {
				r, closed := m.Close()
				return r, errors.Join(err, closed)
			}
		}
	}
	return m.Close()
}

// Times is how many starts there are of a kind.
type Times struct {
	Kind  Kind
	Times int
}

// Starts are the starts that are asked for, in their order.
func (o *Options) Starts() []Times {
	return []Times{{Cold, o.Cold}, {WarmUp, o.WarmUp}, {Warm, o.Warm}}
}

// Measurement is a series of starts. It has a directory of caches until Close.
type Measurement struct {
	Options
	result   Result
	n, total int    // the current start
	caches   string // directory of all caches
	set      string // the caches of the start, below it; a warm start takes those of the start before it
}

// New makes the directory of a measurement.
func New(o Options) (*Measurement, error) {
	caches, err := os.MkdirTemp("", "benchtop-startup-")
	if err != nil {
		return nil, fmt.Errorf("no directory for caches: %w; set TMPDIR to one that can be written", err)
	}
	return &Measurement{Options: o, result: Result{Model: o.Model}, total: o.Cold + o.WarmUp + o.Warm, caches: caches},
		nil
}

// Start measures one start, after those before it in the order of Options.Starts.
func (m *Measurement) Start(ctx context.Context, kind Kind) (Start, error) {
	start, err := m.once(ctx, kind)
	if err != nil {
		m.result.Interrupted = true
		err = fmt.Errorf("start %d of %d (%s): %w", m.n, m.total, kind, err)
	}
	return start, err
}

// Close removes the caches and returns the starts that were measured.
func (m *Measurement) Close() (Result, error) {
	m.result.Interrupted = m.result.Interrupted || m.n < m.total
	return m.result, os.RemoveAll(m.caches)
}

// once measures a start.
func (m *Measurement) once(ctx context.Context, kind Kind) (Start, error) {
	m.n++
	start := Start{Kind: kind}
	if kind == Cold || m.set == "" {
		if m.set != "" {
			_ = os.RemoveAll(m.set) // those of the last start serve the warm ones
		}
		m.set = filepath.Join(m.caches, fmt.Sprint(m.n))
	}
	if kind == Cold {
		start.Dropped = dropModel(m.Model)
		m.say("%s; %s", kind, start.Dropped)
	} else {
		m.say("%s", kind)
	}
	if err := m.measure(ctx, &start); err != nil {
		return start, err
	}
	m.say("%s: ready after %s, first token after %s", kind, inSeconds(start.Healthy), inSeconds(start.FirstToken))
	if kind != WarmUp {
		m.result.Starts = append(m.result.Starts, start)
	}
	return start, nil
}

func (m *Measurement) say(format string, a ...any) {
	m.Say(fmt.Sprintf("[%d/%d] %s", m.n, m.total, fmt.Sprintf(format, a...)))
}

// measure starts the server, asks it for a token, and stops it.
func (m *Measurement) measure(ctx context.Context, start *Start) (err error) {
	o := m.Server
	o.Env = slices.Clone(o.Env)
	for _, c := range []struct{ variable, dir string }{
		{"VLLM_CACHE_ROOT", "vllm"}, {"TORCHINDUCTOR_CACHE_DIR", "torchinductor"}, {"TRITON_CACHE_DIR", "triton"},
	} {
		dir := filepath.Join(m.set, c.dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		o.Env = append(o.Env, c.variable+"="+dir)
	}
	read := newReader(func(p Phase) { m.say("%s: %s after %s", start.Kind, p.describe(), inSeconds(p.At)) })
	o.Log = func(line string) {
		read.take(line)
		if m.Log != nil {
			m.Log(line)
		}
	}
	server, err := launch.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, server.Stop())
		start.Phases, start.Compiled = read.phases() // the log is whole now
	}()
	read.from(server.Began())
	if err := server.Ready(ctx); err != nil {
		return err
	}
	at := server.Times()
	start.Listening, start.Healthy = at.Listening, at.Healthy
	return m.ask(ctx, server, start)
}

// inSeconds is a time for a person.
func inSeconds(d time.Duration) string {
	if d == 0 {
		return "an unknown time"
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
