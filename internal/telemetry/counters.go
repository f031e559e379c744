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

	"benchtop/metrics"
)

// ErrRestarted says that counters of the server fell or went away between two scrapes, so that their difference says
// nothing about the run.
var ErrRestarted = errors.New("the server's counters fell during the run, so it was restarted or another one answered; " +
	"what they counted is left out")

// Counters is what a server's Prometheus page counted at one moment, summed over its engines and models. The zero value
// is a server without such counters.
type Counters struct {
	// spec are the counters of speculative decoding and diffusion those of diffusion decoding, by the parts of names below; nil
	// where the page has none of the kind.
	spec, diffusion map[string]int
	// byPosition are the accepted tokens by their position in the draft.
	byPosition map[int]int
}

// The parts of the names of vLLM's counters that say what they count.
const (
	drafts      = "num_drafts"
	draftedAll  = "num_draft_tokens"
	perPosition = "num_accepted_tokens_per_pos"
	acceptedAll = "num_accepted_tokens"

	denoisingSteps  = "num_denoising_steps"
	canvasPositions = "num_canvas_positions"
	committedTokens = "num_committed_tokens"
)

// Scrape reads a server's Prometheus page, by its whole URL. The client brings headers and TLS, ctx the time-out. An error
// means that the counters are not known, which need not stop a run; a page without any of our counters is none.
func Scrape(ctx context.Context, client *http.Client, page string) (Counters, error) {
	var c Counters
	if _, err := fetch(ctx, client, page, c.add); err != nil {
		return Counters{}, fmt.Errorf("reading the server's counters%w", err)
	}
	return c, nil
}

// add counts a line in if it is one of our counters.
func (c *Counters) add(line []byte) {
	counts, parts := &c.spec, []string{drafts, draftedAll, perPosition, acceptedAll} // a part before those that it begins with
	switch {
	case bytes.HasPrefix(line, []byte("vllm:spec_decode")):
	case bytes.HasPrefix(line, []byte("vllm:diffusion")):
		counts, parts = &c.diffusion, []string{denoisingSteps, canvasPositions, committedTokens}
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
	if i >= 0 && parts[i] != perPosition {
		(*counts)[parts[i]] += int(value)
	} else if p, err := strconv.Atoi(string(position)); i >= 0 && err == nil && p >= 0 {
		if c.byPosition == nil {
			c.byPosition = map[int]int{}
		}
		c.byPosition[p] += int(value)
	}
}

// movedBy is how much counters rose, each that one of the maps has; false if one of them fell.
func movedBy[K comparable](before, after map[K]int) (moved map[K]int, rose bool) {
	moved = map[K]int{}
	maps.Copy(moved, after)
	for key, n := range before {
		if moved[key] -= n; moved[key] < 0 {
			return nil, false
		}
	}
	return moved, true
}

// SpecDecode is what the counters of speculative decoding moved by until after: nil where one of the scrapes has none, or
// where no token was drafted in between. AcceptedPerPosition is by position, ascending, one for each position that either
// scrape knows. The error is ErrRestarted.
func (before Counters) SpecDecode(after Counters) (*metrics.SpecDecode, error) {
	if before.spec == nil {
		return nil, nil
	}
	n, rose := movedBy(before.spec, after.spec)
	if !rose || after.spec == nil {
		return nil, ErrRestarted
	}
	positions := map[int]int{}
	maps.Copy(positions, before.byPosition) // one that went away counted none since
	maps.Copy(positions, after.byPosition)
	byPosition, rose := movedBy(before.byPosition, positions)
	switch {
	case !rose:
		return nil, ErrRestarted
	case n[draftedAll] == 0:
		return nil, nil
	}
	moved := &metrics.SpecDecode{Drafts: n[drafts], DraftTokens: n[draftedAll], AcceptedTokens: n[acceptedAll]}
	for _, position := range slices.Sorted(maps.Keys(byPosition)) {
		if moved.Drafts > 0 { // without, no rate can be formed
			moved.AcceptedPerPosition = append(moved.AcceptedPerPosition, byPosition[position])
		}
	}
	return moved, nil
}

// Diffusion is what the counters of diffusion decoding moved by until after: nil where one of the scrapes has none, or
// where one of the counters did not move, without which no figure can be formed. The error is ErrRestarted.
func (before Counters) Diffusion(after Counters) (*metrics.Diffusion, error) {
	if before.diffusion == nil {
		return nil, nil
	}
	n, rose := movedBy(before.diffusion, after.diffusion)
	if !rose || after.diffusion == nil {
		return nil, ErrRestarted
	}
	moved := metrics.Diffusion{CommittedTokens: n[committedTokens], DenoisingSteps: n[denoisingSteps], CanvasPositions: n[canvasPositions]}
	if moved.CommittedTokens == 0 || moved.DenoisingSteps == 0 || moved.CanvasPositions == 0 {
		return nil, nil
	}
	return &moved, nil
}
