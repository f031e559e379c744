package cli

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/loadgen"
	"benchtop/loadgen/target"
)

// problemList collects what is wrong, so that it is told at once.
type problemList []error

func (p *problemList) bad(format string, a ...any) { *p = append(*p, fmt.Errorf(format, a...)) }

func (o *serverOptions) check() (p problemList) {
	if slices.Contains(poolingBackends(), o.backend) {
		p.bad("--backend %s: embeddings, pooling and rerank endpoints cannot be loaded; use vllm, openai or openai-chat", o.backend)
	} else if !slices.Contains(loadgen.Backends(), loadgen.Backend(o.backend)) {
		p.bad("--backend %s: use vllm, openai or openai-chat", quoted(o.backend))
	} else if suffix := loadgen.Backend(o.backend).Suffix(); o.endpoint != "" && !strings.HasSuffix(o.endpoint, suffix) {
		p.bad("--endpoint %s: for backend %s it must end in %s", quoted(o.endpoint), o.backend, suffix)
	}
	pairs, err := o.headers.pairs("header")
	if err != nil {
		p = append(p, err)
	}
	header := http.Header{}
	for _, h := range pairs {
		header.Set(h.Key, h.Value)
	}
	o.target, err = target.New(target.Options{
		BaseURL: o.url(), APIKey: os.Getenv("OPENAI_API_KEY"), Insecure: o.insecure, Header: header,
	})
	if err != nil && strings.HasPrefix(err.Error(), "header") {
		p.bad("--header: %w", err)
	} else if err != nil {
		p.bad("--base-url: %w", err)
	}
	if o.port < 1 || o.port > 65535 {
		p.bad("--port %d: ports are from 1 to 65535", o.port)
	}
	if o.ready < 0 {
		o.ready = 0 // as with vLLM
	}
	return p
}

// url is the base URL of the server.
func (o *serverOptions) url() string {
	if o.baseURL != "" {
		return o.baseURL
	}
	return "http://" + net.JoinHostPort(strings.Trim(o.host, "[]"), strconv.Itoa(o.port))
}

// path of the API on the server.
func (o *serverOptions) path() string {
	if o.endpoint != "" {
		return o.endpoint
	}
	return loadgen.Backend(o.backend).Endpoint()
}

// secrets are the parts of the command line that must not be shown, as they were written.
func (o *serverOptions) secrets() []string { return o.headers.ever }

func (o *contentOptions) check(given *pflag.FlagSet, chat bool) (p problemList) {
	switch o.loraAssignment {
	case "random", "round-robin":
	default:
		p.bad("--lora-assignment %s: use random or round-robin", quoted(o.loraAssignment))
	}
	if o.cache != cacheAsIs && o.cache != cacheCold {
		p.bad("--cache %s: use cold or as-is", quoted(o.cache))
	}
	if o.cache == cacheCold && slices.ContainsFunc(o.extraBody.Fields(), func(f loadgen.Field) bool { return f.Name == "cache_salt" }) {
		p.bad("--cache cold and a cache_salt in --extra-body: choose one, since cold draws a salt of its own for each run")
	}
	if strings.ContainsFunc(o.idPrefix, func(r rune) bool { return r <= ' ' || r > '~' }) {
		p.bad("--request-id-prefix %q: it travels in a header, so it may hold only printable ASCII without blanks", o.idPrefix)
	}
	if given.Changed("logprobs") {
		switch {
		case o.logprobs < 0:
			p.bad("--logprobs %d: must be 0 or more", o.logprobs)
		case chat:
			o.notes = append(o.notes, "--logprobs has no effect: only completions carry it, as with vLLM; for chat use --extra-body")
		default:
			o.fields = append(o.fields, loadgen.Field{Name: "logprobs", JSON: strconv.Itoa(o.logprobs)})
		}
	}
	for _, x := range o.sampling.floats() {
		if given.Changed(x.flag) && (math.IsNaN(*x.value) || math.IsInf(*x.value, 0)) {
			p.bad("--%s: must be a finite number", x.flag)
		}
	}
	o.sampled = o.sampling.fields(given)
	if !given.Changed("temperature") {
		o.remarks = append(o.remarks, "no --temperature given: the server's default applies")
	}
	return p
}

// bodyFields are the members of the request body that do not depend on the prompt, in the order in which vLLM's client
// sets them.
func (o *contentOptions) bodyFields(ignoreEOS bool) []loadgen.Field {
	fields := slices.Clone(o.fields)
	if o.ignoreEOS || ignoreEOS {
		fields = append(fields, loadgen.Field{Name: "ignore_eos", JSON: "true"})
	}
	fields = append(fields, o.sampled...)
	return append(fields, o.extraBody.Fields()...)
}
