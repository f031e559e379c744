package simulator

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestParseFault(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Fault
	}{
		{"reset", Fault{Kind: FaultReset, After: 1}},
		{"truncate,after=0", Fault{Kind: FaultTruncate}},
		{"crlf", Fault{Kind: FaultCRLF}},
		{"stall", Fault{Kind: FaultStall, After: 1}},
		{"stall=1m30s,after=5,from=10,to=20,every=2,share=0.5",
			Fault{Kind: FaultStall, Arg: int64(90 * time.Second), After: 5, From: 10, To: 20, Every: 2, Share: 0.5}},
		{"status=503,every=3", Fault{Kind: FaultStatus, Arg: 503, Every: 3}},
		{"coalesce=8", Fault{Kind: FaultCoalesce, Arg: 8}},
		{"refuse", Fault{Kind: FaultRefuse}},
		{"loop=8,after=4", Fault{Kind: FaultLoop, Arg: 8, After: 4}},
	} {
		assert.Equal(t, assert.Must(ParseFault(tt.text))(t), tt.want, "%s", tt.text)
	}
	for text, words := range map[string]string{
		"":                        `unknown fault ""; use one of refuse,`,
		"rest":                    `unknown fault "rest"`,
		"status":                  "fault status: needs an HTTP status from 400 to 599",
		"status=200":              "needs an HTTP status from 400 to 599",
		"status=four":             "status=four: needs an HTTP status",
		"slow-headers":            "needs a time up to a day",
		"slow-headers=5":          "needs a time up to a day",
		"stall=0s":                "takes a time up to a day",
		"stall=25h":               "takes a time up to a day",
		"reset=3":                 "reset=3: takes no value",
		"coalesce=1":              "needs a number of events from 2",
		"crlf,after=2":            "after=2: crlf does not wait for tokens",
		"reset,after=-1":          `"after=-1" in "reset,after=-1": expected a whole number from 0`,
		"reset,every=0":           "expected a whole number from 1",
		"reset,evry=2":            "unknown; use after, every, from, to or share",
		"reset,":                  `"" in "reset,": unknown`,
		"reset,share=0":           "expected a number above 0 and at most 1",
		"reset,share=1.5":         "share=1.5: must be above 0 and at most 1",
		"reset,share=NaN":         "must be above 0 and at most 1",
		"reset,from=5,to=4":       "to=4: must not be below from=5",
		"reset,every=2,every=3":   "every is given twice",
		"status=200,share=7,to=1": "share=7", // all problems at once
	} {
		_, err := ParseFault(text)
		assert.Fails(t, text, err, words)
	}
}

// Each kind can be written as its usage says.
func TestFaultKindsCanBeParsed(t *testing.T) {
	for i, k := range FaultKinds() {
		text := strings.NewReplacer("[", "", "]", "", "TIME", "1s", "CODE", "500", "TOKENS", "2", "=N",
			"=2").Replace(k.Usage)
		assert.Equal(t, assert.Must(ParseFault(text))(t).Kind, faultRules()[i].kind, "%s", text)
	}
}

func TestProfileChecksSpeculation(t *testing.T) {
	p := Defaults()
	p.SpecTokens, p.SpecAcceptance = 40, 2
	err := p.Validate()
	for _, words := range []string{"spec acceptance is 2", "too few for max sequences 64 with 41 tokens each"} {
		assert.Fails(t, "a draft of 40 tokens", err, words)
	}
}
