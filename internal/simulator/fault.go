package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// FaultHeader is the header by which a request asks for a fault of its own: its value has the form of ParseFault,
// without the choice of requests.
const FaultHeader = "X-Simulate-Fault"

// Fault is an injected failure, or an unusual but correct answer, and the choice of requests that have it. Requests for
// tokens are numbered from 1 in order of arrival, failed ones included, so a test knows how many are hit. Other
// requests are never hit and do not count. ParseFault makes one.
type Fault struct {
	Kind FaultKind
	// Arg is the kind's own argument: an HTTP status, a number of events, or a time in nanoseconds. 0 if the kind
	// has none; for some kinds, 0 means for ever.
	Arg int64
	// After is the number of tokens before it, for kinds in the middle of a stream. At most all tokens but the last
	// come before it, so that short answers are hit, too.
	After int

	// From and To are the first and the last request that may be hit; 0 for no limit.
	From, To int
	// Every takes one of so many, the last of each group, counted from From: with 3 the third, the sixth and so on. 0
	// and 1 take all.
	Every int
	// Share takes that share of the requests, above 0 and at most 1, by a draw that depends only on seed and number. 0
	// takes all.
	Share float64
}

// ParseFault reads a fault as it is written on a command line or in the header:
//
//	KIND[=ARG][,after=TOKENS][,every=N][,from=N][,to=N][,share=P]
//
// for example "status=429,every=3" or "stall=2s,after=5". FaultKinds lists the kinds. The error names the problem.
func ParseFault(text string) (Fault, error) {
	parts := strings.Split(text, ",")
	name, arg, hasArg := strings.Cut(parts[0], "=")
	rule, err := ruleOf(FaultKind(name))
	if err != nil {
		return Fault{}, err
	}
	f := Fault{Kind: rule.kind, After: rule.standard("after")}
	if hasArg {
		if f.Arg, err = rule.arg.parse(arg); err != nil {
			return Fault{}, fmt.Errorf("%s: %w", parts[0], err)
		}
	}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return Fault{}, fmt.Errorf("%s: %s is given twice", text, key)
		}
		seen[key] = true
		if err := f.option(key, value); err != nil {
			return Fault{}, fmt.Errorf("%q in %q: %w", part, text, err)
		}
	}
	if err := f.check(rule); err != nil {
		return Fault{}, err
	}
	return f, nil
}

// option sets an option behind the kind. 0 is refused where it would mean "not given".
func (f *Fault) option(key, value string) (err error) {
	if key == "share" {
		if f.Share, err = strconv.ParseFloat(value, 64); err != nil || f.Share == 0 {
			err = errors.New("expected a number above 0 and at most 1")
		}
		return err
	}
	for _, o := range f.options() {
		if key == o.name {
			if *o.value, err = strconv.Atoi(value); err != nil || *o.value < o.least {
				err = fmt.Errorf("expected a whole number from %d", o.least)
			}
			return err
		}
	}
	return errors.New("unknown; use after, every, from, to or share")
}

// faultOption is a whole number behind the kind.
type faultOption struct {
	name  string
	value *int
	least int
}

func (f *Fault) options() []faultOption {
	return []faultOption{{"after", &f.After, 0}, {"every", &f.Every, 1}, {"from", &f.From, 1}, {"to", &f.To, 1}}
}

// check reports every problem of what was read at once, or nil.
func (f Fault) check(rule faultRule) error {
	var problems []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	require(f.Arg >= rule.arg.least && f.Arg <= rule.arg.most, "%s", rule.arg.wrong)
	require(rule.tokens || f.After == 0, "after=%d: %s does not wait for tokens", f.After, f.Kind)
	require(f.To == 0 || f.To >= max(1, f.From), "to=%d: must not be below from=%d", f.To, max(1, f.From))
	require(f.Share >= 0 && f.Share <= 1, "share=%v: must be above 0 and at most 1", f.Share)
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	return nil
}

// chooses reports whether f selects among requests, which is meaningless in the header of a request.
func (f Fault) chooses() bool { return f.Every != 0 || f.From != 0 || f.To != 0 || f.Share != 0 }

// hits reports whether the request with that number has f. The seed is the profile's, mixed with f's place in its list.
func (f Fault) hits(number int, seed uint64) bool {
	first := max(1, f.From)
	switch {
	case number < first, f.To > 0 && number > f.To:
		return false
	case f.Every > 1 && (number-first+1)%f.Every != 0:
		return false
	case f.Share > 0:
		return rand.New(rand.NewPCG(seed, uint64(number))).Float64() < f.Share
	}
	return true
}

// String is the form that ParseFault reads.
func (f Fault) String() string {
	var text strings.Builder
	text.WriteString(string(f.Kind))
	rule, _ := ruleOf(f.Kind)
	if f.Arg != 0 {
		text.WriteString("=" + rule.arg.format(f.Arg))
	}
	for _, o := range f.options() {
		if *o.value != rule.standard(o.name) {
			fmt.Fprintf(&text, ",%s=%d", o.name, *o.value)
		}
	}
	if f.Share != 0 {
		text.WriteString(",share=" + strconv.FormatFloat(f.Share, 'g', -1, 64))
	}
	return text.String()
}

// duration is the argument of a kind that takes a time.
func (f Fault) duration() time.Duration { return time.Duration(f.Arg) }

// FaultKind is the kind of a fault, as written on a command line.
type FaultKind string

// The kinds; FaultKinds describes them. Those from FaultEmpty on concern streams and do not change other answers.
const (
	FaultRefuse        FaultKind = "refuse"
	FaultResetAccept   FaultKind = "reset-accept"
	FaultResetHeader   FaultKind = "reset-header"
	FaultCloseHeader   FaultKind = "close-header"
	FaultNotHTTP       FaultKind = "not-http"
	FaultStatus        FaultKind = "status"
	FaultSlowHeaders   FaultKind = "slow-headers"
	FaultEmpty         FaultKind = "empty"
	FaultReset         FaultKind = "reset"
	FaultClose         FaultKind = "close"
	FaultTruncate      FaultKind = "truncate"
	FaultErrorInStream FaultKind = "error-in-stream"
	FaultMalformed     FaultKind = "malformed"
	FaultStall         FaultKind = "stall"
	FaultSlowBody      FaultKind = "slow-body"
	FaultSplitUTF8     FaultKind = "split-utf8"
	FaultCRLF          FaultKind = "crlf"
	FaultComments      FaultKind = "comments"
	FaultCoalesce      FaultKind = "coalesce"
	FaultWrongAnswer   FaultKind = "wrong-answer"
	FaultLoop          FaultKind = "loop"
	FaultNoUsage       FaultKind = "no-usage"
	FaultNoDone        FaultKind = "no-done"
)

// argument describes the argument of a kind.
type argument struct {
	usage       string
	least, most int64
	isTime      bool
	wrong       string // the error of a wrong one
}

// longestTime is longer than any run that ends.
const longestTime = int64(24 * time.Hour)

var (
	noArgument = argument{wrong: "takes no value"}
	mayTime    = argument{"[=TIME]", 0, longestTime, true,
		"takes a time up to a day, such as 500ms or 10s, or none for ever"}
	mustTime   = argument{"=TIME", 1, longestTime, true, "needs a time up to a day, such as 500ms or 10s"}
	mayMany    = argument{"[=N]", 0, 1 << 20, false, "takes a number of requests from 1 to 1048576, or none for any"}
	mustStatus = argument{"=CODE", 400, 599, false, "needs an HTTP status from 400 to 599"}
	mustMany   = argument{"=N", 2, 1 << 20, false, "needs a number of events from 2 to 1048576"}
)

// parse reads the text behind the equals sign.
func (a argument) parse(text string) (n int64, err error) {
	if a.isTime {
		var d time.Duration
		d, err = time.ParseDuration(text)
		n = int64(d)
	} else {
		n, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || n <= 0 || a == noArgument {
		return 0, errors.New(a.wrong)
	}
	return n, nil
}

func (a argument) format(n int64) string {
	if a.isTime {
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// faultRule describes a kind.
type faultRule struct {
	kind   FaultKind
	arg    argument
	tokens bool // it comes after some tokens of a stream
	does   string
}

// faultRules are in the order of their places in an exchange.
func faultRules() []faultRule {
	return []faultRule{
		{FaultRefuse, mayTime, false,
			"the port closes for TIME, or for good; open connections close after their answers"},
		{FaultResetAccept, noArgument, false,
			"a connection is reset as it is accepted; counts connections, not requests"},
		{FaultResetHeader, noArgument, false, "the connection is reset before the first byte of an answer"},
		{FaultCloseHeader, noArgument, false, "the connection is closed before the first byte of an answer"},
		{FaultNotHTTP, noArgument, false, "the answer is not HTTP"},
		{FaultStatus, mustStatus, false, "an error with that status, 400 to 599; 429 and 503 come with Retry-After"},
		{FaultSlowHeaders, mustTime, false, "the request is read TIME later"},
		{FaultEmpty, noArgument, false, "a valid stream without output"},
		{FaultReset, noArgument, true, "the connection is reset"},
		{FaultClose, noArgument, true, "the connection is closed in the middle of the answer"},
		{FaultTruncate, noArgument, true, "the stream ends cleanly, but without finish reason and end marker"},
		{FaultErrorInStream, noArgument, true, "the stream reports an error and ends"},
		{FaultMalformed, noArgument, true, "the stream has an event of broken JSON and ends"},
		{FaultStall, mayTime, true, "the stream stalls for TIME, or for good"},
		{FaultSlowBody, mustTime, false, "each event is sent in two halves, TIME apart"},
		{FaultSplitUTF8, noArgument, false,
			"vowels become characters of two to four bytes, each cut in two by a flush"},
		{FaultCRLF, noArgument, false, "lines end in CR LF"},
		{FaultComments, noArgument, false, "each event is preceded by a comment, ': ping'"},
		{FaultCoalesce, mustMany, false, "N events are sent in one write"},
		{FaultWrongAnswer, noArgument, false, "the answer has not the form that the request asks for"},
		{FaultLoop, mayMany, true,
			"once the engine has N requests or more, the answer is its last token again and again"},
		{FaultNoUsage, noArgument, false, "usage is omitted although requested"},
		{FaultNoDone, noArgument, false, "the end marker is omitted: [DONE], response.completed or message_stop"},
	}
}

// FaultUsage describes one kind to a person.
type FaultUsage struct {
	Usage string // as "stall[=TIME],after=TOKENS"
	Does  string // a short description
}

// FaultKinds lists all kinds, for a help text.
func FaultKinds() []FaultUsage {
	var all []FaultUsage
	for _, r := range faultRules() {
		usage := string(r.kind) + r.arg.usage
		if r.tokens {
			usage += ",after=TOKENS"
		}
		all = append(all, FaultUsage{usage, r.does})
	}
	return all
}

func ruleOf(kind FaultKind) (faultRule, error) {
	var names []string
	for _, r := range faultRules() {
		if r.kind == kind {
			return r, nil
		}
		names = append(names, string(r.kind))
	}
	return faultRule{}, fmt.Errorf("unknown fault %q; use one of %s", kind, strings.Join(names, ", "))
}

// standard is the value of an option that is not given.
func (r faultRule) standard(option string) int {
	if option == "after" && r.tokens {
		return 1
	}
	return 0
}
