package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/fleet"
	"benchtop/internal/fleet/link"
	"benchtop/internal/run"
	"benchtop/internal/spec"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// fetchFor is how long a worker waits for the machine that leads to fetch its journal, since it was last heard of.
const fetchFor = 2 * time.Minute

// Work sends a part of a run that another machine leads, and keeps its journal. It is cut with ctx. Led ends where the
// machine that leads does, if that is known: then no run begins, but one that is on goes on to its end.
func (e *Environment) Work(ctx, led context.Context, join link.Join) error {
	signal.Ignore(syscall.SIGPIPE) // nobody may read what this says any more
	conn, err := link.Dial(ctx, join, link.Options{Name: "benchtop worker"})
	if err != nil {
		return err
	}
	defer conn.Close()
	e.Say("waiting for the machine that leads the run")
	m, err := fleet.Join(led, conn, Version(), join.Worker)
	if err != nil {
		return err
	}
	defer m.Close()
	e.Say(fmt.Sprintf("part %d/%d of the run", m.Part.K, m.Part.N))
	o, done, err := workerSpec(m)
	if err == nil {
		defer done()
		err = e.workOn(ctx, led, m, o)
	}
	if err != nil {
		m.Fail(context.WithoutCancel(ctx), err)
	}
	return err
}

// workerSpec is what a worker is asked for. done removes what it leaves behind and nobody needs.
func workerSpec(m *fleet.Member) (o *spec.Spec, done func(), err error) {
	for name, value := range m.Environment {
		if err := os.Setenv(name, value); err != nil {
			return nil, nil, err
		}
	}
	o, done = spec.New(), func() {}
	o.Load.Led, o.Load.KeepGoing, o.Save.Unasked, o.Screen.Plain = true, true, true, true
	values := append(m.Values, argv.Value{Name: "part", Texts: []string{fmt.Sprintf("%d/%d", m.Part.K, m.Part.N)}})
	if err := o.Take(values); err != nil {
		return nil, nil, err
	}
	o.Load.KeepGoing = true
	if m.Discard && m.Dir == "" {
		dir, err := os.MkdirTemp("", "benchtop-part-")
		if err != nil {
			return nil, nil, err
		}
		m.Dir, done = dir, func() { _ = os.Remove(dir) } // unless something is left in it
	}
	if m.Discard {
		o.Save.Dir, o.Save.Output = m.Dir, ""
	}
	return o, done, nil
}

func (e *Environment) workOn(ctx, led context.Context, m *fleet.Member, o *spec.Spec) error {
	b := &Runner{Lines: e.Stderr, Failures: true}
	if led != ctx { // nobody reads them
		b.Lines = io.Discard
	}
	var began metrics.Worker
	b.Begin = func(_ context.Context, p *Run) (err error) {
		p.Led = true
		p.Start, p.Plan.Started, began, err = m.Prepared(led, &p.Plan)
		p.Worker = began
		return err
	}
	b.Sinks = func(*metrics.Plan) []event.Sink { return []event.Sink{m.Sink()} }
	b.Opened = func(p *Run, r *run.Run) (func(), error) {
		if err := m.Begin(r, p.Files.JournalName); err != nil {
			return nil, err
		}
		watching, stop := context.WithCancel(context.Background())
		go m.Watch(watching, p.Plan.Find != nil || p.Plan.Confirm > 0)
		return func() {
			stop()
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchFor)
			defer cancel()
			if err := m.End(ending); err != nil {
				e.Say(err.Error() + "; the journal stays here: " + p.Files.JournalName)
			}
		}, nil
	}
	out, err := b.Perform(ctx, o)
	if !m.Copied() {
		return err
	}
	if m.Discard && out.Path != "" {
		for _, path := range []string{out.Path, files.Stem(out.Path) + files.JournalSuffix} {
			_, _ = os.Remove(path), os.Remove(path+".gz") // what there is of them
		}
	}
	return nil // how the run went is told where it is led
}

// JoinString reads a join string: of a file after an @, of a variable after a $, of standard input for - and nothing,
// else the words themselves.
func (e *Environment) JoinString(words string) (j link.Join, err error) {
	switch name, isFile := strings.CutPrefix(words, "@"); {
	case isFile:
		b, err := os.ReadFile(name)
		if err != nil {
			return j, usage.Wrap(fmt.Errorf("--join: %w", err))
		}
		words = string(b)
	case strings.HasPrefix(words, "$"):
		name := words[1:]
		if words = os.Getenv(name); words == "" {
			return j, usage.Wrap(fmt.Errorf("--join: the variable %s is not set", usage.Quote(name)))
		}
	case words == "" || words == "-":
		if words, err = line(e.Stdin); err != nil {
			return j, fmt.Errorf("the join string on standard input: %w", err)
		}
	}
	if j, err = link.ParseJoin(words); err != nil {
		return j, usage.Wrap(err)
	}
	return j, nil
}

// line reads a line and no byte more: what follows is not for this process.
func line(r io.Reader) (string, error) {
	var b []byte
	for one := make([]byte, 1); len(b) < 1<<16; {
		n, err := r.Read(one)
		if n > 0 && one[0] == '\n' {
			break
		}
		if b = append(b, one[:n]...); err == io.EOF && len(b) > 0 {
			break
		} else if err != nil {
			return "", err
		}
	}
	return string(b), nil
}
