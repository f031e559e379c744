package spec

import (
	"errors"
	"slices"
	"strings"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/prompts"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

const serveHelp = `
Load-tests a server and reports the latency its users would see. Takes the flags of 'vllm bench serve'.
On a terminal, a dashboard shows the run; q ends the run and prints the report.

  benchtop serve http://127.0.0.1:8000 --num-prompts 200 --max-concurrency 16
  benchtop serve --backend openai-chat --dataset-name sharegpt --dataset-path s.json --request-rate 4
  benchtop serve --stages 8:30s,16:30s,32:1m --goodput ttft:500 tpot:50 --fail-on 'goodput<90%'

Exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 a --fail-on condition is met.`

const serveDetails = `
Exit codes, highest rank first: 130 aborted; 143 SIGTERM; 129 terminal lost; 1 run failed (more than half of
the requests failed, the server did not answer at the end, or the result was not written); 3 a --fail-on
condition is met; 0 success. The first Ctrl-C lets requests in flight finish and gives 0, 1 or 3; of several runs
it cuts the one in progress, begins no other and gives 130. Wrong usage gives 2. Measurements are saved however a
run ends.`

// most are the flags of serve that its first help shows.
var most = []string{"base-url", "model", "api-key", "backend", "dataset-name", "dataset-path", "input-len",
	"output-len", "num-prompts", "request-rate", "stages", "find", "max-concurrency", "duration", "goodput"}

// synonyms are words of users for flags that do not have them in their texts.
var synonyms = map[string][]string{
	"slo": {"goodput", "tier", "fail-on", "find"}, "sla": {"goodput", "tier", "fail-on", "find"},
	"threshold": {"fail-on", "goodput"}, "gate": {"fail-on"}, "ci": {"fail-on", "json", "no-tui"},
	"key": {"api-key", "header", "auth-command"}, "token": {"api-key", "header", "auth-command"},
	"auth": {"api-key", "header", "auth-command"}, "password": {"base-url", "header"},
	"bearer": {"api-key", "header", "auth-command"}, "login": {"api-key", "header", "auth-command"},
	"qps": {"request-rate"}, "rps": {"request-rate"}, "users": {"max-concurrency", "concurrency-stages", "find-users"},
	"clients": {"max-concurrency"}, "parallel": {"max-concurrency"}, "threads": {"max-concurrency"},
	"machines": {"workers", "part"}, "distributed": {"workers", "part"}, "time": {"duration"},
	"length": {"input-len", "output-len"},
	"isl":    {"input-len", "random-input-len"}, "osl": {"output-len", "random-output-len"},
	"max-tokens": {"output-len", "random-output-len"}, "prompt": {"dataset-name", "dataset-path"},
	"url": {"base-url", "endpoint"}, "address": {"base-url", "host", "port"},
	"ssl":         {"insecure", "ca-file", "cert-file"},
	"certificate": {"insecure", "ca-file", "cert-file", "key-file"}, "csv": {"export"}, "markdown": {"export"},
	"output": {"output-len", "json", "export", "result-dir", "result-filename"}, "save": {"result-dir", "no-save"},
	"timeout": {"ready-check-timeout-sec"}, "repeat": {"num-runs"}, "ramp": {"stages", "find"},
	"saturation": {"find", "ramp-over", "stages"}, "capacity": {"find"}, "headless": {"no-tui"},
	"image": {"dataset-name"}, "cost": {"gpu-price"}, "mouse": {"mouse"}, "colour": {"color", "theme"},
}

// FullLength reports whether answers must have the length that is asked for.
func (o *Spec) FullLength() bool {
	return o.Prompts.Needs().FullLength && o.Server.Protocol.Traits().FullLength
}

// Spec are the flags of serve.
type Spec struct {
	Server   server.Options
	Request  prompts.RequestOptions
	Prompts  prompts.Options
	Load     Load
	Client   Client
	Report   Report
	Save     files.Options
	Screen   Screen
	GPUs     GPUs
	Baseline Baseline
	Series   Series
	Fleet    Fleet
	Preset   Preset
	CacheHit CacheHit
	config   string // FILE or FILE#PROFILE, "" for none
	DryRun   bool   // nothing is sent
	// Fixed sets what a command fixes before the flags are checked; nil for nothing.
	Fixed func() usage.Problems
	// PerRequest is the number of prompts in a request, as a list; 0 and 1 for one each.
	PerRequest int
	// Command is the command line without secrets, Warnings are about likely mistakes in it.
	Command  []string
	Warnings []string
	Notes    []string // about flags without effect, for the log
	Flags    argv.Flags
}

// The flags that are about flags.
const (
	configFlag = "config"
	dryRunFlag = "dry-run"
)

// secretInFile reports whether a value of a file is a secret. Headers, keys and URLs are looked at with those of the
// command line, and a command may stand in a file.
func secretInFile(v argv.Value) bool {
	words := append(append([]string{"--" + argv.Dashes(v.Name)}, v.Texts...), v.Object)
	safe := strings.Join(secret.HideWords(words, nil), " ")
	others := []string{"header", "base-url", "metrics-url", "api-key", "auth-command"}
	return !slices.Contains(others, argv.Dashes(v.Name)) && strings.Contains(safe, secret.Mask)
}

// New defines the flags. Names, defaults and meanings are vLLM's where vLLM has the flag.
func New() *Spec {
	o := &Spec{Flags: argv.Flags{Synopsis: "serve [flags] [URL]", Text: serveHelp, Details: serveDetails, Most: most,
		Synonyms: synonyms}}
	f := o.Flags.Group("Workload")
	o.Preset.define(f)
	o.CacheHit.define(f)
	f.StringVar(&o.config, configFlag, "",
		"read flags from this YAML file, as FILE, or FILE#NAME for one of its profiles; "+
			"those of the command line count first")
	f.BoolVar(&o.DryRun, dryRunFlag, false,
		"print what is asked for, as a file for --config, and the first request that would be sent; no server is asked")
	o.Define()
	o.Fleet.define(o.Flags.Group("Several machines"))
	o.Fixed = func() usage.Problems {
		return append(o.Preset.apply(&o.Flags, &o.Series), o.CacheHit.apply(&o.Flags)...)
	}
	return o
}

// Define adds the flags.
func (o *Spec) Define() {
	o.Server.Define(o.Flags.Group("Server"))
	o.Prompts.Define(&o.Flags)
	o.Request.Define(o.Flags.Group("Requests"))
	o.Load.define(o.Flags.Group("Load"))
	o.Series.define(o.Flags.Group("Several runs"))
	o.Client.Define(o.Flags.Group("Client"))
	report := o.Flags.Group("Report")
	o.Report.define(report)
	o.Save.Define(report)
	telemetry := o.Flags.Group("Server and GPUs")
	o.Server.Pages.Define(telemetry)
	o.GPUs.Define(telemetry)
	screen := o.Flags.Group("Screen")
	o.Screen.Define(screen)
	o.Baseline.Define(screen)
	argv.DefineInert(o.Flags.Group("Accepted without effect"), o.Flags.All())
}

// Parse reads a command line, and the file that it may name, and checks everything that can be checked without the
// server.
func (o *Spec) Parse(args []string) error {
	rest, warnings, err := o.Flags.Parse(args)
	if errors.As(err, new(argv.Help)) {
		return err
	}
	o.Warnings = warnings
	problems := usage.Problems{err}
	problems = append(problems, o.Server.TakeURL(&o.Flags, rest)...)
	problems = append(problems, o.readConfig()...)
	problems = append(problems, argv.Placed(o.check(), o.Server.Places)...)
	o.Command = secret.HideWords(append([]string{o.Flags.Command()}, args...), o.Server.Secrets())
	return errors.Join(problems...)
}

// Take is Parse for values from elsewhere.
func (o *Spec) Take(values []argv.Value) error {
	problems := append(o.Flags.Apply(values), o.check()...)
	o.Command = append([]string{o.Flags.Command()}, metrics.Words(o.Settings())...)
	return errors.Join(problems...)
}

// readConfig reads the file of --config, whose flags count where the command line has none.
func (o *Spec) readConfig() (p usage.Problems) {
	if o.config == "" {
		p.BadIf(o.Flags.All().Changed(configFlag), "--%s: the name of a file is missing", configFlag)
		return p
	}
	path, profile, _ := strings.Cut(o.config, "#")
	if path == "" {
		p.Bad("--%s %s: the name of a file is missing in front of #", configFlag, usage.Quote(o.config))
		return p
	}
	values, p := argv.ReadFile(path, profile)
	o.Server.Places = map[string]string{}
	for _, v := range values {
		name := argv.Dashes(v.Name)
		if !o.Flags.All().Changed(name) {
			o.Server.Places[name] = v.Where.String()
		}
		if secretInFile(v) {
			o.Warnings = append(o.Warnings, v.Where.String()+": "+v.Name+" has a secret in plain text, which the "+
				"report does not show; keep it in a header, as --header Authorization=@FILE or 'Authorization=$NAME'")
		}
		if name == configFlag {
			err := errors.New("a file names no other file; leave " + v.Name + " out")
			p = append(p, argv.PlaceError{At: v.Where, Err: err})
		}
	}
	return argv.ByLine(append(p, o.Flags.Default(values)...))
}

// Values are what was asked for, by command line and file: as many flags as make the same run again. They may hold
// secrets.
func (o *Spec) Values() []argv.Value {
	return slices.DeleteFunc(o.Flags.Values(),
		func(v argv.Value) bool { return v.Name == configFlag || v.Name == dryRunFlag })
}

// Settings are the Values without secrets.
func (o *Spec) Settings() []metrics.Setting { return o.Flags.Settings(o.Values(), o.Server.Secrets()) }

// check sets what follows from the flags, and finds what is wrong with them.
func (o *Spec) check() (problems usage.Problems) {
	all := o.Flags.All()
	if o.Fixed != nil {
		problems = append(problems, o.Fixed()...)
	}
	if o.Series.at == nil {
		problems = append(problems, o.Series.check()...)
	}
	o.Series.name(&o.Save)
	problems = append(problems, o.Server.Check()...)
	o.Client.unstamped = o.Server.Target != nil && o.Server.Target.Local() && len(o.Server.Others) == 0
	if o.Server.Target != nil {
		o.Load.sources = o.Server.Target.Sources()
	}
	o.Load.AllRows = o.Prompts.Needs().AllRows
	o.Load.SelfTimed = o.Prompts.SelfTiming()
	problems = append(problems, o.Fleet.check(&o.Load, &o.Series)...)
	swept := o.Series.at == nil && o.Series.Swept() != ""
	problems = append(problems, o.Load.check(all, o.Report.within(), swept)...)
	o.Series.lend(&o.Load)
	o.Load.Users.check(&problems, o.Report.Whole || o.Server.Protocol != nil && !o.Server.Protocol.Traits().Streams)
	o.Client.slow = o.Load.Users.slow()
	problems = append(problems, o.checkAnswers()...)
	if !o.Load.Leads() {
		o.Server.ResetElsewhere = o.Server.ResetElsewhere || o.Server.Reset
		o.Server.Reset, o.Server.Profile, o.Server.Ready, o.Load.Warmups = false, false, 0, 0
	}
	problems.BadIf(o.Load.Part.Split() && o.Series.Many(), "--part: takes one run; leave out what makes several")
	problems = append(problems, o.Request.Check(all, o.Server.Protocol)...)
	o.Server.Hide(o.Request.Secrets())
	o.Warnings = append(o.Warnings, o.Server.Warnings...)
	problems = append(problems,
		o.Prompts.Check(all, o.Load.Shape(), o.Load.Seed, o.Load.Searching(), o.Server.Protocol)...)
	o.Report.workloads = o.Prompts.Workloads()
	problems = append(problems, o.Report.check(all, o.Server.Protocol)...)
	o.Report.add(o.Series.Extra)
	problems = append(problems, o.Client.Check(), o.Save.Check(), o.Screen.Check(), o.GPUs.Check())
	problems.BadIf(o.Screen.OnHangup == HangupContinue && o.Save.Never,
		"--on-hangup continue with --no-save: the result would be lost")
	o.Notes = slices.Concat(argv.InertNotes(all), o.Prompts.LengthNotes(all), o.Request.Notes)
	return problems
}

// checkAnswers reports what rules out known prompts, and a gate on their answers without them.
func (o *Spec) checkAnswers() (p usage.Problems) {
	if o.Load.Answers == 0 {
		for _, g := range o.Report.gates {
			p.BadIf(g.Metric == metrics.GateChangedAnswers, "--fail-on %s: give the number of known prompts with "+
				"--check-answers, as --check-answers 20", usage.Quote(g.String()))
		}
		return p
	}
	p.BadIf(o.Fleet.Size > 0, "--check-answers: takes a run of one machine; leave out --workers")
	if to := o.Server.Protocol; to != nil {
		t := to.Traits()
		p.BadIf(t.LengthField == "" || !t.Forms.Overlap(datasets.AsText), "--check-answers: backend %s takes no text "+
			"that it answers; use --backend %s", t.Name, protocol.Default().Traits().Name)
	}
	return p
}
