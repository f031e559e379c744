// Package cli is the command line: commands, flags, signals, and the only place where the other packages are wired
// together.
package cli

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path"
	"slices"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/launch"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// command is one subcommand.
type command struct {
	name, summary string
	run           func(env *session.Environment, args []string) int
	// sub are the commands under it; nil for none.
	sub func() []command
}

// under are the commands under this one.
func (c command) under() []command {
	if c.sub == nil {
		return nil
	}
	return c.sub()
}

// section is a part of the commands, with an example.
type section struct {
	title, example string
	commands       []command
}

func sections() []section {
	return []section{
		{"Load a server", "benchtop serve http://127.0.0.1:8000 --max-concurrency 16 --duration 2m", []command{
			{"demo", "stress-test a simulated server; no GPU, network or flags needed", runDemo, nil},
			{"serve", "load-test a server; takes the flags of 'vllm bench serve'", runServe, nil},
			{"throughput", "measure how long a server takes for a whole set of requests", runThroughput, nil},
			{"latency", "measure how long a server takes for one batch, again and again", runLatency, nil},
			{"startup", "measure how long a server takes until it serves, with cold and warm caches", runStartup, nil},
			{"ab", "send the same requests to two servers, and prove which is better", runAB, nil},
			{"sweep", "run many benchmarks: servers and loads, compared and drawn", runSweep, sweepCommands},
			{"worker", "load a server as one of several machines, for a run that another one leads", runWorker, nil},
			{"attach", "join a run that is on in another terminal", runAttach, nil},
		}},
		{"Read results", "benchtop compare before.json after.json", []command{
			{"report", "print the report of a saved run, or replay the run", runReport, nil},
			{"compare", "compare results: what is better or worse, ratios by load, the highest load within limits",
				runCompare, nil},
			{"history", "list the runs of a folder, or show a figure by run and where it changed", runHistory, nil},
			{"export-suite", "write results as the scripts of vLLM's performance dashboard read them", runExportSuite,
				nil},
		}},
		{"Prepare workloads", "benchtop dataset analyze trace.jsonl", []command{
			{"dataset", "show the prompts 'serve' would send, without sending them", runDataset, datasetCommands},
			{"import", "make sessions of agents from recordings in other formats", runImport, nil},
			{"init", "ask a server and write a file of flags for it, with comments", runInit, nil},
		}},
		{"Try without a GPU", "benchtop simulate --port 8123", []command{
			{"simulate", "run the simulated server alone, to test clients against", runSimulate, nil},
			{"calibrate", "measure how much load this machine can time, and how exactly", runCalibrate, nil},
			{"metronome", "run a server that does no work, to measure clients against", runMetronome, nil},
		}},
		{"About benchtop", "benchtop docs ci", []command{
			{"docs", "print a page of the documentation, or list the pages", runDocs, nil},
			{"completion", "print the completion script of a shell: bash, zsh or fish", runCompletion, nil},
			{"man", "print the manual page", runMan, nil},
			{"version", "print the version; --json with commit, date and platform", runVersion, nil},
		}},
	}
}

// commands are those of all sections.
func commands() (all []command) {
	for _, s := range sections() {
		all = append(all, s.commands...)
	}
	return all
}

// Main runs a command line, without the program's name, and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// net/http logs what a server sends unasked, with the bytes; on a terminal that would be written across the
	// dashboard.
	log.SetOutput(io.Discard)
	env := &session.Environment{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	if len(args) > 0 && args[0] == "bench" {
		args = args[1:]
	}
	if len(args) == 0 && env.Draws(new(spec.Screen)) {
		return runForm(env)
	}
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return session.ExitUsage
	}
	switch args[0] {
	case "help":
		return Main(helpOf(args[1:]), stdin, stdout, stderr)
	case "-h", "--help":
		fmt.Fprint(stdout, overview())
		return session.ExitFine
	case "-V", "--version":
		return runVersion(env, args[1:])
	case completeCommand:
		return complete(env, args[1:])
	case launch.GuardCommand:
		return launch.Guard(args[1:], stdin, stdout, os.Stderr)
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] })
	if why := insteadOf(args[0]); i < 0 && why != "" {
		return env.Fail(session.ExitUsage, errors.New(why))
	}
	if i < 0 {
		names := metrics.Each(all, func(c command) string { return c.name })
		return env.Fail(session.ExitUsage, fmt.Errorf("unknown command %q%s; commands are %s", args[0],
			usage.DidYouMean(args[0], names), strings.Join(names, ", ")))
	}
	return all[i].run(env, args[1:])
}

// helpOf are the words that ask a command for its help, or for that of a flag or heading behind its name.
func helpOf(words []string) []string {
	if len(words) > 0 && words[0] == "bench" {
		words = words[1:]
	}
	n := 0
	for at := commands(); n < len(words); n++ {
		i := slices.IndexFunc(at, func(c command) bool { return argv.Dashes(c.name) == argv.Dashes(words[n]) })
		if i < 0 {
			break
		}
		at = at[i].under()
	}
	if n = max(n, 1); n < len(words) {
		return append(words[:n:n], "--help="+strings.Join(words[n:], " "))
	}
	return append(words, "--help")
}

func overview() string {
	var b strings.Builder
	b.WriteString("benchtop load-tests an LLM server and shows, live, the latency its users would see.\n\n" +
		"usage: benchtop COMMAND [flags]\n")
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n%s, as: %s\n", s.title, s.example)
		for _, c := range s.commands {
			fmt.Fprintf(&b, "  %-12s  %s\n", c.name, c.summary)
		}
	}
	b.WriteString(
		"\nStart with 'benchtop demo'. 'benchtop COMMAND --help' has the flags of a command. Without a command, " +
			"a form opens.\n'benchtop bench serve' is 'benchtop serve'.\n")
	return b.String()
}

// inEngine are commands of vLLM's that measure inside the process of its engine, and what there is instead.
var inEngine = map[string]string{
	"forward": "forward: it times single forward passes on a GPU inside the engine's process, which a client of a " +
		"server cannot see; " +
		"'benchtop latency' times a whole batch, and 'benchtop serve --profile' runs the server's profiler",
	"mm-processor": "mm-processor: the stages of preprocessing are known only inside the engine's process; 'benchtop " +
		"throughput --preset mm' times requests with images, and 'benchtop serve --dataset-name random-mm' their TTFT",
	"vllm.entrypoints.api_server": "vllm.entrypoints.api_server: there is no protocol for its /generate, as in " +
		"vLLM's client; 'vllm serve' has those of OpenAI, and 'benchtop serve' loads it",
}

// scripts are those of vLLM's benchmarks that a command takes the place of, without benchmark_ before the name.
var scripts = map[string]string{
	"serving": "serve", "throughput": "throughput", "latency": "latency", "serving_multi_turn": "serve --multi-turn",
	"serving_structured_output": "serve --preset structured-output", "prefix_caching": "serve --preset prefix-caching",
	"long_document_qa_throughput": "serve --preset long-document-qa", "prioritization": "serve --preset priority",
}

// insteadOf says what there is instead of a command, module or script of vLLM's, "" for other words.
func insteadOf(word string) string {
	name := path.Base(strings.TrimSuffix(word, ".py"))
	script, isScript := strings.CutPrefix(name, "benchmark_")
	if now := scripts[script]; isScript && now != "" {
		return fmt.Sprintf("%s: a script of vLLM's; use 'benchtop %s'", word, now)
	}
	if isScript || slices.Contains([]string{"kernels", "fused_kernels", "attention_benchmarks", "cutlass_benchmarks",
		"overheads"}, name) {
		return word + ": it runs the engine's own code, such as kernels, hashes of blocks or schedulers, in a " +
			"process without a server, and there is nothing of it to load; " +
			"docs/compatibility.md has the list"
	}
	if command := meant[strings.ToLower(name)]; command != "" {
		return fmt.Sprintf("%s: unknown command; use 'benchtop %s'", word, command)
	}
	return inEngine[name]
}

// meant are the commands for words that other tools have for them.
var meant = map[string]string{
	"run": "serve", "load": "serve", "test": "serve", "start": "serve", "benchmark": "serve", "profile": "serve",
	"ramp": "serve --find", "search": "serve --find", "mock": "simulate", "replay": "report", "show": "report",
	"view": "report", "list": "attach --list", "diff": "compare", "config": "init", "manual": "man",
}

// noURL says where the URL of a server goes that a command does not take, "" where the arguments do not begin with one.
func noURL(name string, rest []string) string {
	url, shown := server.PositionalURL(rest)
	if url == "" {
		return ""
	}
	place := "'benchtop serve %s' loads the server there"
	switch {
	case name == "startup" || name == "sweep startup":
		place = "it starts the server itself, as --model or --serve-cmd says; 'benchtop serve %s' loads one that runs"
	case strings.HasPrefix(name, "sweep"):
		place = "it stands in the command of the benchmark, as --bench-cmd 'benchtop serve %s'"
	case name == "dataset":
		place = "--base-url %s has the server there count tokens"
	}
	return fmt.Sprintf("%s takes no URL; "+place, name, shown)
}

// noArguments is the error for a command that takes only flags, and perhaps commands under it.
func noArguments(name string, rest []string, under ...command) error {
	if len(rest) == 0 {
		return nil
	}
	if why := noURL(name, rest); why != "" {
		return errors.New(why)
	}
	hint := usage.DidYouMean(rest[0], metrics.Each(under, func(c command) string { return c.name }))
	return fmt.Errorf("%s takes no arguments, got %q%s; see 'benchtop %s --help'", name, rest, hint, name)
}
