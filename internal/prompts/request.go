package prompts

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// RequestOptions are the contents of requests besides prompts.
type RequestOptions struct {
	IDPrefix       string
	LoRA           []string  // their names; set by Check
	lora           []string  // as given
	loraShares     []float64 // nil for equal ones
	cache          string
	loraAssignment string
	ignoreEOS      bool
	logprobs       int
	running        bool
	extraBody      argv.JSON
	Priorities     Priorities
	PriorityHeader string
	Preset         []protocol.Field // of a command; --extra-body replaces them
	fields         []protocol.Field // of logprobs and the running usage; set by Check, as sampled is
	sampled        []protocol.Field
	Notes, Remarks []string // warnings; information
}

// Define adds the flags.
func (o *RequestOptions) Define(f *pflag.FlagSet) {
	f.StringVar(&o.IDPrefix, "request-id-prefix", "", "prefix of request ids (default: bench- and 8 random digits)")
	f.Var(argv.List(&o.lora, "name[=share]", argv.Text), "lora-modules",
		"names of LoRA modules, of which each request uses one instead of the model, and figures for each; with "+
			"shares as a=0.7 b=0.3")
	_ = f.SetAnnotation("lora-modules", argv.Variadic, nil)
	f.StringVar(&o.loraAssignment, "lora-assignment", "random",
		"how modules are assigned to requests: random or round-robin")
	argv.OneOf(f, "lora-assignment", "random", "round-robin")
	f.BoolVar(&o.ignoreEOS, "ignore-eos", false, "generate up to the full output length; always on with random")
	f.IntVar(&o.logprobs, "logprobs", 0, "number of log probabilities per token; completions only (default: none)")
	f.BoolVar(&o.running, "continuous-usage", false,
		"ask for the token counts so far in every event of a stream: ITL per token where chunks hold several")
	f.StringVar(&o.cache, "cache", cacheAsIs, "prefix cache of the server: as-is (earlier runs may have warmed it), "+
		"cold (prompts never hit it from earlier runs) or none (nor from requests of this one)")
	argv.OneOf(f, "cache", cacheCold, cacheNone, cacheAsIs)
	f.Var(&o.Priorities, "priorities", "priorities of requests with their shares, as 0=0.5,1=0.5, and figures for "+
		"each; lower is more urgent for vLLM, which needs --scheduling-policy priority")
	f.StringVar(&o.PriorityHeader, "priority-header", "",
		"header field that carries the priority, such as X-Vllm-Priority (default: the body's field priority)")
	f.Float64("temperature", 0, "sampling temperature (default: the server's)")
	f.Float64("top-p", 0, "sampling: nucleus of this cumulative probability")
	f.Float64("min-p", 0, "sampling: drop tokens below this share of the likeliest token's probability")
	f.Float64("frequency-penalty", 0, "sampling: penalize tokens by how often they have occurred")
	f.Float64("presence-penalty", 0, "sampling: penalize tokens that have occurred")
	f.Float64("repetition-penalty", 0, "sampling: divide the odds of tokens that have occurred")
	f.Int("top-k", 0, "sampling: the number of likeliest tokens to choose from")
	f.Var(&o.extraBody, "extra-body", `fields to add to the request body or replace in it: '{"a": {"b": 3}}', or `+
		`--extra-body.a.b 3; null omits a field that benchtop sets`)
}

// samplingFields are the fields of the sampling flags, in the order of vLLM's client. Only given flags are sent.
var samplingFields = []string{"top_p", "top_k", "min_p", "temperature", "frequency_penalty", "presence_penalty",
	"repetition_penalty"}

// sampling are the given sampling fields.
func sampling(given *pflag.FlagSet, p *usage.Problems) (out []protocol.Field) {
	for _, name := range samplingFields {
		flag := argv.Dashes(name)
		value := given.Lookup(flag).Value.String()
		if !given.Changed(flag) {
			continue
		}
		if v, err := given.GetFloat64(flag); err == nil {
			if value = pyjson.Float(v); !text.Finite(v) {
				p.Bad("--%s: must be a finite number", flag)
			}
		}
		out = append(out, protocol.Field{Name: name, JSON: value})
	}
	return out
}

// Check finds what is wrong with the flags. to is nil if the protocol makes no difference.
func (o *RequestOptions) Check(given *pflag.FlagSet, to protocol.Protocol) (p usage.Problems) {
	p.BadIf(o.Cold() && o.extraBody.Has("cache_salt"),
		"--cache cold and a cache_salt in --extra-body: choose one; cold sets its own salt for each run")
	p.BadIf(strings.ContainsFunc(o.IDPrefix, func(r rune) bool { return r <= ' ' || r > '~' }),
		"--request-id-prefix %q: it is sent in a header: only printable ASCII without spaces", o.IDPrefix)
	switch {
	case !given.Changed("logprobs"):
	case o.logprobs < 0:
		p.Bad("--logprobs %d: must be 0 or more", o.logprobs)
	case to != nil && !to.Traits().Logprobs:
		o.Notes = append(o.Notes, "--logprobs has no effect: completions only, as with vLLM; for chat use --extra-body")
	default:
		o.fields = append(o.fields, protocol.Field{Name: "logprobs", JSON: strconv.Itoa(o.logprobs)})
	}
	if o.running && to != nil {
		field := to.Traits().RunningUsage
		p.BadIf(field.Name == "", "--continuous-usage: backend %s has no token counts in every event; use another "+
			"backend, such as openai or openai-chat", to.Traits().Name)
		p.BadIf(o.extraBody.Has(field.Name), "--continuous-usage and %s in --extra-body: choose one", field.Name)
		o.fields = append(o.fields, field)
	}
	o.readModules(&p)
	p.BadIf(len(o.Priorities) > 0 && o.extraBody.Has("priority"),
		"--priorities and priority in --extra-body: choose one")
	p.BadIf(len(o.Priorities) > 0 && to != nil && to.Traits().LengthField == "",
		"--priorities: backend %s generates no tokens; use another backend, such as openai", nameOf(to))
	p.BadIf(o.PriorityHeader != "" && len(o.Priorities) == 0, "--priority-header: needs --priorities")
	if o.PriorityHeader != "" {
		if err := target.CheckHeader(http.Header{o.PriorityHeader: {"0"}}); err != nil {
			p.Bad("--priority-header: %w", err)
		}
	}
	o.sampled = sampling(given, &p)
	if to != nil && to.Traits().LengthField == "" {
		for _, f := range o.sampled {
			o.Notes = append(o.Notes, fmt.Sprintf("--%s has no effect: backend %s generates no tokens",
				argv.Dashes(f.Name), to.Traits().Name))
		}
		o.sampled = nil
	} else if !given.Changed("temperature") {
		o.Remarks = append(o.Remarks, "no --temperature given: the server's default applies")
	}
	return p
}

// Fields are the members of the request body that do not depend on the prompt, in the order in which vLLM's client sets
// them.
func (o *RequestOptions) Fields(ignoreEOS bool) []protocol.Field {
	fields := slices.Concat(o.Preset, o.fields)
	if o.ignoreEOS || ignoreEOS {
		fields = append(fields, protocol.Field{Name: "ignore_eos", JSON: "true"})
	}
	fields = append(fields, o.sampled...)
	for name, value := range o.extraBody.Members() {
		fields = append(fields, protocol.Field{Name: name, JSON: value})
	}
	return fields
}

// Send sets the contents of requests and their models. With fullLength the answers have the length that is asked for.
func (o *RequestOptions) Send(e *loadgen.Options, fullLength bool, draws *numpy.Python) {
	e.Extra = o.Fields(fullLength)
	switch {
	case len(o.LoRA) == 0:
	case o.loraAssignment == "random":
		e.ModelFor = loadgen.RandomModels(o.LoRA, o.loraShares, draws)
	default:
		e.ModelFor = loadgen.RoundRobinModels(o.LoRA, o.loraShares)
	}
}

// readModules reads names and shares of LoRA modules: all have one or none. A name may have "=" in it.
func (o *RequestOptions) readModules(p *usage.Problems) {
	o.LoRA, o.loraShares = nil, nil
	for _, given := range o.lora {
		name, share := given, math.NaN()
		if i := strings.LastIndexByte(given, '='); i >= 0 {
			p.BadIf(i == 0 || i == len(given)-1,
				"--lora-modules %s: expected a name, or a name and its share, as a=0.7", usage.Quote(given))
			if v, err := strconv.ParseFloat(given[i+1:], 64); err == nil || errors.Is(err, strconv.ErrRange) {
				name, share = given[:i], v
				p.BadIf(!(v > 0) || math.IsInf(v, 0), "--lora-modules %s: a share must be a number above 0",
					usage.Quote(given))
				p.BadIf(slices.Contains(o.LoRA, name), "--lora-modules %s: %s is given twice", usage.Quote(given),
					usage.Quote(name))
			}
		}
		if o.LoRA = append(o.LoRA, name); !math.IsNaN(share) {
			o.loraShares = append(o.loraShares, share)
		}
	}
	p.BadIf(len(o.loraShares) > 0 && len(o.loraShares) < len(o.LoRA),
		"--lora-modules %s: some have a share; give one to each, as a=0.7 b=0.3", strings.Join(o.lora, " "))
}

// Plan enters into a plan that modules are compared, where there are several.
func (o *RequestOptions) Plan(p *metrics.Plan) {
	if slices.ContainsFunc(o.LoRA, func(name string) bool { return name != o.LoRA[0] }) {
		p.Axes = append(p.Axes, metrics.Axis{By: metrics.AxisAdapter})
	}
}

// Secrets are those that requests carry in their bodies.
func (o *RequestOptions) Secrets() []string { return secret.In(o.extraBody.String()) }

// Cold reports whether the prompts are kept from hits in the server's prefix cache.
func (o *RequestOptions) Cold() bool { return o.cache == cacheCold || o.cache == cacheNone }

// nameOf is the name of a protocol, "" for none.
func nameOf(to protocol.Protocol) string {
	if to == nil {
		return ""
	}
	return to.Traits().Name
}
