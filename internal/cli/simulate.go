package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"benchtop/internal/simulator"
)

const simulateText = `
Runs the simulated server alone: an OpenAI-compatible API with the queue, batch and memory of a
continuous-batching engine, and without a model. It stops at Ctrl-C.`

// listening begins the line that tells where the simulated server is; demo reads it.
const listening = "listening on "

func runSimulate(env *environment, args []string) int {
	var groups flagGroups
	fs := groups.group("Server")
	host := fs.String("host", "127.0.0.1", "address to listen on")
	port := fs.Int("port", 8000, "port to listen on; 0 takes a free one")
	profile := fs.String("profile", simulator.Defaults().Name, "which server to simulate")
	seed := fs.Int64("seed", 0, "seed of lengths and texts of the answers")
	model := fs.String("served-model-name", "", "name to serve the model under; default: the profile's")
	withParent := fs.Bool("exit-with-stdin", false, "stop when standard input ends")
	rest, err := parseFlags(groups.set(), args)
	if errors.Is(err, errHelp) {
		groups.help(env.stdout, "simulate [flags]", simulateText)
		return exitFine
	}
	p, profileErr := simulator.Named(*profile)
	if profileErr != nil {
		profileErr = fmt.Errorf("--profile %s: %w", *profile, profileErr)
	}
	if err := errors.Join(err, profileErr, noArguments("simulate", rest)); err != nil {
		return env.fail(exitUsage, err)
	}
	p.Seed = uint64(*seed)
	if *model != "" {
		p.Model = *model
	}
	address := net.JoinHostPort(*host, strconv.Itoa(*port))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return env.fail(exitFailed, fmt.Errorf("cannot listen on %s: %w; choose another with --port", address, err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *withParent {
		ctx = untilEnd(ctx, env.stdin)
	}
	s := simulator.New(p)
	server := s.HTTPServer()
	fmt.Fprintf(env.stdout, "%shttp://%s  model %s  profile %s\n", listening, l.Addr(), p.Model, p.Name)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case <-ctx.Done():
	case err := <-failed:
		return env.fail(exitFailed, fmt.Errorf("serving on %s: %w", address, err))
	}
	shutdown, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(shutdown); err != nil {
		_ = server.Close()
	}
	_ = s.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return env.fail(exitFailed, err)
	}
	return exitFine
}

// untilEnd returns a context that also ends with the input. A parent that dies, however it dies, closes the pipe.
func untilEnd(ctx context.Context, stdin io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	return ctx
}

// noArguments is the error for a command that takes only flags.
func noArguments(name string, rest []string) error {
	if len(rest) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, got %q; see 'benchtop %s --help'", name, rest, name)
}
