package simulator

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what happens. The text is what stands on a command line.
type FaultKind string

// The kinds; FaultKinds says what each does. Those from FaultEmpty on concern streams and leave other answers as they are.
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
	FaultNoUsage       FaultKind = "no-usage"
	FaultNoDone        FaultKind = "no-done"
)

// argument is what may stand behind a kind.
type argument int

const (
	noArgument argument = iota
	mayTime             // a time, or none for ever
	mustTime            // a time
	mustStatus          // an HTTP status that is an error
	mustMany            // a number of events
)

// longestTime is beyond any run that is meant to end.
const longestTime = 24 * time.Hour

// faultRule says how a kind is written and what it does.
type faultRule struct {
	kind   FaultKind
	arg    argument
	tokens bool // it strikes after some tokens of a stream
	does   string
}

// faultRules are in the order in which an exchange would meet them.
func faultRules() []faultRule {
	return []faultRule{
		{FaultRefuse, mayTime, false, "the port closes for TIME, or for good; open connections end after their answers"},
		{FaultResetAccept, noArgument, false, "a connection is reset as it is accepted; counts connections, not requests"},
		{FaultResetHeader, noArgument, false, "the connection is reset before the first byte of an answer"},
		{FaultCloseHeader, noArgument, false, "the connection is closed before the first byte of an answer"},
		{FaultNotHTTP, noArgument, false, "the answer is not HTTP"},
		{FaultStatus, mustStatus, false, "an error with that status, 400 to 599; 429 and 503 say when to come again"},
		{FaultSlowHeaders, mustTime, false, "the request is looked at TIME later"},
		{FaultEmpty, noArgument, false, "a stream without output, in order"},
		{FaultReset, noArgument, true, "the connection is reset"},
		{FaultClose, noArgument, true, "the connection is closed in the middle of the answer"},
		{FaultTruncate, noArgument, true, "the stream ends in order, but without finish reason and [DONE]"},
		{FaultErrorInStream, noArgument, true, "the stream reports an error and ends"},
		{FaultMalformed, noArgument, true, "the stream has an event of broken JSON and ends"},
		{FaultStall, mayTime, true, "nothing comes for TIME, or ever again"},
		{FaultSlowBody, mustTime, false, "each event comes in two halves, TIME apart"},
		{FaultSplitUTF8, noArgument, false, "vowels become characters of two to four bytes, each cut in two by a flush"},
		{FaultCRLF, noArgument, false, "lines end in CR LF"},
		{FaultComments, noArgument, false, "a comment, ': ping', comes before each event"},
		{FaultCoalesce, mustMany, false, "N events leave in one write"},
		{FaultNoUsage, noArgument, false, "usage is left out though it was asked for"},
		{FaultNoDone, noArgument, false, "[DONE] is left out"},
	}
}

// FaultUsage describes one kind to a person.
type FaultUsage struct {
	Usage string // as "stall[=TIME],after=TOKENS"
	Does  string // what happens, in a few words
}

// FaultKinds lists all kinds, for a help text.
func FaultKinds() []FaultUsage {
	var all []FaultUsage
	for _, r := range faultRules() {
		usage := string(r.kind)
		switch r.arg {
		case mayTime:
			usage += "[=TIME]"
		case mustTime:
			usage += "=TIME"
		case mustStatus:
			usage += "=CODE"
		case mustMany:
			usage += "=N"
		}
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
	return faultRule{}, fmt.Errorf("no fault is called %q; there are %s", kind, strings.Join(names, ", "))
}

// parseArg reads what stands behind the equals sign.
func (r faultRule) parseArg(text string) (int64, error) {
	switch r.arg {
	case mayTime, mustTime:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, r.wrong()
		}
		return int64(d), nil
	case mustStatus, mustMany:
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return 0, r.wrong()
		}
		return int64(n), nil
	}
	return 0, r.wrong()
}

func (r faultRule) checkArg(arg int64) error {
	ok := false
	switch r.arg {
	case noArgument:
		ok = arg == 0
	case mayTime:
		ok = arg >= 0 && arg <= int64(longestTime)
	case mustTime:
		ok = arg > 0 && arg <= int64(longestTime)
	case mustStatus:
		ok = arg >= 400 && arg <= 599
	case mustMany:
		ok = arg >= 2 && arg <= 1<<20
	}
	if !ok {
		return r.wrong()
	}
	return nil
}

// wrong says what argument the kind takes.
func (r faultRule) wrong() error {
	return errors.New([...]string{
		noArgument: "takes no value",
		mayTime:    "takes a time up to a day, such as 500ms or 10s, or none for ever",
		mustTime:   "needs a time up to a day, such as 500ms or 10s",
		mustStatus: "needs an HTTP status from 400 to 599",
		mustMany:   "needs a number of events from 2 to 1048576",
	}[r.arg])
}

func (r faultRule) formatArg(arg int64) string {
	if r.arg == mayTime || r.arg == mustTime {
		return time.Duration(arg).String()
	}
	return strconv.FormatInt(arg, 10)
}
