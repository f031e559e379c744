// Package telemetry observes the machines of a run. It polls the server's metrics page, reads its counters before and
// after the run, and starts and stops its profiler, with net/http and apart from the timed requests. It reads the
// accelerators through their vendor's tool. It samples the client's own process, checks the limits that the system sets
// it, and tunes its memory.
package telemetry

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// ErrRestarted: counters of the server fell or disappeared between two scrapes, so their difference says nothing about
// the run.
var ErrRestarted = errors.New(
	"the server's counters dropped during the run: it restarted, or another server answered; " +
		"they are left out")

// Counters are those of a server's Prometheus page at one moment, summed over its engines and models. The zero value is
// a server without such counters.
type Counters struct {
	// spec are the counters of speculative decoding and diffusion those of diffusion decoding, by the parts of names
	// below; nil if the page has none of the kind.
	spec, diffusion map[string]int
	// byPosition are the accepted tokens by their position in the draft.
	byPosition map[int]int
}

// The significant parts of the names of vLLM's counters.
const (
	partDrafts      = "num_drafts"
	partDraftTokens = "num_draft_tokens"
	partPerPosition = "num_accepted_tokens_per_pos"
	partAccepted    = "num_accepted_tokens"

	partSteps     = "num_denoising_steps"
	partPositions = "num_canvas_positions"
	partCommitted = "num_committed_tokens"
)

// Scrape reads the counters from the Prometheus pages of servers that share a load, and adds them up. ctx brings the
// time-out. After an error the counters are unknown, which need not stop a run; a page without any of our counters is
// no error.
func Scrape(ctx context.Context, pages ...Page) (Counters, error) {
	var c Counters
	if _, err := fetchAll(ctx, pages, func(_ int, line []byte) { c.add(line) }); err != nil {
		return Counters{}, fmt.Errorf("reading the server's counters%w", err)
	}
	return c, nil
}

// add adds a line if it is one of our counters.
func (c *Counters) add(line []byte) {
	// a part comes before its own prefixes
	counts, parts := &c.spec, []string{partDrafts, partDraftTokens, partPerPosition, partAccepted}
	switch {
	case bytes.HasPrefix(line, []byte("vllm:spec_decode")):
	case bytes.HasPrefix(line, []byte("vllm:diffusion")):
		counts, parts = &c.diffusion, []string{partSteps, partPositions, partCommitted}
	default:
		return
	}
	name, value, position, ok := sample(line, "position")
	if !ok || !bytes.HasSuffix(name, []byte("_total")) {
		return
	}
	if *counts == nil {
		*counts = map[string]int{}
	}
	i := slices.IndexFunc(parts, func(part string) bool { return bytes.Contains(name, []byte(part)) })
	if i >= 0 && parts[i] != partPerPosition {
		(*counts)[parts[i]] += int(value)
	} else if p, err := strconv.Atoi(string(position)); i >= 0 && err == nil && p >= 0 && p < mostPositions {
		if c.byPosition == nil {
			c.byPosition = map[int]int{}
		}
		c.byPosition[p] += int(value)
	}
}

// movedBy is the rise of each counter of either map; nil if there were none before. The error is ErrRestarted if one
// fell or all are gone.
func movedBy[K comparable](before, after map[K]int) (moved map[K]int, err error) {
	switch {
	case before == nil:
		return nil, nil
	case after == nil:
		return nil, ErrRestarted
	}
	moved = maps.Clone(after)
	for key, n := range before {
		if moved[key] < n {
			return nil, ErrRestarted
		}
		moved[key] -= n
	}
	return moved, nil
}

// SpecDecode is the rise of the counters of speculative decoding until after: nil if one of the scrapes has none, or if
// no token was drafted in between. AcceptedPerPosition has a value for each position of either scrape, in ascending
// order. The error is ErrRestarted.
func (before Counters) SpecDecode(after Counters) (*metrics.SpecDecode, error) {
	n, err := movedBy(before.spec, after.spec)
	if n == nil {
		return nil, err
	}
	was := map[int]int{}
	maps.Copy(was, before.byPosition)
	positions := maps.Clone(was) // a position that is gone has counted nothing since
	maps.Copy(positions, after.byPosition)
	byPosition, err := movedBy(was, positions)
	if err != nil || n[partDraftTokens] == 0 {
		return nil, err
	}
	moved := &metrics.SpecDecode{Drafts: n[partDrafts], DraftTokens: n[partDraftTokens],
		AcceptedTokens: n[partAccepted]}
	for _, position := range slices.Sorted(maps.Keys(byPosition)) {
		if moved.Drafts > 0 { // otherwise there is no rate
			moved.AcceptedPerPosition = append(moved.AcceptedPerPosition, byPosition[position])
		}
	}
	return moved, nil
}

// Diffusion is the rise of the counters of diffusion decoding until after: nil if one of the scrapes has none, or if
// one of the counters did not move, as there is no figure without it. The error is ErrRestarted.
func (before Counters) Diffusion(after Counters) (*metrics.Diffusion, error) {
	n, err := movedBy(before.diffusion, after.diffusion)
	if n == nil {
		return nil, err
	}
	moved := metrics.Diffusion{CommittedTokens: n[partCommitted], DenoisingSteps: n[partSteps],
		CanvasPositions: n[partPositions]}
	if moved.CommittedTokens == 0 || moved.DenoisingSteps == 0 || moved.CanvasPositions == 0 {
		return nil, nil
	}
	return &moved, nil
}

const (
	// longestPage is far beyond the page of any server: 50 MB.
	longestPage = 50_000_000
	// longestLine is far beyond a line with a counter; longer ones are skipped.
	longestLine = 64 << 10
)

var (
	errTooLong = fmt.Errorf("the page is longer than %d MB", longestPage/1_000_000)
	errWebPage = errors.New("a web page, not Prometheus text")
)

// eachLine passes the lines of Prometheus text to take, trimmed and without empty ones; each is valid until the next.
// Its caller parses only lines that begin with a significant name, each on its own, so that nothing else on the page
// can spoil them and a page costs no more memory than its longest line.
func eachLine(page *io.LimitedReader, take func(line []byte)) error {
	lines := bufio.NewReaderSize(page, longestLine)
	first := true
	for {
		line, err := lines.ReadSlice('\n')
		whole := true
		for errors.Is(err, bufio.ErrBufferFull) {
			whole = false
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return err
		}
		if page.N <= 0 {
			return errTooLong
		}
		if line = bytes.TrimSpace(line); whole && len(line) > 0 {
			if first && line[0] == '<' {
				return errWebPage
			}
			first = false
			take(line)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// limited is a page with a limit on its length.
func limited(page io.Reader) *io.LimitedReader { return &io.LimitedReader{R: page, N: longestPage + 1} }

// mostPositions is far beyond the tokens of a draft.
const mostPositions = 1000

// mostCounted is beyond any counter, and small enough to sum a page of them.
const mostCounted = 1e12

// sample parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000 # {trace_id="of an exemplar"} 1
//
// with the value of a label. Name and label are slices of the line. It rejects values that are no count, such as NaN
// and the -1 of some servers for unknown. The common library for the format depends on protocol buffers, which would
// make the program a fifth larger.
func sample(line []byte, label string) (name []byte, value float64, labelled []byte, ok bool) {
	name, line = sampleName(line)
	if name == nil {
		return nil, 0, nil, false
	}
	if line[0] == '{' {
		if labelled, line, ok = labels(line[1:], label); !ok {
			return nil, 0, nil, false
		}
	}
	line, _, _ = bytes.Cut(line, []byte{'#'}) // before an exemplar
	fields := bytes.Fields(line)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, 0, nil, false
	}
	value, err := strconv.ParseFloat(string(fields[0]), 64)
	if len(fields) == 2 && err == nil {
		_, err = strconv.ParseFloat(string(fields[1]), 64) // a time stamp
	}
	return name, value, labelled, err == nil && value >= 0 && value <= mostCounted
}

// sampleName splits a line after its name, which is nil if there is none.
func sampleName(line []byte) (name, rest []byte) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return nil, nil
	}
	return line[:end], line[end:]
}

// labels reads labels up to the closing brace and returns the value of one of them, still escaped, and the rest of the
// line.
func labels(text []byte, want string) (value, rest []byte, ok bool) {
	for {
		text = bytes.TrimLeft(text, " \t,")
		if len(text) > 0 && text[0] == '}' {
			return value, text[1:], true
		}
		name, after, found := bytes.Cut(text, []byte{'='})
		after = bytes.TrimLeft(after, " \t")
		if !found || len(after) == 0 || after[0] != '"' {
			return nil, nil, false
		}
		end := 1
		for ; end < len(after) && after[end] != '"'; end++ {
			if after[end] == '\\' {
				end++
			}
		}
		if end >= len(after) {
			return nil, nil, false
		}
		if string(bytes.TrimSpace(name)) == want {
			value = after[1:end]
		}
		text = after[end+1:]
	}
}
