package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/metrics"
)

// rustClient is the program of vLLM's client in Rust, which its wheel has as vllm/vllm-rs. It is measured where it is
// on the PATH.
const rustClient = "vllm-rs"

// peerLoad is a load that both clients take by the same flags, which are vLLM's.
type peerLoad struct {
	name             string
	requests, chunks int
	ttft, itl        time.Duration
	flags            []string
}

// The loads whose end has a limit.
const fewRequests, manyRequests = "100 streams of 50/s", "300 streams of 50/s, 5,000 requests"

// peers measures benchtop's program and that of vLLM's client in Rust as a user has them: from the start of the process
// to its end, with the result saved, on a core of their own.
func peers(quick bool) table {
	users := func(n int) []string { return []string{"--max-concurrency", strconv.Itoa(n)} }
	const ms = time.Millisecond
	loads := []peerLoad{
		{fewRequests, 600, 64, 50 * ms, 20 * ms, users(100)},
		{"1,000 streams of 20/s", 2_000, 64, 50 * ms, 50 * ms, users(1_000)},
		{"300 streams of 100/s", 1_500, 100, 50 * ms, 10 * ms, users(300)},
		{"200 requests/s, 20/s each", 2_000, 64, 50 * ms, 50 * ms, []string{"--request-rate", "200"}},
		{"1,000 of 100/s, all at once", 1_000, 100, 50 * ms, 10 * ms, nil},
		{manyRequests, 5_000, 64, 50 * ms, 20 * ms, users(300)},
	}
	t := table{name: "peers", rounds: 3, columns: []column{
		{"ttft", "TTFT error, mean, µs", 0}, {"gap", "gap error, mean, µs", 1}, {"gap p99", "p99", 0},
		{"cpu", "CPU, s", 2}, {"memory", "memory, MB", 0}, {"exit", "last byte to exit, ms", 0}, {"wall", "wall, s", 2},
	}}
	_, missing := exec.LookPath(rustClient)
	for _, l := range loads {
		if quick {
			l.requests /= 10
		}
		own, rust := "benchtop, "+l.name, "Rust, "+l.name
		t.rows = append(t.rows, row{own, l.measure("", missing)})
		if missing != nil {
			continue
		}
		t.rows = append(t.rows, row{rust, l.measure(rustClient, nil)})
		t.limits = append(t.limits, limit{text: l.name + ": CPU ≤ 0.9 × Rust's", row: own, column: "cpu", over: rust,
			most: 0.9, unit: " ×", decimals: 2})
	}
	end := func(load string, most float64) limit {
		return limit{text: fmt.Sprintf("%s: last byte to exit ≤ %g ms", load, most), row: "benchtop, " + load,
			column: "exit", most: most, unit: " ms"}
	}
	t.limits = append(t.limits, end(fewRequests, 30), end(manyRequests, 100))
	return t
}

// measure runs a program, benchtop's for "", and compares its result with the server's log. missing says why there is
// no other client.
func (l peerLoad) measure(program string, missing error) measurement {
	return func(ctx context.Context, h *harness, _ int) (sample, error) {
		if err := metronome.ClearLog(ctx, h.base); err != nil {
			return sample{}, err
		}
		place, err := os.MkdirTemp(h.folder, "peer")
		if err != nil {
			return sample{}, err
		}
		c, err := l.command(ctx, h, program, place, "--dataset-name", "random", "--random-input-len", "16",
			"--random-output-len", strconv.Itoa(l.chunks), "--num-prompts", strconv.Itoa(l.requests))
		if err != nil {
			return sample{}, err
		}
		began := time.Now()
		if err := perform(c); err != nil {
			return sample{}, err
		}
		ended := time.Now()
		log, err := metronome.FetchLog(ctx, h.base)
		if err != nil {
			return sample{}, err
		}
		s, err := l.compare(filepath.Join(place, resultName), log)
		if err != nil {
			return sample{}, err
		}
		last := slices.MaxFunc(log, func(a, b metronome.Entry) int { return lastWrite(&a).Compare(lastWrite(&b)) })
		if missing != nil {
			s.Remarks = append(s.Remarks, remark{"vLLM's client in Rust was not measured", missing.Error()})
		}
		state := c.ProcessState
		s.Figures["exit"] = metrics.Milliseconds(ended.Round(0).Sub(lastWrite(&last)))
		s.Figures["wall"] = ended.Sub(began).Seconds()
		s.Figures["cpu"] = (state.UserTime() + state.SystemTime()).Seconds()
		if resident := mostResident(state); resident > 0 {
			s.Figures["memory"] = float64(resident) / 1e6
		}
		return s, nil
	}
}

func lastWrite(e *metronome.Entry) time.Time {
	if len(e.Writes) == 0 {
		return e.Arrived
	}
	return e.Writes[len(e.Writes)-1]
}

// peerID begins the ids of requests; their numbers follow.
const (
	peerID     = "peer-"
	resultName = "result.json"
)

// perform runs a command to its end. The error has the end of what it wrote.
func perform(c *exec.Cmd) error {
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said[max(0, len(said)-500):])
	}
	return nil
}

// command is the run of a program that saves its result in a folder. data are the flags of its data set.
func (l peerLoad) command(ctx context.Context, h *harness, program, place string, data ...string) (*exec.Cmd, error) {
	if err := writeTokenizer(place); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{
		"serve", "--backend", "openai", "--base-url", metronome.Pace(h.base, l.ttft, l.itl), "--model", "metronome",
		"--tokenizer", place, "--request-id-prefix", peerID, "--save-result", "--save-detailed", "--result-dir", place,
		"--result-filename", resultName,
	}, data, l.flags)
	if program == "" {
		program = h.program
		args = append(args, "--no-tui")
	} else {
		args = append([]string{"bench"}, append(args, "--disable-tqdm")...)
	}
	c := h.pinned(ctx, firstCore(), program, args...)
	c.Dir = place
	return c, nil
}

// writeTokenizer writes the smallest tokenizer of text there is: a token for each byte.
func writeTokenizer(place string) error {
	vocabulary, others := map[string]int{}, 0
	for b := range 256 {
		r := rune(b)
		if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad { // these stand behind the printable ones
			r = rune(256 + others)
			others++
		}
		vocabulary[string(r)] = b
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	text, err := json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": []any{}, "pre_tokenizer": level, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []any{}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(place, "tokenizer.json"), text, 0o644)
}

// compare compares the times of a result with those of the server.
func (l peerLoad) compare(path string, log []metronome.Entry) (sample, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return sample{}, err
	}
	var result struct {
		TTFTs []float64   `json:"ttfts"` // in seconds
		ITLs  [][]float64 `json:"itls"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return sample{}, fmt.Errorf("%s: %w", path, err)
	}
	s := sample{Figures: map[string]float64{}}
	var first, gaps []time.Duration
	unmatched := 0
	for i := range log {
		e := &log[i]
		n, err := strconv.Atoi(strings.TrimPrefix(e.ID, peerID))
		if err != nil || n >= len(result.TTFTs) || n >= len(result.ITLs) || len(result.ITLs[n])+1 != len(e.Writes) {
			unmatched++
			continue
		}
		first = append(first, (seconds(result.TTFTs[n]) - e.Writes[0].Sub(e.Arrived)).Abs())
		for k, gap := range result.ITLs[n] {
			gaps = append(gaps, (seconds(gap) - e.Writes[k+1].Sub(e.Writes[k])).Abs())
		}
	}
	s.note(unmatched, "answers of the server are not in the result, or with another number of chunks")
	s.Figures["ttft"], s.Figures["gap"] = inMicros(mean(first)), inMicros(mean(gaps))
	s.Figures["gap p99"] = inMicros(calibration.QuantilesOf(gaps).P99)
	return s, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// mean of durations, 0 without any.
func mean(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(max(1, len(all)))
}
