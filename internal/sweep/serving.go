package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/internal/pyjson"
	"benchtop/metrics/grid"
)

const (
	// logShown is how many of the last lines of a server's log a snapshot has.
	logShown = 200
	// mostLogged are the bytes of a log that are kept in its file.
	mostLogged = 256 << 20
)

// itemServer is the server of an item, from its first run to the last.
type itemServer struct {
	item   Item
	server Server // nil in a dry run, and after a failure to start
	log    *os.File
	failed bool
}

// startServer starts the server of an item at its first run.
func (s *Sweep) startServer(ctx context.Context, item Item) error {
	if s.o.Servers == nil || s.server != nil {
		return nil
	}
	command := s.o.Servers.Command(item)
	s.server = &itemServer{item: item}
	s.say("[BEGIN SERVER]\nServer overrides: %s\nServer command: %s", item.Repr(), pyjson.ReprWords(command))
	if s.o.DryRun {
		return nil
	}
	s.ServerIs(grid.ServerStarting, command)
	if err := os.MkdirAll(s.o.Dir, 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.o.Dir, serverLog(item)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	s.server.log = log
	server, err := s.o.Servers.Start(ctx, item, s.logged(log))
	if err == nil {
		s.server.server = server
		err = server.Ready(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.ServerIs(grid.ServerFailed, command)
		return serverError{err}
	}
	s.ServerIs(grid.ServerReady, command)
	return nil
}

// logged takes the lines of a server.
func (s *Sweep) logged(file *os.File) func(string) {
	kept := 0
	return func(line string) {
		defer s.Logged(line)
		switch written := kept + len(line) + 1; {
		case written <= mostLogged:
			fmt.Fprintln(file, line)
			kept = written
		case kept < mostLogged:
			fmt.Fprintln(file, "[the rest of the log is left out: it is too long]")
			kept = mostLogged
		}
	}
}

// Logged shows a line of the server, where the measurement starts it itself.
func (s *Sweep) Logged(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.Log) == 2*logShown {
		s.state.Log = slices.Clone(s.state.Log[logShown:])
	}
	s.state.Log = append(s.state.Log, line)
}

// watchServer cuts a run when its server dies. The result ends the watch.
func (s *Sweep) watchServer(ctx context.Context, cut context.CancelCauseFunc) func() {
	if s.server == nil {
		return func() {}
	}
	server := s.server.server
	watched := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-server.Died():
			cut(serverError{fmt.Errorf("the server ended during a run: %w", server.Err())})
		case <-ctx.Done():
		case <-done:
		}
	}()
	return func() { close(done); <-watched }
}

// endServer stops the server, if one runs.
func (s *Sweep) endServer() error {
	v := s.server
	s.server = nil
	if v == nil {
		return nil
	}
	var err error
	if v.server != nil {
		s.ServerIs(grid.ServerStopping, nil)
		err = v.server.Stop()
	}
	if v.log != nil {
		_ = v.log.Close()
	}
	if !v.failed {
		s.say("[END SERVER]")
	}
	s.ServerIs(grid.ServerNone, nil)
	return err
}

// ServerIs notes the state of the server; a nil command is that of before.
func (s *Sweep) ServerIs(state grid.ServerState, command []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == grid.ServerReady {
		s.starts.add(time.Since(s.since))
	}
	s.state.State, s.since = state, time.Now()
	if command != nil {
		s.state.Command = strings.Join(command, " ")
	}
	if state == grid.ServerStarting {
		s.state.Log = nil
	}
}

// serverFile is the name of a file about the server of an item.
func serverFile(heading string, item Item, tail string) string {
	name := "default"
	if len(item) > 0 {
		name = item.Name()
	}
	return FileName(heading + name + tail)
}

func serverFailureFile(item Item) string { return serverFile("SERVE-", item, "-failure.json") }

func serverLog(item Item) string { return serverFile("SERVE--", item, "-server.log") }
