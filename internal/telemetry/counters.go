// Package telemetry observes the machines of a run. It polls the server's metrics page, reads its counters before and after the
// run, and starts and stops its profiler, with net/http and apart from the timed requests. It reads the accelerators through their
// vendor's tool. It samples the client's own process, checks the limits that the system sets it, and tunes its memory.
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

// ErrRestarted: counters of the server fell or disappeared between two scrapes, so their difference says nothing about the run.
var ErrRestarted = errors.New("the server's counters fell during the run, so it was restarted or another one answered; " +
	"what they counted is left out")

// Counters are those of a server's Prometheus page at one moment, summed over its engines and models. The zero value is a server
// without such counters.
type Counters struct {
	// spec are the counters of speculative decoding and diffusion those of diffusion decoding, by the parts of names below; nil
	// if the page has none of the kind.
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

// Scrape reads the counters from a server's Prometheus page at a complete URL. The client brings headers and TLS, ctx the time-out.
// After an error the counters are unknown, which need not stop a run; a page without any of our counters is no error.
func Scrape(ctx context.Context, client *http.Client, page string) (Counters, error) {
	var c Counters
	if _, err := fetch(ctx, client, page, c.add); err != nil {
		return Counters{}, fmt.Errorf("reading the server's counters%w", err)
	}
	return c, nil
}

// add adds a line if it is one of our counters.
func (c *Counters) add(line []byte) {
	counts, parts := &c.spec, []string{partDrafts, partDraftTokens, partPerPosition, partAccepted} // a part comes before its own prefixes
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
	} else if p, err := strconv.Atoi(string(position)); i >= 0 && err == nil && p >= 0 {
		if c.byPosition == nil {
			c.byPosition = map[int]int{}
		}
		c.byPosition[p] += int(value)
	}
}

// movedBy is the rise of each counter of either map; false if one of them fell.
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

// SpecDecode is the rise of the counters of speculative decoding until after: nil if one of the scrapes has none, or if no token
// was drafted in between. AcceptedPerPosition has a value for each position of either scrape, in ascending order. The error is
// ErrRestarted.
func (before Counters) SpecDecode(after Counters) (*metrics.SpecDecode, error) {
	if before.spec == nil {
		return nil, nil
	}
	n, rose := movedBy(before.spec, after.spec)
	if !rose || after.spec == nil {
		return nil, ErrRestarted
	}
	positions := map[int]int{}
	maps.Copy(positions, before.byPosition) // a position that is gone has counted nothing since
	maps.Copy(positions, after.byPosition)
	byPosition, rose := movedBy(before.byPosition, positions)
	switch {
	case !rose:
		return nil, ErrRestarted
	case n[partDraftTokens] == 0:
		return nil, nil
	}
	moved := &metrics.SpecDecode{Drafts: n[partDrafts], DraftTokens: n[partDraftTokens], AcceptedTokens: n[partAccepted]}
	for _, position := range slices.Sorted(maps.Keys(byPosition)) {
		if moved.Drafts > 0 { // otherwise there is no rate
			moved.AcceptedPerPosition = append(moved.AcceptedPerPosition, byPosition[position])
		}
	}
	return moved, nil
}

// Diffusion is the rise of the counters of diffusion decoding until after: nil if one of the scrapes has none, or if one of the
// counters did not move, as there is no figure without it. The error is ErrRestarted.
func (before Counters) Diffusion(after Counters) (*metrics.Diffusion, error) {
	if before.diffusion == nil {
		return nil, nil
	}
	n, rose := movedBy(before.diffusion, after.diffusion)
	if !rose || after.diffusion == nil {
		return nil, ErrRestarted
	}
	moved := metrics.Diffusion{CommittedTokens: n[partCommitted], DenoisingSteps: n[partSteps], CanvasPositions: n[partPositions]}
	if moved.CommittedTokens == 0 || moved.DenoisingSteps == 0 || moved.CanvasPositions == 0 {
		return nil, nil
	}
	return &moved, nil
}
