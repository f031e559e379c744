package offline

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/metrics"
)

// Throughput is the result of a set of requests that were all sent at once.
type Throughput struct {
	Model        string
	Requests     int // prompts that were answered; several answers to one count once
	Failed       int // requests
	PromptTokens int
	OutputTokens int
	// Elapsed is from the first byte sent to the last byte of the last answer, without the time that a paused server
	// was given to take the requests in.
	Elapsed time.Duration
	// Engine is from the end of a pause to the last byte of the last answer; 0 where the server was not paused.
	Engine   time.Duration
	Server   Server
	Streamed bool
	PerList  int // prompts in a request, 1 for one each
	Pictures bool
	Command  []string // that may be shown
	// Interrupted says why fewer requests were measured than planned, "" if all were.
	Interrupted string
}

// Server is the server of a measurement.
type Server struct {
	Address string
	Command []string // that started it and may be shown; nil for one that ran already
}

// ThroughputOf is the result of a run. Its tokens are those of the report; resumed is the end of the pause,
// metrics.Never without one.
func ThroughputOf(r *metrics.Report, s Span, resumed time.Duration) Throughput {
	t := Throughput{Model: r.Plan.ModelID, Requests: r.Inputs, Failed: r.Failed, PromptTokens: r.InputTokens,
		OutputTokens: r.OutputTokens, Elapsed: s.Ended - s.FirstSent}
	if resumed != metrics.Never && resumed < s.Ended {
		t.Engine = s.Ended - resumed
		t.Elapsed = s.LastSent - s.FirstSent + t.Engine
	}
	t.Elapsed = max(t.Elapsed, 0)
	return t
}

func (t *Throughput) perSecond(n int) float64 {
	return metrics.PerSecond(float64(n), t.Elapsed.Seconds())
}

// figures are vLLM's, by its keys.
func (t *Throughput) figures() []export.Arg {
	return []export.Arg{
		{Name: "elapsed_time", Value: t.Elapsed.Seconds()},
		{Name: "num_requests", Value: t.Requests},
		{Name: "total_num_tokens", Value: t.PromptTokens + t.OutputTokens},
		{Name: "requests_per_second", Value: t.perSecond(t.Requests)},
		{Name: "tokens_per_second", Value: t.perSecond(t.PromptTokens + t.OutputTokens)},
	}
}

// JSON writes the result with vLLM's keys, and all else below "benchtop".
func (t *Throughput) JSON(w io.Writer, version string) error {
	own := []export.Arg{
		{Name: "version", Value: version},
		{Name: "command", Value: t.Command},
		{Name: "server", Value: t.Server.args()},
		{Name: "definitions", Value: []export.Arg{{Name: "elapsed_time", Value: t.clock()}}},
		{Name: "output_tokens_per_second", Value: t.perSecond(t.OutputTokens)},
		{Name: "prompt_tokens", Value: t.PromptTokens},
		{Name: "output_tokens", Value: t.OutputTokens},
		{Name: "failed_requests", Value: t.Failed},
		{Name: "engine_time", Value: known(t.Engine)},
		{Name: "prompts_per_request", Value: t.PerList},
		{Name: "streamed", Value: t.Streamed},
		{Name: "interrupted", Value: t.Interrupted},
	}
	return export.Indented(w, append(append([]export.Arg{{Name: "model_id", Value: t.Model}}, t.figures()...),
		export.Arg{Name: "benchtop", Value: own}))
}

// PyTorch writes the result in the format of PyTorch's benchmark database. File is the name of the result's file.
func (t *Throughput) PyTorch(w io.Writer, args []export.Arg, file string) error {
	all := t.figures()
	return export.PyTorchFigures(w, args, file, all[3:], all[:3])
}

// clock says what the elapsed time is.
func (t *Throughput) clock() string {
	if t.Engine > 0 {
		return "first byte sent to last request sent, and end of the pause to the last byte of the last answer"
	}
	return "first byte sent to the last byte of the last answer"
}

// Text writes the result as vLLM does, and below it how it was measured and what differs from a measurement in the
// engine's process.
func (t *Throughput) Text(w io.Writer) error {
	p := &printer{w: w}
	p.line("Throughput: %.2f requests/s, %.2f total tokens/s, %.2f output tokens/s", t.perSecond(t.Requests),
		t.perSecond(t.PromptTokens+t.OutputTokens), t.perSecond(t.OutputTokens))
	p.line("Total num prompt tokens:  %d", t.PromptTokens)
	p.line("Total num output tokens:  %d", t.OutputTokens)
	p.line("")
	p.line("Time: %.3f s, %s", t.Elapsed.Seconds(), t.clock())
	if t.Engine > 0 {
		p.line("Of it after the pause: %.3f s, %.2f requests/s, %.2f output tokens/s", t.Engine.Seconds(),
			metrics.PerSecond(float64(t.Requests), t.Engine.Seconds()),
			metrics.PerSecond(float64(t.OutputTokens), t.Engine.Seconds()))
	}
	if t.Interrupted != "" {
		p.line("Interrupted: %s", t.Interrupted)
	}
	if t.Failed > 0 {
		p.line("%d requests failed and are not counted", t.Failed)
	}
	if t.Pictures {
		p.line("Tokens of images and videos are in the prompt tokens only if the server counts them")
	}
	p.differences(t.Server, nil)
	return p.err
}

// printer writes lines until an error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", a...)
	}
}

// differences are those from vLLM's benchmarks, which run in the engine's process.
func (p *printer) differences(s Server, oneToken []time.Duration) {
	p.line("")
	p.line("Measured over HTTP at %s. A measurement in the engine's process differs:", s.Address)
	if m := median(oneToken); m != nil {
		p.line("- HTTP, JSON and the API server are in the time: an idle server takes %.2f ms for a request of one "+
			"token", 1000*m.(float64))
	} else {
		p.line("- HTTP, JSON and the API server are in the time")
	}
	p.line("- the server turns tokens into text; this cannot be switched off")
	if !s.sizesBatch() {
		p.line("- in process, larger --max-num-batched-tokens and --max-num-seqs are the default than in 'vllm " +
			"serve'; see docs/offline.md")
	}
}

// batchSizes are the flags of the server that limit a batch.
var batchSizes = []string{"--max-num-batched-tokens", "--max-num-seqs"}

// sizesBatch reports whether the command of the server sets the limits of a batch.
func (s Server) sizesBatch() bool {
	return !slices.ContainsFunc(batchSizes, func(flag string) bool {
		return !slices.ContainsFunc(s.Command, func(word string) bool {
			name, _, _ := strings.Cut(strings.ReplaceAll(word, "_", "-"), "=")
			return name == flag
		})
	})
}

// args are the server in a result.
func (s Server) args() []export.Arg {
	return []export.Arg{{Name: "address", Value: s.Address}, {Name: "command", Value: s.Command}}
}

// known is a time in seconds, nil for none.
func known(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.Seconds()
}

// median is in seconds, nil for no times, which are sorted.
func median(sorted []time.Duration) any {
	if len(sorted) == 0 {
		return nil
	}
	return metrics.StatisticOf(seconds(sorted), nil).Median / 1000
}

func seconds(all []time.Duration) []float64 {
	return metrics.Each(all, func(d time.Duration) float64 { return d.Seconds() })
}
