package cli

import (
	"cmp"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/cli/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// serverOptions say which server to load and how to reach it.
type serverOptions struct {
	backend           string
	baseURL, host     string
	port              int
	endpoint          string
	headers           argv.Pairs
	insecure          bool
	model, servedName string
	ready             int
	profile           bool
	target            *target.Target    // set by check, as protocol is
	protocol          protocol.Protocol // nil for a backend that there is not
}

func (o *serverOptions) define(f *pflag.FlagSet) {
	o.defineAddress(f)
	f.StringVar(&o.endpoint, "endpoint", "", "path of the API (default: follows the backend)")
	f.IntVar(&o.ready, "ready-check-timeout-sec", 0, "wait up to this many seconds until the server answers a request; 0 does not wait")
	f.BoolVar(&o.profile, "profile", false, "start the server's profiler before the run and stop it after")
}

// defineAddress adds the flags that say which server it is and how to speak to it.
func (o *serverOptions) defineAddress(f *pflag.FlagSet) {
	f.StringVar(&o.backend, "backend", protocol.Default().Traits().Name, "request protocol: "+protocol.Names(0))
	f.StringVar(&o.baseURL, "base-url", "", "server to load; overrides host and port")
	f.StringVar(&o.host, "host", "127.0.0.1", "server's host")
	f.IntVar(&o.port, "port", 8000, "server's port")
	f.Var(&o.headers, "header", "headers of every request, as KEY=VALUE KEY=VALUE; shown nowhere")
	_ = f.SetAnnotation("header", argv.Variadic, []string{"0"})
	f.BoolVar(&o.insecure, "insecure", false, "accept any TLS certificate")
	f.StringVar(&o.model, "model", "", "model to ask for (default: the server's first)")
	f.StringVar(&o.servedName, "served-model-name", "", "name sent in requests instead of --model")
}

func (o *serverOptions) check() (p usage.Problems) {
	if o.protocol = protocol.Named(o.backend); o.protocol == nil && slices.Contains(poolingBackends(), o.backend) {
		p.Bad("--backend %s: these embeddings, pooling and rerank endpoints cannot be loaded; use %s", o.backend, protocol.Names(0))
	} else if o.protocol == nil {
		p.Bad("--backend %s: use %s", usage.Quote(o.backend), protocol.Names(0))
	} else if suffix := o.protocol.Traits().Suffix; o.endpoint != "" && !strings.HasSuffix(o.endpoint, suffix) {
		p.Bad("--endpoint %s: for backend %s it must end in %s", usage.Quote(o.endpoint), o.backend, suffix)
	}
	pairs, err := o.headers.Split("header")
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
		p.Bad("--header: %w", err)
	} else if err != nil {
		p.Bad("--base-url: %w", err)
	}
	if o.port < 1 || o.port > 65535 {
		p.Bad("--port %d: ports are from 1 to 65535", o.port)
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
	return cmp.Or(o.endpoint, o.protocol.Traits().Path)
}

// secrets are the parts of the command line that must not be shown, as they were written.
func (o *serverOptions) secrets() []string { return o.headers.Ever }

// send sets where requests go.
func (o *serverOptions) send(e *loadgen.Options) {
	e.Target, e.Endpoint, e.Protocol = o.target, o.endpoint, o.protocol
}

// plan writes into a plan where requests go.
func (o *serverOptions) plan(p *metrics.Plan) {
	p.BaseURL, p.Backend, p.Pooling = o.target.String(), o.backend, !o.protocol.Traits().Streams
}
