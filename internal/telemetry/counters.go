// Package telemetry looks at what a run does to the machines. Of the server: what its metrics page says, once a second and
// before and after, and its profiler, which it starts and stops; that speaks net/http, beside the timed requests and never
// among them. Of the accelerators: what their vendor's tool says. Of the client: what its process uses, what the system lets
// it have, and how much memory it may take.
package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// ErrRestarted says that counters of the server fell or went away between two scrapes, so that their difference says
// nothing about the run.
var ErrRestarted = errors.New("the server's counters fell during the run, so it was restarted or another one answered; " +
	"what they counted is left out")

// Counters is what a server's Prometheus page counted at one moment, summed over its engines and models. The zero value
// is a server without such counters.
type Counters struct {
	// Nil where the page has none of the kind.
	spec      *specDecode
	diffusion *diffusion
}

// specDecode are the counters of speculative decoding.
type specDecode struct {
	drafts, draftTokens, accepted int
	// byPosition are the accepted tokens by their position in the draft.
	byPosition map[int]int
}

// diffusion are the counters of diffusion decoding.
type diffusion struct{ steps, positions, committed int }

// SpecDecode is what the counters of speculative decoding moved by until after: nil where one of the scrapes has none, or
// where no token was drafted in between. AcceptedPerPosition is by position, ascending, one for each position that either
// scrape knows. The error is ErrRestarted.
func (before Counters) SpecDecode(after Counters) (*metrics.SpecDecode, error) {
	b, a := before.spec, after.spec
	switch {
	case b == nil:
		return nil, nil
	case a == nil || a.drafts < b.drafts || a.draftTokens < b.draftTokens || a.accepted < b.accepted:
		return nil, ErrRestarted
	}
	moved := &metrics.SpecDecode{
		Drafts: a.drafts - b.drafts, DraftTokens: a.draftTokens - b.draftTokens, AcceptedTokens: a.accepted - b.accepted,
	}
	positions := maps.Clone(b.byPosition)
	maps.Copy(positions, a.byPosition)
	for _, position := range slices.Sorted(maps.Keys(positions)) {
		n, there := a.byPosition[position]
		if !there {
			n = b.byPosition[position] // none since
		}
		if n < b.byPosition[position] {
			return nil, ErrRestarted
		}
		moved.AcceptedPerPosition = append(moved.AcceptedPerPosition, n-b.byPosition[position])
	}
	if moved.DraftTokens == 0 {
		return nil, nil
	}
	if moved.Drafts == 0 {
		moved.AcceptedPerPosition = nil // no rate can be formed
	}
	return moved, nil
}

// Diffusion is what the counters of diffusion decoding moved by until after: nil where one of the scrapes has none, or
// where one of the counters did not move, without which no figure can be formed. The error is ErrRestarted.
func (before Counters) Diffusion(after Counters) (*metrics.Diffusion, error) {
	b, a := before.diffusion, after.diffusion
	switch {
	case b == nil:
		return nil, nil
	case a == nil || a.steps < b.steps || a.positions < b.positions || a.committed < b.committed:
		return nil, ErrRestarted
	}
	moved := &metrics.Diffusion{
		CommittedTokens: a.committed - b.committed, DenoisingSteps: a.steps - b.steps, CanvasPositions: a.positions - b.positions,
	}
	if moved.CommittedTokens == 0 || moved.DenoisingSteps == 0 || moved.CanvasPositions == 0 {
		return nil, nil
	}
	return moved, nil
}

// add counts a line in if it is one of our counters.
func (c *Counters) add(line []byte) {
	spec := bytes.HasPrefix(line, []byte("vllm:spec_decode"))
	if !spec && !bytes.HasPrefix(line, []byte("vllm:diffusion")) {
		return
	}
	name, value, position, ok := count(line)
	if !ok || !strings.HasSuffix(name, "_total") {
		return
	}
	if spec {
		c.addSpecDecode(name, value, position)
	} else {
		c.addDiffusion(name, value)
	}
}

func (c *Counters) addSpecDecode(name string, value int, position string) {
	if c.spec == nil {
		c.spec = &specDecode{byPosition: map[int]int{}}
	}
	switch {
	case strings.Contains(name, "num_drafts"):
		c.spec.drafts += value
	case strings.Contains(name, "num_draft_tokens"):
		c.spec.draftTokens += value
	case strings.Contains(name, "num_accepted_tokens_per_pos"):
		if p, err := strconv.Atoi(position); err == nil && p >= 0 {
			c.spec.byPosition[p] += value
		}
	case strings.Contains(name, "num_accepted_tokens"):
		c.spec.accepted += value
	}
}

func (c *Counters) addDiffusion(name string, value int) {
	if c.diffusion == nil {
		c.diffusion = &diffusion{}
	}
	switch {
	case strings.Contains(name, "num_denoising_steps"):
		c.diffusion.steps += value
	case strings.Contains(name, "num_canvas_positions"):
		c.diffusion.positions += value
	case strings.Contains(name, "num_committed_tokens"):
		c.diffusion.committed += value
	}
}

// count parses one line of Prometheus text,
//
//	name{label="value",position="3"} 12 1700000000
//
// A value that is no count, NaN for one, makes it none; a fraction is cut off. The position is the label of that name.
func count(line []byte) (name string, value int, position string, ok bool) {
	named, v, at, ok := sample(line, "position")
	if !ok || !(v >= 0 && v <= mostCounted) {
		return "", 0, "", false
	}
	return string(named), int(v), string(at), true
}

// Scrape reads a server's Prometheus page, by its whole URL. The client brings headers and TLS, ctx the time-out. An error
// means that the counters are not known, which need not stop a run; a page without any of our counters is none.
func Scrape(ctx context.Context, client *http.Client, page string) (Counters, error) {
	var c Counters
	if _, err := fetch(ctx, client, page, c.add); err != nil {
		return Counters{}, fmt.Errorf("reading the server's counters%w", err)
	}
	return c, nil
}
