package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Mix is a mixture of workloads, a flag: NAME=SHARE, separated by commas. Each workload is a file with the flags of its
// data set.
//
//	# chat.yaml
//	dataset-name: sharegpt
//	dataset-path: sharegpt.json
//	multi-turn: true
//	goodput: [ttft:500, tpot:50]
type Mix []workload

type workload struct {
	metrics.Workload
	given   string // as the user wrote it
	options *Options
}

// mostWorkloads bounds them.
const mostWorkloads = 32

func (m *Mix) String() string {
	all := metrics.Each(*m, func(w workload) string {
		return w.given + "=" + strconv.FormatFloat(w.Share, 'g', -1, 64)
	})
	return strings.Join(all, ",")
}

// Type is the form of the flag's value in the help.
func (m *Mix) Type() string { return "workload=share,..." }

// Set reads names and shares. Shares need not add up to 1.
func (m *Mix) Set(text string) error {
	var all Mix
	for item := range strings.SplitSeq(text, ",") {
		given, weight, ok := strings.Cut(strings.TrimSpace(item), "=")
		share, err := strconv.ParseFloat(weight, 64)
		if !ok || given == "" || err != nil || !(share > 0 && share <= 1e9) {
			return fmt.Errorf("%q: expected WORKLOAD=SHARE, such as chat=0.7,rag=0.3", item)
		}
		w := workload{given: given,
			Workload: metrics.Workload{Name: strings.TrimSuffix(filepath.Base(given), filepath.Ext(given)),
				Share: share}}
		if slices.ContainsFunc(all, func(o workload) bool { return o.Name == w.Name }) {
			return fmt.Errorf("workload %s is given twice", w.Name)
		}
		if strings.ContainsAny(w.Name, ",=") || w.Name == "" {
			return fmt.Errorf("%q: the name of a workload has no comma", w.Name)
		}
		if all = append(all, w); len(all) > mostWorkloads {
			return fmt.Errorf("more than %d workloads", mostWorkloads)
		}
	}
	*m = all
	return nil
}

// Workloads are those of the mixture, for the plan of a run, with shares that add up to 1; nil for none.
func (o *Options) Workloads() []metrics.Workload {
	sum := 0.0
	for _, w := range o.mix {
		sum += w.Share
	}
	return metrics.Each(o.mix, func(w workload) metrics.Workload {
		return metrics.Workload{Name: w.Name, Share: w.Share / sum, Goodput: w.Goodput}
	})
}

// read reads the files of the workloads and checks them. seed and load are those of the run.
func (m Mix) read(given *pflag.FlagSet, load shape.Shape, seed int64, searching bool,
	to protocol.Protocol) (p usage.Problems) {
	own := argv.Flags{}
	(&Options{}).Define(&own)
	own.VisitAll(func(f *pflag.Flag) {
		p.BadIf(given.Changed(f.Name) && !slices.Contains(wholeRun, f.Name) && f.Name != "max-model-len",
			"--mix and --%s: choose one; each workload's file has its own", f.Name)
	})
	for i := range m {
		w := &m[i]
		for _, err := range w.read(load, seed, searching, to) {
			p.Bad("--mix, workload %s: %w", w.Name, err)
		}
	}
	return p
}

// read reads the file and checks it. Each problem has its place.
func (w *workload) read(load shape.Shape, seed int64, searching bool, to protocol.Protocol) usage.Problems {
	path, err := w.find()
	if err != nil {
		return usage.Problems{err}
	}
	values, problems := argv.ReadFile(path, "")
	w.options = &Options{}
	flags := argv.Flags{Synopsis: "workload"}
	w.options.Define(&flags)
	f := flags.Group("Report")
	f.Var((*argv.Objectives)(&w.Goodput), "goodput", "objectives of its requests")
	_ = f.SetAnnotation("goodput", argv.Variadic, nil)
	for _, name := range ofRun {
		f.String(name, "", "") // to be refused
	}
	problems = argv.ByLine(append(problems, flags.Apply(values)...))
	all := flags.All()
	for _, name := range slices.Concat(wholeRun, ofRun) {
		problems.BadIf(all.Changed(name), "--%s: give it on the command line, for the whole run", name)
	}
	for _, name := range []string{"repeat-count", "self-timed"} {
		problems.BadIf(all.Changed(name), "--%s: a workload of a mixture cannot have it", name)
	}
	if errors.Join(problems...) == nil { // else a file could name its own mixture
		w.options.noSelfTimed = w.options.Needs().Timed // the load of the run sets the times
		problems = w.options.Check(all, load, seed, searching, to)
	}
	places := map[string]string{"": path}
	for _, v := range values {
		places[argv.Dashes(v.Name)] = v.Where.String()
	}
	return argv.Placed(problems, places)
}

// wholeRun are flags of prompts that all workloads share, ofRun others that a file may be thought to have.
var (
	wholeRun = []string{"mix", "tokenizer", "skip-tokenizer-init", "session-header", "echo-header",
		"send-conversation-id"}
	ofRun = []string{"seed", "num-prompts", "request-rate", "max-concurrency"}
)

// find is the path of the file: the one given, or with an ending of YAML or JSON.
func (w *workload) find() (string, error) {
	for _, ending := range argv.WorkloadEndings {
		if info, err := os.Stat(w.given + ending); err == nil && !info.IsDir() {
			return w.given + ending, nil
		}
	}
	return "", fmt.Errorf("no file %s.yaml, with the flags of its data set such as 'dataset-name: random'", w.given)
}

// needs are those of all workloads together. The length of answers, and whether they go on to it, is each workload's
// own.
func (m Mix) needs() (n datasets.Needs) {
	n.Ends, n.Shares = true, true
	for _, w := range m {
		if w.options == nil {
			continue
		}
		own := w.options.Needs()
		n.Forms |= own.Forms
		n.Counts, n.MustCount, n.Template = n.Counts || own.Counts, n.MustCount || own.MustCount,
			n.Template || own.Template
		n.Sessions = n.Sessions || own.Sessions || w.options.MultiTurn.On
		n.Ends = n.Ends && own.Ends
	}
	return n
}

// mixSeed sets the draws of workloads apart from others of the same seed.
const mixSeed = 0x316f

// mixed opens the workloads and draws from them by their shares.
func (d *Drawing) mixed(ctx context.Context) (datasets.Flow, error) {
	s := &mixture{conversations: d.Options.mix.needs().Sessions,
		draws: rand.New(rand.NewPCG(uint64(d.common.Seed), mixSeed))}
	for _, w := range d.Options.Workloads() {
		s.all = append(s.all, mixPart{name: w.Name, share: w.Share})
	}
	counts := make([]int, len(s.all))
	if !d.common.Endless {
		s.order = make([]uint8, d.common.Prompts)
		for i := range s.order {
			s.order[i] = uint8(s.draw())
			counts[s.order[i]]++
		}
	}
	full := d.Server.Protocol.Traits().FullLength
	for i, w := range d.Options.mix {
		sub := *d
		sub.Options = w.options
		sub.common = w.options.Common
		sub.common.Forms, sub.common.NoAnswers, sub.common.Endless, sub.common.Sharing = d.common.Forms,
			d.common.NoAnswers, d.common.Endless, d.common.Sharing
		sub.common.IDPrefix = d.common.IDPrefix + datasets.HeaderText(w.Name) + "-"
		sub.common.Asked, sub.common.Prompts = true, max(1, counts[i])
		flow, err := sub.flow(ctx)
		if err == nil {
			flow, _, err = sub.sending(flow)
		}
		if err != nil {
			return flow, fmt.Errorf("workload %s: %w", w.Name, err)
		}
		s.all[i].Flow, s.all[i].full = flow, full && w.options.Needs().FullLength
	}
	left := metrics.Each(s.all, func(flow mixPart) int { return flow.Len })
	// a data set may have fewer than were asked for
	s.order = slices.DeleteFunc(s.order, func(i uint8) bool { left[i]--; return left[i] < 0 })
	return s.flow(), nil
}

// mixture takes conversations of several workloads.
type mixture struct {
	all []mixPart
	// conversations says that a workload has conversations, so that all requests are turns.
	conversations bool
	order         []uint8 // of the workloads; nil to draw it
	taken         int
	draws         *rand.Rand
}

// mixPart is a workload with its share, from 0 to 1.
type mixPart struct {
	datasets.Flow
	name  string
	share float64
	full  bool // answers go on to the length that is asked for
}

func (s *mixture) flow() datasets.Flow {
	f := datasets.Flow{Next: s.next, Len: len(s.order), Close: func() {
		for _, flow := range s.all {
			flow.End()
		}
	}}
	counts := make([]int, len(s.all))
	for _, i := range s.order {
		counts[i]++
	}
	var about []string
	for i, flow := range s.all {
		if counts[i] > 0 {
			f.Turns += cmp.Or(flow.Turns, counts[i])
		}
		about = append(about, fmt.Sprintf("%s %.3g %% (%s)", flow.name, 100*flow.share, flow.About))
	}
	f.About = "mix of " + strings.Join(about, ", ")
	return f
}

// draw picks a workload by the shares.
func (s *mixture) draw() int {
	at := s.draws.Float64()
	for i, w := range s.all {
		if at -= w.share; at < 0 {
			return i
		}
	}
	return len(s.all) - 1
}

// next is the next conversation. One that its workload does not have, since it was too long, is left out.
func (s *mixture) next() (datasets.Conversation, error) {
	for {
		var i int
		switch {
		case s.order == nil:
			i = s.draw()
		case s.taken == len(s.order):
			return datasets.Conversation{}, io.EOF
		default:
			i = int(s.order[s.taken])
		}
		s.taken++
		c, err := s.all[i].Next()
		if err == io.EOF && s.order != nil {
			continue
		}
		if err != nil {
			return c, err
		}
		if s.conversations && c.Session == "" {
			c.Session = c.ID // one of a turn, among others
		}
		c.Turns = slices.Clone(c.Turns)
		for k := range c.Turns {
			c.Turns[k].AddClass(s.all[i].name)
			if s.all[i].full {
				c.Turns[k].AddField("ignore_eos", "true")
			}
		}
		return c, nil
	}
}
