package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"benchtop/internal/cli/argv"
	"benchtop/internal/metronome"
)

const metronomeText = `
Runs a server that does no work, to measure clients against: it answers a completions request with
max_tokens chunks at the pace that stands in the path, and keeps a log of when it wrote each of them.
It stops at Ctrl-C.

  POST /ttft=50ms/itl=10ms/v1/completions   the first chunk after 50 ms, then one every 10 ms
  POST /v1/completions                      all chunks as fast as the client takes them
  GET  /log                                 what was written since the last time

'benchtop calibrate' measures this client against it.`

func runMetronome(env *environment, args []string) int {
	flags := argv.Flags{Synopsis: "metronome [flags]", Text: metronomeText}
	fs := flags.Group("Server")
	host := fs.String("host", "127.0.0.1", "address to listen on")
	port := fs.Int("port", 8010, "port to listen on; 0 takes a free one")
	withParent := fs.Bool("exit-with-stdin", false, "stop when standard input ends")
	rest, err := env.parse(&flags, args)
	if *port < 0 || *port > 65535 {
		err = errors.Join(err, fmt.Errorf("--port %d: ports are from 1 to 65535; 0 takes a free one", *port))
	}
	if err := errors.Join(err, noArguments("metronome", rest)); err != nil {
		return env.fail(exitUsage, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *withParent {
		ctx = untilEnd(ctx, env.stdin)
	}
	address := net.JoinHostPort(*host, strconv.Itoa(*port))
	if err := serveMetronome(ctx, address, func(url string) { fmt.Fprintf(env.stdout, "%s%s\n", listening, url) }); err != nil {
		return env.fail(exitFailed, err)
	}
	return exitFine
}

// serveMetronome serves until ctx ends. It calls ready with the address once it listens.
func serveMetronome(ctx context.Context, address string, ready func(url string)) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another with --port", address, err)
	}
	s := metronome.New()
	ready("http://" + l.Addr().String())
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serving on %s: %w", address, err), s.Close())
	case <-ctx.Done():
	}
	err = s.Close()
	<-served // what it says of the end is that it was closed
	return err
}
