package spec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Users say what users do other than wait.
type Users struct {
	abandon  abandon
	retry    retry
	readRate readRate
}

func (o *Users) define(f *pflag.FlagSet) {
	f.Var(&o.abandon, "abandon",
		"users who leave: a share of them after a part of the answer, or all without a first token, as 5% or 'ttft>10s' "+
			"or '5%,ttft>10s'; counted apart from failures")
	f.Var(&o.retry, "retry",
		"backoff: users try again when the server answers 429 or 503 or refuses the connection, at first after 0.5s, or "+
			"as Retry-After says; 'backoff,tries=5,most=30s' bounds the tries and the time to the last")
	f.Var(&o.readRate, "read-rate", "how fast users read, as 20tok/s or 4KB/s; times are of what they read (default: "+
		"all at once)")
}

// check reports flags that do not go with answers in one piece.
func (o *Users) check(p *usage.Problems, whole bool) {
	p.BadIf(whole && o.abandon.share > 0,
		"--abandon %s: answers come in one piece, of which no user has a part; use 'ttft>TIME'", o.abandon.text)
	p.BadIf(whole && o.readRate.tokens > 0, "--read-rate %s: answers come in one piece; use bytes, as 4KB/s",
		o.readRate.text)
}

// slow reports whether users read at a rate.
func (o *Users) slow() bool { return o.readRate.text != "" }

func (o *Users) send(e *loadgen.Options, seed int64) {
	e.Users = loadgen.Users{Leaving: o.abandon.share, Patience: o.abandon.patience, Tries: o.retry.tries,
		Trying: o.retry.most, TokenRate: o.readRate.tokens, ByteRate: o.readRate.bytes}
	if e.Users != (loadgen.Users{}) {
		e.Users.Seed = seed
	}
}

func (o *Users) plan(p *metrics.Plan) {
	p.Abandon, p.Retry, p.ReadRate = o.abandon.text, o.retry.text, o.readRate.text
}

// abandon is a flag: SHARE%, ttft>TIME, or both separated by a comma.
type abandon struct {
	text     string
	share    float64 // of 1
	patience time.Duration
}

func (v *abandon) String() string { return v.text }
func (v *abandon) Type() string   { return "condition" }

func (v *abandon) Set(s string) error {
	out := abandon{text: s}
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		limit, patient := strings.CutPrefix(strings.ReplaceAll(item, " ", ""), "ttft>")
		share, part := strings.CutSuffix(item, "%")
		switch {
		case patient && out.patience == 0:
			d, err := time.ParseDuration(limit)
			if err != nil || d <= 0 || d > shape.LongestRun {
				return fmt.Errorf("%q: expected ttft>TIME with a unit, as ttft>10s", item)
			}
			out.patience = d
		case part && out.share == 0:
			f, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
			if err != nil || !(f > 0 && f <= 100) {
				return fmt.Errorf("%q: expected a share of more than 0%% and at most 100%%, as 5%%", item)
			}
			out.share = f / 100
		case patient || part:
			return errors.New("one share and one time are enough, as 5%,ttft>10s")
		default:
			return fmt.Errorf("%q: expected 5%%, ttft>10s or both as 5%%,ttft>10s", item)
		}
	}
	*v = out
	return nil
}

// Bounds of --retry, and its values unless they are given.
const (
	usualTries, mostTries  = 5, 100
	usualTrying, longTries = 30 * time.Second, time.Hour
)

// retry is a flag: backoff, with the bounds of it after commas.
type retry struct {
	text  string
	tries int
	most  time.Duration
}

func (v *retry) String() string { return v.text }
func (v *retry) Type() string   { return "backoff[,tries=N][,most=TIME]" }

func (v *retry) Set(s string) error {
	first, rest, more := strings.Cut(s, ",")
	if strings.TrimSpace(first) != "backoff" {
		return fmt.Errorf("%s: expected backoff, or backoff,tries=5,most=30s", usage.Quote(first))
	}
	out := retry{tries: usualTries, most: usualTrying}
	for more {
		var item string
		item, rest, more = strings.Cut(rest, ",")
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		switch name {
		case "tries":
			n, err := strconv.Atoi(value)
			if err != nil || n < 2 || n > mostTries {
				return fmt.Errorf("%s: tries are from 2 to %d, the first among them", usage.Quote(item), mostTries)
			}
			out.tries = n
		case "most":
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 || d > longTries {
				return fmt.Errorf("%s: expected a time of at most %s, as most=30s", usage.Quote(item),
					metrics.Duration(longTries))
			}
			out.most = d
		default:
			return fmt.Errorf("%s: unknown; backoff takes tries=N and most=TIME", usage.Quote(item))
		}
	}
	out.text = fmt.Sprintf("backoff,tries=%d,most=%s", out.tries, metrics.Duration(out.most))
	*v = out
	return nil
}

// readRate is a flag: a number of tokens or bytes per second.
type readRate struct {
	text          string
	tokens, bytes float64
}

// readUnits are the units of a rate of reading with their sizes: in bytes, 0 for tokens.
var readUnits = []struct {
	name  string
	bytes float64
}{{"tok/s", 0}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"B/s", 1}}

// A user reads at least slowestTokens or slowestBytes in a second.
const (
	slowestTokens, slowestBytes = 0.1, 100
	fastestRead                 = 1e9
)

func (v *readRate) String() string { return v.text }
func (v *readRate) Type() string   { return "rate" }

func (v *readRate) Set(s string) error {
	for _, unit := range readUnits {
		number, ok := strings.CutSuffix(strings.TrimSpace(s), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		least := slowestTokens
		if unit.bytes > 0 {
			n, least = n*unit.bytes, slowestBytes
		}
		if err != nil || !(n >= least && n <= fastestRead) {
			return fmt.Errorf("expected at least %gtok/s or %gB/s", slowestTokens, float64(slowestBytes))
		}
		if *v = (readRate{text: s, bytes: n}); unit.bytes == 0 {
			*v = readRate{text: s, tokens: n}
		}
		return nil
	}
	return errors.New("expected tokens or bytes per second, as 20tok/s, 500B/s or 4KB/s")
}
