package spec

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/secret"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Fleet says which machines load the server together.
type Fleet struct {
	workers  string
	Size     int      // workers, 0 for none
	Hosts    []string // that ssh starts them on; none for this machine or for those that join
	NATS     string   // URL of a server, or listen://HOST:PORT for one of ours; "" for one of ours on this machine
	Creds    string   // file of credentials of a NATS server
	Pin      string   // SHA-256 of its certificate
	JoinFile string   // has the join string of the run
}

// Listens is how an address begins at which a NATS server of ours listens.
const Listens = "listen://"

func (o *Fleet) define(f *pflag.FlagSet) {
	f.StringVar(&o.workers, "workers", "", "processes or machines that load together: N on this machine, or with "+
		"--nats N that join by 'benchtop worker', or ssh://HOST,ssh://HOST")
	f.StringVar(&o.NATS, "nats", "",
		"server of NATS by which workers join, as nats://HOST:4222; listen://HOST:PORT starts one here")
	f.StringVar(&o.Creds, "nats-creds", "", "file of credentials for --nats")
	f.StringVar(&o.Pin, "nats-pin", "",
		"fingerprint of the certificate of --nats, its SHA-256 (default: the system's authorities)")
	f.StringVar(&o.JoinFile, "join-file", "",
		"file of the join string for 'benchtop worker': written for its user alone, or read if it is there")
}

// check reports problems of the flags.
func (o *Fleet) check(load *Load, series *Series) (p usage.Problems) {
	o.Size, o.Hosts = 0, nil
	if o.workers == "" {
		for _, f := range []struct{ name, value string }{{"nats", o.NATS}, {"nats-creds", o.Creds}, {"nats-pin", o.Pin},
			{"join-file", o.JoinFile}} {
			p.BadIf(f.value != "", "--%s: needs --workers, their number", f.name)
		}
		return p
	}
	if n, err := strconv.Atoi(o.workers); err == nil {
		o.Size = n
	} else {
		for host := range strings.SplitSeq(o.workers, ",") {
			name, found := strings.CutPrefix(strings.TrimSpace(host), "ssh://")
			p.BadIf(!found || name == "", "--workers %s: expected a number, or ssh://HOST,ssh://HOST",
				usage.Quote(host))
			o.Hosts = append(o.Hosts, strings.TrimSpace(host))
		}
		o.Size = len(o.Hosts)
		p.BadIf(o.JoinFile != "", "--join-file: workers that ssh starts get the join string from here")
	}
	p.BadIf(o.Size < 1 || o.Size > mostWorkers, "--workers %d: must be from 1 to %d", o.Size, mostWorkers)
	p.BadIf(load.Part.N > 0, "--workers and --part: choose one; workers have parts by themselves")
	p.BadIf(series.Many(), "--workers: takes one run; leave out what makes several")
	load.Part.Part = metrics.Part{N: max(1, o.Size)}
	return p
}

// mostWorkers bounds a fleet to what one machine can follow.
const mostWorkers = 1000

// ownFlags are those of the machine that leads a run: the others need none of them.
var ownFlags = []string{"workers", "nats", "nats-creds", "nats-pin", "join-file", "no-tui", "exit-on-finish", "ascii",
	"mouse", "quiet", "color", "theme", "on-hangup", "record", "progress", "bandwidth", "baseline", "prometheus",
	"plot-timeline", "timeline-itl-thresholds", "html", "plot-dataset-stats", "no-plots", "json", "export",
	"output-json", "no-save", "save-result", "append-result", "no-clobber", "num-warmups", "profile",
	"profile-batch-threshold", "profile-duration", "ready-check-timeout-sec"}

// keys are variables of the environment that flags need not name.
var keys = []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN"}

// ForWorkers are the flags of a run for the machines that have a part of it, and the variables that these name. Secrets
// in files become variables.
func (o *Spec) ForWorkers() (values []argv.Value, environment map[string]string, err error) {
	environment = map[string]string{}
	for _, name := range keys {
		if value := os.Getenv(name); value != "" {
			environment[name] = value
		}
	}
	var p usage.Problems
	hidden := map[string]bool{"header": true, "api-key": true}
	for _, v := range o.Values() {
		base, _, _ := strings.Cut(v.Name, ".")
		if slices.Contains(ownFlags, base) {
			continue
		}
		v.Where = argv.Place{}
		v.Texts = append([]string(nil), v.Texts...)
		for i, text := range v.Texts {
			if hidden[base] {
				v.Texts[i] = carried(&p, text, environment)
			}
		}
		values = append(values, v)
	}
	if len(p) > 0 {
		return nil, nil, p[0]
	}
	return values, environment, nil
}

// carried is the value of a flag, perhaps KEY=VALUE, that refers to a variable instead of a file. The environment gets
// the variables.
func carried(p *usage.Problems, text string, environment map[string]string) string {
	before, value := "", text
	if i := strings.IndexByte(text, '='); i >= 0 && !secret.Reference.MatchString(text) {
		before, value = text[:i+1], text[i+1:]
	}
	part := secret.Reference.FindStringSubmatch(value)
	switch {
	case part == nil, strings.HasPrefix(part[2], "@"):
		return text
	case part[2] == "":
		environment[part[3]] = os.Getenv(part[3])
		return text
	}
	b, err := os.ReadFile(part[2])
	p.BadIf(err != nil, "%v", err)
	name := "BENCHTOP_SECRET_" + strconv.Itoa(len(environment))
	environment[name] = strings.TrimSpace(string(b))
	return before + part[1] + "$" + name
}
