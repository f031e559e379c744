package telemetry

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// longestPage is far beyond the page of any server: 50 MB.
	longestPage = 50_000_000
	// longestLine is far beyond a line with a counter; longer ones are passed over.
	longestLine = 64 << 10
)

var (
	errTooLong = fmt.Errorf("the page is longer than %d MB", longestPage/1_000_000)
	errWebPage = errors.New("it is a web page, not Prometheus text")
)

// eachLine hands over the lines of Prometheus text that are not empty, without blanks around them; each is valid until the
// next. Whoever gets them parses only those that begin with a name that matters, each for itself, so that nothing else on the
// page can spoil them and a page costs no more memory than its longest line. It returns how many bytes it read.
func eachLine(page io.Reader, take func(line []byte)) (int64, error) {
	limited := &io.LimitedReader{R: page, N: longestPage + 1}
	lines := bufio.NewReaderSize(limited, longestLine)
	first := true
	read := func() int64 { return longestPage + 1 - limited.N }
	for {
		line, err := lines.ReadSlice('\n')
		whole := true
		for errors.Is(err, bufio.ErrBufferFull) {
			whole = false
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return read(), err
		}
		if limited.N <= 0 {
			return read(), errTooLong
		}
		if line = bytes.TrimSpace(line); whole && len(line) > 0 {
			if first && line[0] == '<' {
				return read(), errWebPage
			}
			first = false
			take(line)
		}
		if err == io.EOF {
			return read(), nil
		}
	}
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

// The names are tested in this order, as some are the beginning of others.

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
