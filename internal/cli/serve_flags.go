package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"benchtop/loadgen"
	"benchtop/loadgen/target"
)

// serveOptions is what the flags of serve fill.
type serveOptions struct {
	server  serverOptions
	content contentOptions
	prompts promptOptions
	load    loadOptions
	client  clientOptions
	report  reportOptions
	save    savingOptions
	screen  screenOptions
	gpus    gpuOptions
	old     baselineOptions
	// command is the command line without secrets, warnings what its writer may not have meant.
	command  []string
	warnings []string
	notes    []string // about flags that do nothing here, for the log
	groups   flagGroups
}

// newServeOptions defines the flags. Names, defaults and meanings are vLLM's where vLLM has the flag.
func newServeOptions() *serveOptions {
	o := &serveOptions{}
	o.server.define(o.groups.group("Server"))
	o.prompts.define(&o.groups)
	o.content.define(o.groups.group("Requests"))
	o.load.define(o.groups.group("Load"))
	o.client.define(o.groups.group("Client"))
	report := o.groups.group("Report")
	o.report.define(report)
	o.save.define(report)
	o.gpus.define(o.groups.group("Server and GPUs"))
	screen := o.groups.group("Screen")
	o.screen.define(screen)
	o.old.define(screen)
	defineInert(o.groups.group("Accepted without effect"))
	return o
}

// parse reads a command line and checks everything that can be checked without the server.
func (o *serveOptions) parse(args []string) error {
	all := o.groups.set()
	rest, warnings, err := parseFlags(all, args)
	if asked := (errHelp{}); errors.As(err, &asked) {
		return err
	}
	o.warnings = warnings
	problems := []error{err}
	if len(rest) > 0 {
		problems = append(problems, fmt.Errorf("serve takes no arguments, got %q: 'vllm serve MODEL' starts a server, "+
			"'benchtop serve --model MODEL' loads one", rest))
	}
	problems = append(problems, o.server.check()...)
	o.load.allRows = o.prompts.takesAllRows()
	o.load.selfTimed = o.prompts.selfTiming()
	problems = append(problems, o.load.check(all, o.report.goodput.slo)...)
	problems = append(problems, o.content.check(all, o.server.chat())...)
	problems = append(problems, o.prompts.check(all, &o.load, o.server.backend)...)
	problems = append(problems, o.report.check()...)
	problems = append(problems, o.client.check(), o.save.check(), o.screen.check(), o.gpus.check())
	if o.screen.onHangup == hangupContinue && o.save.never {
		problems = append(problems, errors.New("--on-hangup continue with --no-save: nobody would ever see the result"))
	}
	o.command = hideSecrets(append([]string{"serve"}, args...), o.server.secrets())
	o.notes = slices.Concat(inertNotes(all), o.prompts.lengthNotes(all), o.content.notes)
	return errors.Join(problems...)
}

// serverOptions say which server to load and how to reach it.
type serverOptions struct {
	backend           string
	baseURL, host     string
	port              int
	endpoint          string
	headers           pairList
	insecure          bool
	model, servedName string
	ready             int
	profile           bool
	target            *target.Target
}

func (o *serverOptions) define(f *pflag.FlagSet) {
	o.defineAddress(f)
	f.StringVar(&o.endpoint, "endpoint", "", "path of the API (default: follows the backend)")
	f.IntVar(&o.ready, "ready-check-timeout-sec", 0, "wait up to this many seconds until the server answers a request; 0 does not wait")
	f.BoolVar(&o.profile, "profile", false, "start the server's profiler before the run and stop it after")
}

// defineAddress adds the flags that say which server it is and how to speak to it.
func (o *serverOptions) defineAddress(f *pflag.FlagSet) {
	f.StringVar(&o.backend, "backend", string(loadgen.Defaults().Backend), "request protocol: vllm, openai or openai-chat")
	f.StringVar(&o.baseURL, "base-url", "", "server to load; overrides host and port")
	f.StringVar(&o.host, "host", "127.0.0.1", "server's host")
	f.IntVar(&o.port, "port", 8000, "server's port")
	f.Var(&o.headers, "header", "headers of every request, as KEY=VALUE KEY=VALUE; shown nowhere")
	_ = f.SetAnnotation("header", variadic, []string{"0"})
	f.BoolVar(&o.insecure, "insecure", false, "accept any TLS certificate")
	f.StringVar(&o.model, "model", "", "model to ask for (default: the server's first)")
	f.StringVar(&o.servedName, "served-model-name", "", "name sent in requests instead of --model")
}

func (o *serverOptions) chat() bool { return o.backend == string(loadgen.OpenAIChat) }

// contentOptions say what a request carries beside its prompt.
type contentOptions struct {
	idPrefix       string
	cache          string
	lora           textList
	loraAssignment string
	ignoreEOS      bool
	logprobs       int
	sampling       samplingOptions
	extraBody      jsonValue
	fields         []loadgen.Field // of logprobs; set by check, as sampled is
	sampled        []loadgen.Field
	notes, remarks []string // what is odd; what is good to know
}

func (o *contentOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.idPrefix, "request-id-prefix", "", "prefix of request ids (default: bench- and 8 random digits)")
	f.Var(&o.lora, "lora-modules", "names of LoRA modules; each request asks for one of them instead of the model")
	_ = f.SetAnnotation("lora-modules", variadic, nil)
	f.StringVar(&o.loraAssignment, "lora-assignment", "random", "how modules are given to requests: random or round-robin")
	f.BoolVar(&o.ignoreEOS, "ignore-eos", false, "ask the server to go on to the full output length; always so with random")
	f.IntVar(&o.logprobs, "logprobs", 0, "log probabilities to ask for with each token; completions only (default: none)")
	f.StringVar(&o.cache, "cache", cacheAsIs, "as-is: what earlier runs left in the server's prefix cache counts; cold: none of it is found")
	o.sampling.define(f)
	f.Var(&o.extraBody, "extra-body", `fields of the request body, replacing others: '{"a": {"b": 3}}', or --extra-body.a.b 3; null leaves out what benchtop sets`)
}
