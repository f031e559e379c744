package export

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// testdata/sample.txt is vLLM's output, typed from its documentation and never generated. One line is left out:
// benchtop needs no other program to plot.
func TestTextIsVLLMs(t *testing.T) {
	sample := assert.Must(os.ReadFile("testdata/sample.txt"))(t)
	before, after, found := strings.Cut(string(sample), "tip: install termplotlib and gnuplot to plot the metrics\n")
	if !found {
		t.Error("the sample is not whole")
	}
	run, qs := sampleRun()
	for _, detailed := range []bool{true, false} {
		run.Plan.Detailed = detailed
		if diff := cmp.Diff(before+after, Text(summarize(t, run, qs))); diff != "" {
			t.Errorf("detailed=%v (-want +got):\n%s", detailed, diff)
		}
	}
}

func TestTextLinesThatDependOnThePlan(t *testing.T) {
	absent := map[string]func(*metrics.Plan){
		"Maximum request concurrency:":     func(p *metrics.Plan) { p.MaxConcurrency = 0 },
		"Client-side Queueing":             func(p *metrics.Plan) { p.MaxConcurrency = 0 },
		"Request rate configured (RPS):":   func(p *metrics.Plan) { p.Rate = metrics.Rate(inf) },
		"Queue-inclusive End-to-end":       func(p *metrics.Plan) { p.Rate = metrics.Rate(inf) },
		"Request goodput (req/s):":         func(p *metrics.Plan) { p.Goodput = nil },
		"Time to First Token":              func(p *metrics.Plan) { p.Metrics = []metrics.Latency{metrics.E2EL} },
		"P99.9 E2EL (ms):":                 func(p *metrics.Plan) { p.Percentiles = nil },
		"Error 0: Bad Request\nError 1: x": func(p *metrics.Plan) {},
	}
	for line, change := range absent {
		run, qs := sampleRun()
		change(&run.Plan)
		assert.Lacks(t, Text(summarize(t, run, qs)), line)
	}
}

// Without a tokenizer, vLLM prints the sample run without the sections and rates that need one.
const skippedText = `============ Serving Benchmark Result ============
Successful requests:                     3         
Failed requests:                         0         
Maximum request concurrency:             1         
Request rate configured (RPS):           4.00      
Benchmark duration (s):                  1.75      
Total input tokens:                      30        
Request throughput (req/s):              1.71      
Request goodput (req/s):                 0.57      
Peak concurrent requests:                3.00      
----------------End-to-end Latency----------------
Mean E2EL (ms):                          546.67    
Median E2EL (ms):                        380.00    
P50 E2EL (ms):                           380.00    
P99.9 E2EL (ms):                         898.96    
==================================================
`

func TestTextWithoutTokenizer(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.SkipTokenizer, run.Probes, run.SpecDecode = true, nil, nil
	run.Plan.Metrics = []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL}
	assert.Same(t, "Text", Text(summarize(t, run, qs[:3])), skippedText)
	run.Plan.SkipTokenizer, run.Plan.Tokenizer = false, ""
	assert.Has(t, Text(summarize(t, run, qs[:3])), "Mean TTFT (ms):                          466.67    \n")
}

func TestTextListsTenErrors(t *testing.T) {
	run, qs := sampleRun()
	for i := range 14 {
		words := "Bad Request"
		if i%2 == 0 {
			words = "two\nlines \x1b[31mred"
		}
		qs = append(qs, refused(4+i, 1, 0, 0, words))
	}
	want := "Failed requests during benchmark run detected (capping to 10):\nError 0: Bad Request\n" +
		"Error 1: two lines red\nError 2: Bad Request\nError 3: two lines red\nError 4: Bad Request\nError 5: two " +
		"lines red\n" +
		"Error 6: Bad Request\nError 7: two lines red\nError 8: Bad Request\nError 9: two lines red\n====="
	for _, detailed := range []bool{true, false} {
		run.Plan.Detailed = detailed
		if got := Text(summarize(t, run, qs)); !strings.HasPrefix(got, want) {
			t.Errorf("detailed=%v: got:\n%s", detailed, got)
		}
	}
}

func TestTextOfDiffusion(t *testing.T) {
	run, qs := sampleRun()
	// Blocks of 480/24 = 20 positions, so 100 tokens are 5 canvases; of 24 steps 5 committed them.
	run.Diffusion = &metrics.Diffusion{CommittedTokens: 100, DenoisingSteps: 24, CanvasPositions: 480}
	got := Text(summarize(t, run, qs))
	const want = `
----------------Diffusion Decoding----------------
Committed throughput (tok/s):            57.14     
Denoising steps per canvas:              3.80      
Committed per denoising step:            5.26      
Committed tokens:                        100       
Denoising steps:                         19        
Canvas positions evaluated:              480       
==================================================
`
	if !strings.HasSuffix(got, want) || strings.Contains(got, "Speculative") {
		t.Errorf("got:\n%s", got)
	}
	for _, none := range []metrics.Diffusion{{DenoisingSteps: 24, CanvasPositions: 480},
		{CommittedTokens: 100, CanvasPositions: 480}} {
		run.Diffusion = &none
		if got := Text(summarize(t, run, qs)); strings.Contains(got, "Diffusion") ||
			!strings.Contains(got, "Speculative") {
			t.Errorf("%+v: got:\n%s", none, got)
		}
	}
	run.Diffusion = &metrics.Diffusion{CommittedTokens: 100, DenoisingSteps: 24} // inconsistent counters
	assert.Has(t, Text(summarize(t, run, qs)), "Denoising steps per canvas:              nan       \n")
}

func TestTextOfDraftsWithoutPositions(t *testing.T) {
	run, qs := sampleRun()
	run.SpecDecode = &metrics.SpecDecode{DraftTokens: 12, AcceptedTokens: 6, AcceptedPerPosition: []int{3}}
	got := Text(summarize(t, run, qs))
	if !strings.Contains(got,
		"Acceptance length:                       0.00      \nDrafts:                                  0         \n") ||
		strings.Contains(got, "osition") {
		t.Errorf("no drafts counted: got:\n%s", got)
	}
	run.SpecDecode = &metrics.SpecDecode{Drafts: 1}
	assert.Lacks(t, Text(summarize(t, run, qs)), "Speculative")
}

func TestTextOfProbesThatAllFailed(t *testing.T) {
	run, qs := sampleRun()
	run.Probes = &metrics.Probes{Failed: 2}
	assert.Lacks(t, Text(summarize(t, run, qs)), "robe")
}

func TestTextOfAnEmptyRun(t *testing.T) {
	got := Text(summarize(t,
		metrics.Run{Plan: metrics.Plan{Metrics: []metrics.Latency{metrics.TTFT, metrics.E2EL}, Tokenizer: "t"}}, nil))
	if !strings.Contains(got, "Mean TTFT (ms):                          0.00      \n") || strings.Contains(got, "NaN") {
		t.Errorf("got:\n%s", got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left on device")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsAreTold(t *testing.T) {
	run, qs := sampleRun()
	r := summarize(t, run, qs)
	for name, err := range map[string]error{"JSON": JSON(brokenWriter{}, r),
		"PyTorch": PyTorch(brokenWriter{}, r, nil)} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}
