package cli

import (
	"errors"
	"fmt"

	"benchtop/internal/cli/argv"
	"benchtop/internal/metronome"
)

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
