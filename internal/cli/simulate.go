package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"benchtop/internal/argv"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/internal/usage"
)

const simulateText = `
Runs the simulated server alone: the endpoints of vLLM with the queue, batch and memory of a
continuous-batching engine, without a model. Ctrl-C stops it. --profile selects the server; its capacity in
requests per second is given for 256 input and 64 output tokens.

It generates at /v1/completions, /v1/chat/completions, /v1/responses, /v1/messages, /api/chat and
/v1/audio/transcriptions and /translations. It only reads prompts at /v1/embeddings, /embeddings (of
Infinity), /pooling, /score and /rerank. POST /pause?mode=wait holds new requests back until /resume.

%s
Faults are injected on demand: --fault KIND[=VALUE][,after=TOKENS][,every=N][,from=N][,to=N][,share=P].
Generation requests are numbered from 1 as they arrive; a fault hits all of them, one in every N, those in
a range, or a random share. If several faults match, the first one applies. A request can ask for a fault
with the header %s: KIND[=VALUE][,after=TOKENS].

  benchtop simulate --fault status=429,every=3 --fault stall=2s,after=5,from=100

after is the number of tokens sent before the fault: 1 by default, and never all of them. KIND is one of

%s
`

// simulateHelp is the help with the profiles and the kinds of faults.
func simulateHelp() string {
	var profiles strings.Builder
	for _, p := range simulator.Profiles() {
		fmt.Fprintf(&profiles, "  %-14s %s: %v/s\n", p.Name, p.About, p.Capacity)
	}
	var kinds strings.Builder
	for _, k := range simulator.FaultKinds() {
		fmt.Fprintf(&kinds, "  %-28s %s\n", k.Usage, k.Does)
	}
	return fmt.Sprintf(simulateText, profiles.String(), simulator.FaultHeader, strings.TrimRight(kinds.String(), "\n"))
}

func runSimulate(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "simulate [flags]", Text: simulateHelp()}
	fs := flags.Group("Server")
	var at listenOptions
	at.define(fs, 8000)
	profile := fs.String("profile", simulator.Defaults().Name,
		"server to simulate: "+strings.Join(simulator.Names(), ", "))
	argv.Words(fs, "profile", simulator.Names()...)
	seed := fs.Int64("seed", 0, "random seed of the answers")
	model := fs.String("served-model-name", "", "name of the model (default: the profile's)")
	var adapters []simulator.Adapter
	fs.Var(argv.List(&adapters, "name[=path]", simulator.ParseAdapter), "lora-modules",
		"LoRA adapters served beside the model, by NAME or NAME=PATH")
	_ = fs.SetAnnotation("lora-modules", argv.Variadic, nil)
	at.defineEnd(fs)
	logTo := fs.String("log", "", "log each generation request to this file, as JSON lines; - for standard output")
	bodies := fs.String("log-bodies", string(simulator.FullBodies),
		"bodies in the log: full, none, or prefix: the prompt as numbers of blocks, which tell what prompts have in "+
			"common")
	argv.OneOf(fs, "log-bodies", string(simulator.FullBodies), string(simulator.NoBodies),
		string(simulator.PrefixBodies))
	fs = flags.Group("Behaviour")
	specTokens := fs.Int("spec-tokens", 0,
		"draft tokens per step of speculative decoding; 0 for none (default: the profile's)")
	specAcceptance := fs.Float64("spec-acceptance", simulator.Defaults().SpecAcceptance,
		"probability that a draft token is accepted, if those before it were")
	noPrefixCache := fs.Bool("no-prefix-cache", false, "disable the prefix cache: compute every prompt in full")
	policy := fs.String("scheduling-policy", "fcfs",
		"order of waiting requests: fcfs, or priority, which begins with the lowest")
	argv.OneOf(fs, "scheduling-policy", "fcfs", "priority")
	requestMetrics := fs.Bool("request-metrics", false,
		"return queue and compute times with each answer, as vLLM does with --enable-per-request-metrics")
	var sizes engineSizes
	sizes.define(fs)
	var faults []simulator.Fault
	fs.Var(argv.List(&faults, "fault", simulator.ParseFault), "fault",
		"fault to inject, and into which requests; repeatable")
	_ = fs.SetAnnotation("fault", argv.Repeatable, nil)
	given := flags.All()
	rest, err := env.Parse(&flags, args)
	p, profileErr := simulator.Named(*profile)
	var problems usage.Problems
	problems.BadIf(given.Changed("log-bodies") && *logTo == "", "--log-bodies %s: has no effect without --log", *bodies)
	if profileErr != nil {
		profileErr = fmt.Errorf("--profile %s: %w", *profile, profileErr)
	} else {
		if given.Changed("spec-tokens") {
			p.SpecTokens = *specTokens
		}
		if given.Changed("spec-acceptance") {
			p.SpecAcceptance = *specAcceptance
		}
		sizesErr := sizes.apply(&p, given)
		p.Prioritized = *policy == "priority"
		p.PrefixCache, p.RequestMetrics, p.Faults = !*noPrefixCache, *requestMetrics, faults
		p.Seed, p.Model, p.Adapters = uint64(*seed), cmp.Or(*model, p.Model), adapters
		if profileErr = sizesErr; profileErr == nil {
			profileErr = p.Validate()
		}
	}
	if err := errors.Join(err, errors.Join(problems...), profileErr, noArguments("simulate", rest)); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	s := simulator.New(p)
	s.LogBodies(simulator.LoggedBodies(*bodies))
	return serveSimulator(env, s, &at, *logTo, fmt.Sprintf("model %s  profile %s", p.Model, p.Name))
}

// simulate serves until the server is stopped. Requests are logged to a file, or to standard output for "-".
func serveSimulator(env *session.Environment, s *simulator.Server, at *listenOptions, logTo, about string) int {
	news := env.Stdout
	var log *os.File
	var err error
	switch logTo {
	case "":
	case "-":
		s.LogTo(env.Stdout)
		news = env.Stderr // so that standard output is the log alone
	default:
		if log, err = os.Create(logTo); err != nil {
			return env.Fail(session.ExitFailed, fmt.Errorf("--log: %w; choose another file", err))
		}
		s.LogTo(log)
	}
	server := s.HTTPServer()
	err = at.serve(env, func(l net.Listener) error { return server.Serve(s.Listener(l)) }, func() error {
		shutdown, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(shutdown) != nil {
			_ = server.Close()
		}
		return s.Close()
	}, func(url string) {
		fmt.Fprintf(news, "%s%s  %s\n", listening, url, about)
	})
	if log != nil {
		err = errors.Join(err, log.Close())
	}
	return env.Failed(err)
}
