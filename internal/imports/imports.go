// Package imports reads recordings of agents and batches in the formats of others, and makes sessions of them:
//
//   - agentx, the format of kv-cache-tester: a session in a file, with the hashes of the blocks of its prompts
//   - otel, spans of the GenAI conventions of OpenTelemetry, as OTLP/JSON or plain spans
//   - openai-batch, the input files of OpenAI's batch API  No format records dependencies; they follow from the times:
//   - agentx: the requests of an agent run one after the other. A sub-agent starts behind the last request of its
//     parent that began before it, and the first request of the parent that starts at its end or later waits for it
//     too. An end that was not recorded is estimated by the length of the answer.
//   - otel: a request waits for those of its agent that ended before it started, and for the sub-agents that ended
//     since. A sub-agent starts behind the last request of the agent around it that ended before.
//   - openai-batch: each line is a session of its own, without times.
//
// docs/agents.md has these rules in full. Texts are read for their lengths and beginnings, and
// kept only where that was asked for. Foreign files are data: each value, list and table is bounded.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"

	"benchtop/datasets/agents"
	"benchtop/datasets/textfile"
)

// Format is the name of a format.
type Format string

// The formats. Auto goes by the content of each file.
const (
	Auto        Format = "auto"
	AgentX      Format = "agentx"
	OTel        Format = "otel"
	OpenAIBatch Format = "openai-batch"
)

// Formats are the names that a user may give.
var Formats = []string{string(Auto), string(AgentX), string(OTel), string(OpenAIBatch)}

// DefaultBlockSize is the size of blocks in tokens where a format has none of its own.
const DefaultBlockSize = 64

// Options say how files are read.
type Options struct {
	// Format is that of all files, Auto for that of each.
	Format Format
	// BlockSize is the number of tokens in a block where a file does not say it.
	BlockSize int
	// KeepText keeps the prompts as chat messages.
	KeepText bool
	// Count counts the tokens of a text; nil estimates them from its length.
	Count func(text string) (int, error)
	// Stdin is the file "-".
	Stdin io.Reader
}

// Validate finds the first problem with the options.
func (o *Options) Validate() error {
	if o.BlockSize < 1 || o.BlockSize > agents.MaxBlockSize {
		return fmt.Errorf("a block of %d tokens; expected 1 to %d", o.BlockSize, agents.MaxBlockSize)
	}
	return nil
}

// importer is an import under way.
type importer struct {
	Options
	ctx     context.Context
	each    func(*agents.Session) error
	summary *Summary
	spans   *spans
	batch   *batch
}

// Import reads files and calls each with every session, one at a time; a session is each's own. A path is a file, a
// folder or "-" for the standard input; a file may be a tar archive, and each may be compressed with gzip or zstd. In
// folders and archives, files of other formats are passed over and counted. An error names the file and the place in
// it.
func Import(ctx context.Context, paths []string, o Options, each func(*agents.Session) error) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := &importer{Options: o, ctx: ctx, summary: &Summary{skipped: map[string]int{}, inputs: map[int]int{},
		outputs: map[int]int{}}}
	m.each = func(s *agents.Session) error {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("session %s: %w", textfile.Quote(s.Name), err)
		}
		m.summary.add(s)
		return each(s)
	}
	for _, path := range paths {
		if err := m.walk(path); err != nil {
			return m.summary, err
		}
	}
	if m.spans != nil {
		if err := m.spans.sessions(); err != nil {
			return m.summary, err
		}
	}
	if m.summary.Sessions == 0 {
		return m.summary, m.nothing()
	}
	return m.summary, nil
}

// nothing is the error of files without a session.
func (m *importer) nothing() error {
	if skipped := m.summary.skippedText(); skipped != "" {
		return fmt.Errorf("no sessions were found; skipped: %s", skipped)
	}
	return errors.New("no sessions were found; " + expected)
}

const expected = "expected a trace of kv-cache-tester (agentx), spans of OpenTelemetry (otel) or a batch file of " +
	"OpenAI (openai-batch)"
