package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"benchtop/internal/fleet"
	"benchtop/internal/fleet/link"
	"benchtop/internal/spec"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// machines are those of a run, with what connects this one to them.
type machines struct {
	*fleet.Fleet
	leads   atomic.Pointer[fleet.Fleet] // the same, for the goroutines of conn
	server  *link.Server                // nil for one of the user's
	conn    *link.Conn
	started *link.Processes // nil where they join by themselves
}

// muster waits until the machines of a run are ready.
func (o *preparation) muster(ctx context.Context, p *Run) (err error) {
	o.env.Step(stepWorkers)
	m := &machines{}
	defer func() {
		if err != nil {
			m.disband()
		}
	}()
	join, err := m.connect(ctx, &o.Fleet)
	if err != nil {
		return err
	}
	values, environment, err := o.ForWorkers()
	if err != nil {
		return err
	}
	here, saves := len(o.Fleet.Hosts) == 0 && o.Fleet.NATS == "", o.Save.Asked() || o.Save.Unasked && !o.Save.Never
	dir := ""
	if here && saves {
		dir = filepath.Dir(o.Save.Place(p.Plan))
	}
	setup := func(part metrics.Part) fleet.Setup {
		return fleet.Setup{Part: part, Values: values, Environment: environment, Discard: here || !saves, Dir: dir}
	}
	if m.Fleet, err = fleet.New(ctx, m.conn, Version(), o.Fleet.Size, setup); err != nil {
		return err
	}
	m.leads.Store(m.Fleet)
	m.Inform(func(level metrics.Level, words string) {
		if level == metrics.Error || o.env.display() == nil {
			o.env.Warn([]string{words})
		} else {
			o.env.Show(words) // before the run; its log has them later
		}
	})
	if err := m.begin(ctx, o.env, &o.Fleet, join); err != nil {
		return err
	}
	lost := make(chan error, 1)
	go m.watch(lost)
	if err := m.Gather(ctx, &p.Plan, lost, o.env.Show); err != nil {
		return err
	}
	p.Fleet, p.machines = m.Fleet, m
	return nil
}

// connect connects this machine with a NATS server.
func (m *machines) connect(ctx context.Context, o *spec.Fleet) (join link.Join, err error) {
	run := strings.ToLower(rand.Text()[:12])
	known, err := joinIn(o.JoinFile)
	if err != nil {
		return join, err
	}
	address, listens := strings.CutPrefix(o.NATS, spec.Listens)
	if o.NATS == "" || listens {
		join, err = m.listen(run, address)
	} else {
		join, err = external(o, run, known)
	}
	if err != nil {
		return join, err
	}
	lost := func(err error) {
		if f := m.leads.Load(); f != nil && err != nil {
			f.Warn("the connection to the other machines is lost; they go on: " + err.Error())
		}
	}
	m.conn, err = link.Dial(ctx, join, link.Options{Name: "benchtop, leads " + run, Server: m.server, State: lost})
	if err == nil && o.JoinFile != "" && (known == nil || listens) {
		if err = os.WriteFile(o.JoinFile, []byte(join.String()+"\n"), 0o600); err != nil {
			err = usage.Wrap(fmt.Errorf("--join-file: %w", err))
		}
	}
	return join, err
}

// listen starts a NATS server at an address, "" for one that this machine alone reaches.
func (m *machines) listen(run, address string) (join link.Join, err error) {
	host, port := "127.0.0.1", 0
	if address != "" {
		name, text, err := net.SplitHostPort(address)
		if port, _ = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return join, usage.Wrap(fmt.Errorf("--nats %s%s: expected %[1]sHOST:PORT", spec.Listens, address))
		}
		host = name
	}
	if m.server, err = link.Listen(host, port); err != nil {
		return join, err
	}
	return m.server.Join(run)
}

// external is the way to a run through NATS servers of the user's, or the known one, which has to be through the same.
func external(o *spec.Fleet, run string, known *link.Join) (join link.Join, err error) {
	var creds []byte
	if o.Creds != "" {
		if creds, err = os.ReadFile(o.Creds); err != nil {
			return join, usage.Wrap(fmt.Errorf("--nats-creds: %w", err))
		}
	}
	if join, err = link.External(run, o.NATS, string(creds), o.Pin); err != nil {
		return join, usage.Wrap(fmt.Errorf("--nats: %w", err))
	}
	if known != nil {
		join.Run, join.Key = known.Run, known.Key
		if join.String() != known.String() {
			return join, usage.Wrap(fmt.Errorf("--join-file %s: it is of another --nats, --nats-creds or --nats-pin; "+
				"remove it, or take another", usage.Quote(o.JoinFile)))
		}
	}
	return join, nil
}

// joinIn is the join string in a file, nil where there is none.
func joinIn(file string) (*link.Join, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, usage.Wrap(fmt.Errorf("--join-file: %w", err))
	}
	j, err := link.ParseJoin(string(b))
	if err != nil {
		return nil, usage.Wrap(fmt.Errorf("--join-file %s: %w", usage.Quote(file), err))
	}
	return &j, nil
}

// begin starts the workers, or says how they join.
func (m *machines) begin(ctx context.Context, env *Environment, o *spec.Fleet, join link.Join) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	switch {
	case len(o.Hosts) > 0:
		env.Show("starting " + strings.Join(o.Hosts, ", "))
		release := Version()
		if BuildOf().Modified || strings.Contains(release, "devel") || strings.Contains(release, " ") {
			release = "" // one version is not one program
		}
		ssh := link.SSH{Version: release, Program: program, Worker: []string{"worker"}, Tunnel: m.server != nil}
		m.started, err = ssh.Start(ctx, o.Hosts, join)
	case o.NATS == "":
		m.started, err = link.Local(o.Size, join, program, "worker")
	case o.JoinFile != "":
		env.Tell(fmt.Sprintf("start %d workers: benchtop worker --join @%s", o.Size, o.JoinFile))
	default:
		env.Say(fmt.Sprintf("start %d workers: benchtop worker --join '%s'", o.Size, join))
	}
	return err
}

// watch tells of workers that this machine started, and that have ended with an error.
func (m *machines) watch(lost chan<- error) {
	if m.started == nil {
		return
	}
	for range m.Fleet.Size() {
		exit := <-m.started.Exits()
		if exit.Err == nil {
			continue
		}
		m.Exited(exit)
		select {
		case lost <- exit.Err:
		default:
		}
	}
}

// disband ends what there is of the machines. They have nothing to do any more. It may be called on nil.
func (m *machines) disband() {
	if m == nil {
		return
	}
	if m.Fleet != nil {
		m.Fleet.Close()
	}
	if m.started != nil {
		m.started.Stop()
	}
	if m.conn != nil {
		m.conn.Close()
	}
	if m.server != nil {
		m.server.Close()
	}
}

// startTogether has the machines of a run begin, and sets its start.
func (p *Run) startTogether() (err error) {
	if p.machines == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if p.Start, err = p.machines.Start(ctx); err == nil {
		p.Plan.Started = p.Start
	}
	return err
}
