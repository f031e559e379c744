package spec

import (
	"errors"
	"fmt"
	"regexp"
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
		"users who hang up, counted apart from failures: a share of them in the middle of the answer, as 5%; those "+
			"without a token in time, as 'ttft>10s'; or both, as '5%,ttft>10s'")
	f.Var(&o.retry, "retry",
		"backoff: users try again after 429, 503 and refused connections, when Retry-After says or after pauses that "+
			"grow; bounds of the tries and of the time until the last follow, as backoff,tries=5,most=30s")
	f.Var(&o.readRate, "read-rate", "the most that a user reads in a second, as 20tok/s or 4KB/s; times are of "+
		"what is read (default: all that comes)")
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
func (v *abandon) Type() string   { return "when" }

func (v *abandon) Set(s string) error {
	out := abandon{text: s}
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if limit, ok := strings.CutPrefix(item, "ttft>"); ok {
			d, err := time.ParseDuration(limit)
			if err != nil || d <= 0 || d > shape.LongestRun {
				return fmt.Errorf("%s: expected a time with its unit, as ttft>10s", usage.Quote(item))
			}
			if out.patience > 0 {
				return fmt.Errorf("%s: the time is given twice; keep one", usage.Quote(item))
			}
			out.patience = d
			continue
		}
		share, ok := strings.CutSuffix(item, "%")
		percent, err := strconv.ParseFloat(share, 64)
		if !ok || err != nil || !(percent > 0 && percent <= 100) {
			return fmt.Errorf("%s: expected 5%%, 'ttft>10s' or both, as '5%%,ttft>10s'", usage.Quote(item))
		}
		if out.share > 0 {
			return fmt.Errorf("%s: the share is given twice; keep one", usage.Quote(item))
		}
		out.share = percent / 100
	}
	*v = out
	return nil
}

// retry is a flag: backoff, with its bounds after commas.
type retry struct {
	text  string
	tries int
	most  time.Duration
}

func (v *retry) String() string { return v.text }
func (v *retry) Type() string   { return "backoff[,tries=N][,most=TIME]" }

func (v *retry) Set(s string) error {
	const mostTries, longest = 100, time.Hour
	out, given := retry{tries: 5, most: 30 * time.Second}, map[string]bool{}
	for i, item := range strings.Split(s, ",") {
		item = strings.TrimSpace(item)
		name, value, _ := strings.Cut(item, "=")
		switch {
		case given[name]:
			return fmt.Errorf("%s: %s is given twice; keep one", usage.Quote(item), usage.Quote(name))
		case i == 0 && item == "backoff":
		case i > 0 && name == "tries":
			if out.tries, _ = strconv.Atoi(value); out.tries < 2 || out.tries > mostTries {
				return fmt.Errorf("%s: tries are from 2 to %d, the first among them", usage.Quote(item), mostTries)
			}
		case i > 0 && name == "most":
			if out.most, _ = time.ParseDuration(value); out.most <= 0 || out.most > longest {
				return fmt.Errorf("%s: expected a time up to %s, as most=30s", usage.Quote(item),
					metrics.Duration(longest))
			}
		default:
			return fmt.Errorf("%s: expected backoff, or backoff,tries=5,most=30s", usage.Quote(item))
		}
		given[name] = true
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

var (
	readRateForm = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+) ?(tok|B|KB|MB)/s$`)
	readUnits    = map[string]float64{"tok": 1, "B": 1, "KB": 1e3, "MB": 1e6}
)

func (v *readRate) String() string { return v.text }
func (v *readRate) Type() string   { return "rate" }

func (v *readRate) Set(s string) error {
	m := readRateForm.FindStringSubmatch(s)
	if m == nil {
		return errors.New("expected tokens or bytes per second, as 20tok/s, 500B/s or 4KB/s")
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if n *= readUnits[m[2]]; err != nil || !(n >= 0.1 && n <= 1e9) {
		return errors.New("expected 0.1 to 1,000,000,000 tokens or bytes per second")
	}
	if *v = (readRate{text: s, bytes: n}); m[2] == "tok" {
		v.tokens, v.bytes = n, 0
	}
	return nil
}
