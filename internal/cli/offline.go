package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/files"
	"benchtop/internal/launch"
	"benchtop/internal/offline"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
)

// offlineOptions are what the offline benchmarks of vLLM have in common: a preset of serve, and the server that they
// start.
type offlineOptions struct {
	spec.Spec
	engine       engineOptions
	n            int
	json         string
	noDetokenize bool
	others       []string // words for the server
	printed      []string // before the measurement
}

// begin makes the flags of a command with its own in front. The caller adds those of serve.
func (o *offlineOptions) begin(name, text string) *pflag.FlagSet {
	o.Flags = argv.Flags{Synopsis: name + " [flags]", Text: text}
	f := o.Flags.Group(strings.ToUpper(name[:1]) + name[1:])
	f.StringVar(&o.json, "output-json", "", "write the result to this file")
	f.IntVar(&o.n, "n", 1, "answers to each prompt")
	f.BoolVar(&o.noDetokenize, "disable-detokenize", false, "no effect: a server turns its tokens into text")
	f.Lookup("disable-detokenize").Hidden = true
	o.engine.define(o.Flags.Group("Server to start"))
	return f
}

// describe gives flags of serve, as NAME, DEFAULT, TEXT, the default and the help that they have here. "" keeps the
// default.
func (o *offlineOptions) describe(flags ...[3]string) {
	all := o.Flags.All()
	for _, t := range append(flags, [3]string{"temperature", "1", "sampling temperature"},
		[3]string{"ignore-eos", "true", "generate up to the full output length"},
		[3]string{"top-p", "1", "sampling: nucleus of this cumulative probability"}) {
		f := all.Lookup(t[0])
		f.DefValue, f.Usage = cmp.Or(t[1], f.DefValue), t[2]
	}
}

// note is printed before the measurement.
func (o *offlineOptions) note(line string) { o.printed = append(o.printed, line) }

// whole has answers come in one piece.
func (o *offlineOptions) whole() {
	o.Report.Whole = true
	o.Request.Preset = append(o.Request.Preset, protocol.Field{Name: "stream", JSON: "false"},
		protocol.Field{Name: "stream_options", JSON: "null"})
}

// apply sets the sampling of the offline benchmarks, and the server.
func (o *offlineOptions) apply() usage.Problems {
	p := o.Flags.Preset(argv.To("temperature", 1), argv.To("top-p", 1), argv.To("ignore-eos", true))
	p.BadIf(o.n < 1 || o.n > math.MaxInt16, "--n %d: must be from 1 to %d", o.n, math.MaxInt16)
	if o.n > 1 {
		o.Request.Preset = append(o.Request.Preset, protocol.Field{Name: "n", JSON: strconv.Itoa(o.n)})
	}
	if o.noDetokenize {
		o.note("--disable-detokenize has no effect: a server turns its tokens into text")
	}
	checkOutput(&p, o.json)
	return append(p, o.choose()...)
}

// forBoth are flags of the client that are flags of the server as well.
var forBoth = []string{"tokenizer", "max-model-len", "served-model-name", "tokenizer-mode"}

// choose decides which server is measured.
func (o *offlineOptions) choose() (p usage.Problems) {
	all := o.Flags.All()
	if all.Changed("base-url") || all.Changed("host") || all.Changed("port") {
		p.BadIf(o.engine.serve != "",
			"--serve-cmd and --base-url, --host or --port: choose one; the command says where its server listens")
		if len(o.others) > 0 {
			o.note(strings.Join(launch.Hide(o.others), " ") + ": no effect, since the server runs already")
		}
		return p
	}
	if o.engine.serve == "" && len(o.others) == 0 {
		return nil
	}
	words := o.others
	if o.engine.serve == "" {
		words = o.shared(all)
	}
	if p = o.engine.choose(words); len(p) > 0 {
		return p
	}
	if err := o.engine.freePort(); err != nil {
		p.Bad("no port is free for the server: %w", err)
		return p
	}
	at, err := launch.AddressOf(o.engine.command)
	if err != nil {
		return append(p, err)
	}
	if key := serverKey(o.engine.command); key != "" && os.Getenv("OPENAI_API_KEY") == "" && !all.Changed("api-key") {
		p.Flag("header", all.Set("header", "Authorization=Bearer "+key))
	}
	return append(p, o.Flags.Preset(argv.To("base-url", at))...)
}

// shared are the flags of the server to start: those of other names, and those that the client has too.
func (o *offlineOptions) shared(all *pflag.FlagSet) (words []string) {
	if all.Changed("model") {
		words = append(words, "--model", o.Server.Model)
	}
	words = append(words, o.others...)
	for _, name := range forBoth {
		if all.Changed(name) {
			words = append(words, "--"+name, all.Lookup(name).Value.String())
		}
	}
	if key := o.Server.Key(); key != "" {
		words = append(words, "--api-key", key)
	}
	return words
}

// parse reads a command line. Flags of other names are the server's.
func (o *offlineOptions) parse(env *session.Environment, args []string) error {
	own, others := argv.Part(o.Flags.All(), args)
	urls := 0
	for base, _ := server.PositionalURL(others); base != ""; base, _ = server.PositionalURL(others[urls:]) {
		urls++
	}
	own, o.others = append(slices.Clone(others[:urls]), own...), others[urls:]
	err := o.Spec.Parse(own)
	env.Warn(o.Warnings)
	if err != nil {
		return err
	}
	if !o.Save.Asked() {
		o.Save.Output = o.json
	}
	if err := env.Look(&o.Spec); err != nil {
		return err
	}
	o.Command = secret.HideWords(append([]string{o.Flags.Command()}, launch.Hide(args)...), o.Server.Secrets())
	for _, line := range o.printed {
		env.Say(line)
	}
	return nil
}

// startServer starts the server if it is to, and returns what stops it.
func (o *offlineOptions) startServer(ctx context.Context, env *session.Environment) (stop func(), err error) {
	if o.engine.command == nil {
		return func() {}, nil
	}
	env.Step(session.StepServer)
	env.Show("starting")
	s, err := o.engine.start(ctx, env, "VLLM_SERVER_DEV_MODE=1")
	if err != nil {
		return nil, err
	}
	return func() {
		if err := s.Stop(); err != nil {
			env.Warn([]string{err.Error()})
		}
	}, nil
}

// helped adds to the error of a server that does not answer how another is named.
func (o *offlineOptions) helped(err error) error {
	if o.engine.command == nil && !o.Flags.All().Changed("base-url") && !errors.As(err, new(usage.Error)) {
		return fmt.Errorf("%w; --base-url names another server, --serve-cmd starts one", err)
	}
	return err
}

// about is the server in the result.
func (o *offlineOptions) about() offline.Server {
	s := offline.Server{Address: o.Server.Target.String()}
	if o.engine.command != nil {
		s.Command = launch.Hide(o.engine.command)
	}
	return s
}

// writePyTorch writes the result in PyTorch's format beside the other, if it is asked for.
func writePyTorch(path string, content func(w io.Writer, file string) error) error {
	if os.Getenv(session.PytorchVariable) == "" {
		return nil
	}
	return files.Write(files.Stem(path)+files.PyTorchSuffix,
		func(w io.Writer) error { return content(w, filepath.Base(path)) })
}

// oneTokenRequests is enough for a median.
const oneTokenRequests = 5

// oneToken are the times of small requests to a server that is idle again, sorted; nil if one fails. A first one dials
// and does not count.
func oneToken(ctx context.Context, load loadgen.Options) (all []time.Duration) {
	turns := make([]datasets.Turn, oneTokenRequests+1)
	for i := range turns {
		turns[i] = protocol.Smallest(load.Protocol, 1)
	}
	for i, q := range loadgen.Try(ctx, load, turns, 1) {
		if !q.OK() {
			return nil
		}
		if i > 0 {
			all = append(all, q.E2EL())
		}
	}
	slices.Sort(all)
	return all
}
