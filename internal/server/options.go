// Package server prepares the server of a run before its load: its flags, whether it listens, its models, and the
// patience with a server that is still starting.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/secret"
	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// Options say which server to load and how to reach it.
type Options struct {
	Backend           string
	BaseURLs          []string
	host              string
	port              int
	endpoint          string
	headers           argv.Pairs
	apiKey, auth      string
	insecure          bool
	bind              string
	caFile            string
	certFile, keyFile string
	Model, ServedName string
	Ready             int // seconds of patience with a server that is still starting
	Profile           bool
	ProfileThreshold  int               // running requests at which its profiler starts; 0 for before the run
	ProfileDuration   argv.Seconds      // for which it then runs
	Reset             bool              // the prefix cache, before the run
	ResetElsewhere    bool              // another machine of the run does that
	Places            map[string]string // FILE:LINE of flags that a file has
	Warnings          []string          // set by Check, as all below is
	loadgen.Servers
	Pages    Pages
	Protocol protocol.Protocol // nil for an unknown backend
}

// Define adds all flags.
func (o *Options) Define(f *pflag.FlagSet) {
	o.DefineAddress(f)
	f.StringVar((*string)(&o.Strategy), "url-strategy", string(loadgen.RoundRobin),
		"how several servers share the load: "+strategies())
	f.StringVar(&o.endpoint, "endpoint", "", "path of the API (default: follows the backend)")
	argv.Words(f, "url-strategy", strategyNames()...)
	f.StringVar(&o.bind, "bind", "", "addresses of this machine that connections come from, in turn, as ADDR,ADDR: "+
		"each has some 28,000 ports (default: the system's choice)")
	f.IntVar(&o.Ready, "ready-check-timeout-sec", 0,
		"wait up to this many seconds for the server to answer a request; 0 does not wait")
	f.BoolVar(&o.Reset, "reset-prefix-cache", false,
		"reset the server's prefix cache before the run; vLLM needs VLLM_SERVER_DEV_MODE=1")
	f.BoolVar(&o.Profile, "profile", false, "start the server's profiler before the run and stop it after")
	f.IntVar(&o.ProfileThreshold, "profile-batch-threshold", 0,
		"start the profiler only when the server's metrics show this many running requests (default: before the run)")
	o.ProfileDuration = argv.Seconds(profileDuration)
	f.Var(&o.ProfileDuration, "profile-duration", "how long the profiler then runs")
}

// profileDuration is how long a profiler runs that was started at a threshold, unless a flag says otherwise.
const profileDuration = 5 * time.Second

// DefineAddress adds the flags that name the server and its protocol.
func (o *Options) DefineAddress(f *pflag.FlagSet) {
	f.StringVar(&o.Backend, "backend", protocol.Default().Traits().Name, "request protocol: "+protocol.Names(0))
	argv.Words(f, "backend", protocol.List()...)
	f.Var(argv.List(&o.BaseURLs, "url", argv.Text), "base-url",
		"server to load; overrides host and port; several share the load")
	for _, may := range []string{argv.Variadic, argv.Repeatable} {
		_ = f.SetAnnotation("base-url", may, nil)
	}
	f.StringVar(&o.host, "host", "127.0.0.1", "server's host")
	f.IntVar(&o.port, "port", 8000, "server's port")
	f.Var(&o.headers, "header", "headers of every request, as KEY=VALUE KEY=VALUE, never shown; @FILE or '$NAME' as a "+
		"value stands for that of a file or a variable, also after a word such as Bearer; @@ begins a value with an @")
	_ = f.SetAnnotation("header", argv.Variadic, []string{"0"})
	f.StringVar(&o.apiKey, "api-key", "", "key of the API, never shown: @FILE, '$NAME' of a variable, or the key; "+
		"without it $OPENAI_API_KEY is sent, or $ANTHROPIC_API_KEY to anthropic-messages")
	f.StringVar(&o.auth, "auth-command", "",
		"command of the shell that prints a token, which is sent as Authorization: Bearer; it is asked again before "+
			"the token expires and after a 401, and is shown only if it is one word, such as a script")
	f.BoolVar(&o.insecure, "insecure", false, "accept any TLS certificate")
	f.StringVar(&o.caFile, "ca-file", "",
		"file of the authorities that may sign the server's certificate, in PEM form (default: the system's)")
	f.StringVar(&o.certFile, "cert-file", "", "file of the client's own certificate, in PEM form")
	f.StringVar(&o.keyFile, "key-file", "", "file of the key of --cert-file, in PEM form (default: in the same file)")
	f.StringVar(&o.Model, "model", "", "model to request (default: the server's first)")
	f.StringVar(&o.ServedName, "served-model-name", "", "name sent in requests instead of --model")
}

// Check finds what is wrong with the flags.
func (o *Options) Check() (p usage.Problems) {
	if o.Protocol = protocol.Named(o.Backend); o.Protocol == nil {
		p.Bad("--backend %s: use %s%s", usage.Quote(o.Backend), protocol.Names(0),
			usage.DidYouMean(o.Backend, protocol.List()))
	} else if err := o.Protocol.Traits().CheckEndpoint(o.endpoint); err != nil {
		p.Bad("--%w", err)
	}
	header := o.header(&p)
	bearer := o.bearer(&p, header)
	var token *target.Token
	if o.auth != "" {
		token, bearer = tokenOf(o.auth), ""
		p.BadIf(o.apiKey != "" || header.Get("Authorization") != "",
			"--auth-command and --api-key or --header Authorization: choose one")
		p.BadIf(o.auth == secret.Mask, "--auth-command %s: a command was hidden here; give it anew, or keep it in a "+
			"script, whose name alone is shown", o.auth)
	}
	roots, certificate := o.checkTLS(&p)
	sources := o.sources(&p)
	like := target.Options{
		APIKey: bearer, Token: token, Insecure: o.insecure, Roots: roots, Certificate: certificate, Header: header,
		Getenv: os.Getenv, Bind: sources,
	}
	strategy := loadgen.Strategy(strings.ReplaceAll(string(o.Strategy), "_", "-"))
	o.Servers = loadgen.Servers{Strategy: strategy}
	for _, url := range o.urls(&p) {
		if err := o.misplaced(url); err != nil {
			p = append(p, err)
			continue
		}
		like.BaseURL = url
		t, err := target.New(like)
		switch {
		case err == nil:
			o.Add(t)
			p.BadIf(len(sources) > 0 && t.Local(), "--bind: %s is a socket of this machine, which has no addresses", t)
			p.BadIf((o.caFile != "" || o.certFile != "") && !t.Secured(),
				"--ca-file and --cert-file: %s has no TLS; is it https://?", t)
		case strings.HasPrefix(err.Error(), "header"):
			p.Bad("--header: %w", err)
		case strings.HasPrefix(err.Error(), "proxy"):
			p = append(p, err)
		default:
			p.Bad("--base-url: %w", err)
		}
	}
	o.Pages.check(&p, o.All(), like)
	p.BadIf(strategy != "" && !slices.Contains(loadgen.Strategies(), strategy), "--url-strategy %s: use %s",
		usage.Quote(string(strategy)), strategies())
	p.BadIf(o.port < 1 || o.port > 65535, "--port %d: ports are from 1 to 65535", o.port)
	p.BadIf(o.ProfileThreshold < 0, "--profile-batch-threshold %d: must be at least 1", o.ProfileThreshold)
	p.BadIf(o.ProfileThreshold > 0 && !o.Profile, "--profile-batch-threshold: needs --profile")
	p.BadIf(o.ProfileDuration < 0, "--profile-duration %s: must not be negative", &o.ProfileDuration)
	p.BadIf(o.ProfileDuration > 0 && o.ProfileDuration != argv.Seconds(profileDuration) && o.ProfileThreshold == 0,
		"--profile-duration: needs --profile-batch-threshold")
	if o.Ready < 0 {
		o.Ready = 0 // as with vLLM
	}
	return p
}

// header makes the headers of --header. Other users can read the command line of a process, so a secret in it brings a
// warning.
func (o *Options) header(p *usage.Problems) http.Header {
	pairs, err := o.headers.Split("header")
	if err != nil {
		*p = append(*p, err)
	}
	o.Warnings = nil
	header, flag := http.Header{}, o.placed("header")
	for _, h := range pairs {
		name := flag + " " + h.Key
		p.BadIf(h.Value == secret.Mask, "%s=%s: a secret was hidden here; write %s=@FILE or '%[3]s=$NAME'", name,
			h.Value, h.Key)
		value, written := resolved(p, name, h.Value)
		if written && value != "" && target.SoundsSecret(h.Key) {
			o.warnOfSecret("header", name, "secrets", fmt.Sprintf("%s=@FILE or '%[1]s=$NAME'", h.Key))
		}
		header.Set(h.Key, value)
	}
	if all := strings.Join(o.BaseURLs, " "); secret.Hide(all) != all {
		o.warnOfSecret("base-url", o.placed("base-url"), "a password",
			"'Authorization=Basic $NAME' or Authorization=@FILE with --header")
	}
	if all := strings.Join(o.Pages.urls, " "); secret.Hide(all) != all && o.Places["metrics-url"] == "" {
		o.warnOfSecret("metrics-url", "--metrics-url", "a password", "it in a file of --config that only you may read")
	}
	return header
}

// resolved is what a value stands for: the text of a file, or of a variable. It reports whether the value is written as
// it is.
func resolved(p *usage.Problems, name, value string) (text string, written bool) {
	switch part := secret.Reference.FindStringSubmatch(value); {
	case part == nil:
		return value, true
	case strings.HasPrefix(part[2], "@"):
		return part[1] + part[2], false
	case part[2] != "":
		text, err := os.ReadFile(part[2])
		p.BadIf(err != nil, "%s: %v; a value of @FILE stands for the text of a file, @@ for an @", name, err)
		return part[1] + strings.TrimSpace(string(text)), false
	default:
		text, known := os.LookupEnv(part[3])
		p.BadIf(!known, "%s: the variable %s is not set; a value that itself begins with $ stands in a file, as "+
			"@FILE, or for the API key in OPENAI_API_KEY", name, part[3])
		return part[1] + text, false
	}
}

// bearer is the key of the API that is sent as a bearer token, "" for none; where the protocol has a header of its own
// for it, that is set unless it is there. The key of --api-key has precedence over that of the environment.
func (o *Options) bearer(p *usage.Problems, header http.Header) string {
	flag, before := o.placed("api-key"), len(*p)
	key, written := resolved(p, flag, o.apiKey)
	switch {
	case key == secret.Mask:
		p.Bad("%s %s: a secret was hidden here; write @FILE or '$NAME'", flag, key)
	case !written && key == "" && len(*p) == before:
		p.Bad("%s %s: it is empty, so that another key would be sent; fill it, or leave --api-key out", flag, o.apiKey)
	case unsendable(key):
		p.Bad("%s: it has a character that cannot be sent, such as a line break", flag)
		key = ""
	case written && key != "":
		o.warnOfSecret("api-key", flag, "secrets", "@FILE or '$NAME'")
	}
	var t protocol.Traits
	if o.Protocol != nil {
		t = o.Protocol.Traits()
	}
	if own := cmp.Or(key, keyFrom(p, t.KeyFrom)); t.KeyHeader != "" && own != "" && header.Get(t.KeyHeader) == "" {
		header.Set(t.KeyHeader, own)
	}
	if t.KeyHeader != "" {
		key = ""
	}
	return cmp.Or(key, keyFrom(p, "OPENAI_API_KEY"))
}

// Key is the key of --api-key, "" for none.
func (o *Options) Key() string {
	key, _ := resolved(new(usage.Problems), "", o.apiKey)
	return key
}

// placed is a flag behind the place where a file has it.
func (o *Options) placed(flag string) string {
	if at := o.Places[flag]; at != "" {
		return at + ": --" + flag
	}
	return "--" + flag
}

// warnOfSecret warns of a secret in a flag, with the remedy.
func (o *Options) warnOfSecret(flag, name, what, remedy string) {
	place, why := "the command line", ", since others can list it"
	if o.Places[flag] != "" {
		place, why = "a file that others may read", ""
	}
	words := fmt.Sprintf("%s: %s is no place for %s%s; write %s", name, place, what, why, remedy)
	o.Warnings = append(o.Warnings, words)
}

// sources are the addresses of --bind, which must be this machine's.
func (o *Options) sources(p *usage.Problems) (all []netip.Addr) {
	if o.bind == "" {
		return nil
	}
	for one := range strings.SplitSeq(o.bind, ",") {
		a, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			p.Bad("--bind %s: expected addresses such as 10.0.0.5, with commas between them", usage.Quote(one))
			continue
		}
		probe, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err != nil {
			p.Bad("--bind %s: it is no address of this machine, which has %s; on Linux, sudo ip address add %[1]s dev "+
				"NAME gives it to an interface", a, text.List(ownAddresses(), 8))
			continue
		}
		_ = probe.Close()
		if a = a.Unmap(); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	p.BadIf(slices.ContainsFunc(all, func(a netip.Addr) bool { return a.Is4() != all[0].Is4() }),
		"--bind %s: an address of IPv4 and one of IPv6 reach different servers; use one kind", o.bind)
	return all
}

// ownAddresses are those of this machine, as far as its interfaces list them.
func ownAddresses() []string {
	own, _ := net.InterfaceAddrs()
	return metrics.Each(own, func(a net.Addr) string { address, _, _ := strings.Cut(a.String(), "/"); return address })
}

// checkTLS reads the files of certificates.
func (o *Options) checkTLS(p *usage.Problems) (roots *x509.CertPool, certificate *tls.Certificate) {
	var err error
	p.BadIf(o.insecure && o.caFile != "", "--insecure and --ca-file: choose one; --insecure accepts any certificate")
	if o.caFile != "" {
		roots, err = target.Roots(o.caFile)
		p.Flag("ca-file", err)
	}
	p.BadIf(o.keyFile != "" && o.certFile == "", "--key-file: needs --cert-file, the certificate of the key")
	if o.certFile != "" {
		certificate, err = target.Certificate(o.certFile, cmp.Or(o.keyFile, o.certFile))
		p.Flag("cert-file", err)
	}
	return roots, certificate
}

// strategies names them for a person.
func strategies() string { return text.Join(strategyNames(), " or ") }

func strategyNames() []string {
	return metrics.Each(loadgen.Strategies(), func(s loadgen.Strategy) string { return string(s) })
}

// keyFrom is an API key of the environment, "" for none.
func keyFrom(p *usage.Problems, variable string) string {
	key := os.Getenv(variable)
	if unsendable(key) {
		p.Bad("%s: it has a character that cannot be sent, such as a line break; set it anew without that", variable)
		return ""
	}
	return key
}

// unsendable reports whether a key cannot stand in a header.
func unsendable(key string) bool { return strings.ContainsFunc(key, unicode.IsControl) }

// urls are the base URLs of the servers, none for a host that is not one.
func (o *Options) urls(p *usage.Problems) []string {
	if len(o.BaseURLs) > 0 {
		return o.BaseURLs
	}
	host := strings.Trim(o.host, "[]")
	if _, err := netip.ParseAddr(strings.Replace(host, "%25", "%", 1)); err != nil && strings.ContainsAny(host, ":/") {
		p.Bad("--host %s: expected a name or an address alone; --port has the port, and --base-url takes a URL",
			usage.Quote(host[strings.LastIndex(host, "@")+1:]))
		return nil
	}
	if strings.Contains(host, ":") {
		// the zone of an IPv6 address, as a URL writes it
		host = strings.Replace(strings.Replace(host, "%25", "%", 1), "%", "%25", 1)
	}
	return []string{"http://" + net.JoinHostPort(host, strconv.Itoa(o.port))}
}

// Path is the path of the API on the server.
func (o *Options) Path() string {
	return cmp.Or(o.endpoint, o.Protocol.Traits().Path)
}

// Secrets are the parts of the command line that must not be shown, as written.
func (o *Options) Secrets() []string { return o.headers.Ever }

// Hide has secrets hidden in the words of all servers.
func (o *Options) Hide(secrets []string) {
	for _, t := range append(o.All(), o.Pages.Targets...) {
		t.Keep(secrets)
	}
}

// Send sets where requests go.
func (o *Options) Send(e *loadgen.Options) {
	e.Servers, e.Endpoint, e.Protocol = o.Servers, o.endpoint, o.Protocol
}

// ResetCache resets the prefix cache of each server, if that was asked for.
func (o *Options) ResetCache(ctx context.Context, client *http.Client) error {
	if !o.Reset {
		return nil
	}
	return o.each(client, func(one *Options, client *http.Client) error {
		limited, cancel := context.WithTimeout(ctx, AskTimeout)
		defer cancel()
		err := telemetry.ResetPrefixCache(limited, client, one.Target.URL(""))
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("--reset-prefix-cache: %s cannot reset its prefix cache: %s", one.Target,
				text.Clean(one.Target.Hide(err.Error())))
		}
		return ctx.Err()
	})
}

// each calls do with the options of each server alone, and a client of its own for all but the first, until an error.
func (o *Options) each(client *http.Client, do func(one *Options, client *http.Client) error) error {
	for i, t := range o.All() {
		one := *o
		if one.Servers = (loadgen.Servers{Target: t}); i > 0 {
			client = t.Client()
			defer client.CloseIdleConnections()
		}
		if err := do(&one, client); err != nil {
			return err
		}
	}
	return nil
}

// Plan enters into a plan where requests go.
func (o *Options) Plan(p *metrics.Plan) {
	p.BaseURL, p.Backend, p.Pooling = o.Target.String(), o.Backend, !o.Protocol.Traits().Streams
	p.Proxy = o.Target.Proxy()
	p.Pages, p.Engines = o.Pages.plan, len(o.Pages.plan) > 1
	if len(o.Others) == 0 {
		return
	}
	p.Axes = append(p.Axes, metrics.Axis{By: metrics.AxisServer})
	p.Servers, p.Strategy = metrics.Each(o.All(), (*target.Target).String), string(o.Strategy)
}

// Remarks are for the log of the run.
func (o *Options) Remarks() (all []string) {
	if proxy := o.Target.Proxy(); proxy != "" {
		all = append(all, "requests go through the proxy "+proxy+"; NO_PROXY excepts servers")
	}
	return all
}
