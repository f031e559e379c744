package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// workload is a workload with a name: flags, which the user's own replace, and a control run that shows by the
// difference what is measured.
type workload struct {
	name, about string
	set         []setting
	// label and control name the run and its control; control is "" for none. change sets the control apart.
	label, Control string
	change         argv.Value
	// source names the rules of a workload that others publish with, "" for none; needs are flags of which one has to
	// be given, and samples those of a data set that is sent as a whole, 0 for no such rule.
	source  string
	needs   []string
	samples int
}

// setting is a flag of a preset, which stays away where the user gave one of some others.
type setting struct {
	flag, value string
	unless      []string
}

var workloads = slices.Concat(scripts, published())

// scripts are workloads that vLLM has a script for.
var scripts = []workload{
	{
		name: "prefix-caching", about: "prompts that come again, with the server's prefix cache and without",
		set: []setting{
			{"num-prompts", "100", nil}, {"repeat-count", "5", nil}, {"cache", "cold", nil}, {"temperature", "0", nil},
			{"random-isl-dist", "uniform min=128 max=256",
				[]string{"dataset-name", "random-input-len", "input-len", "random-range-ratio", "random-mix"}},
			{"output-len", "10", []string{"random-output-len", "random-osl-dist", "random-mix"}},
		},
		label: "prefix cache", Control: "no prefix cache", change: argv.To("cache", "none"),
	},
	{
		name: "long-document-qa", about: "long documents, each asked about twice",
		set: []setting{
			{"dataset-name", "long_document_qa", nil}, {"num-prompts", "16", nil}, {"repeat-count", "2", nil},
			{"num-warmups", "8", nil},
			{"cache", "cold", nil}, {"temperature", "0", nil},
		},
	},
	{
		name:  "structured-output",
		about: "answers in a form such as a JSON schema, with how many are correct, with the constraint and without",
		set: []setting{
			{"dataset-name", "structured_output", nil}, {"num-prompts", "1000", nil}, {"cache", "cold", nil},
			{"temperature", "0", nil},
		},
		label: "constraint", Control: "no constraint", change: argv.To("no-structured-output", "true"),
	},
	{
		name: "mm", about: "random images in chat messages, each twice, with images and without",
		set: []setting{
			{"dataset-name", "random-mm", nil}, {"backend", "openai-chat", nil}, {"num-prompts", "20", nil},
			{"repeat-count", "2", nil}, {"num-warmups", "1", nil},
			{"max-concurrency", "1", []string{"request-rate"}}, {"temperature", "0", nil}, {"cache", "cold", nil},
		},
		label: "images", Control: "no images", change: argv.To("random-mm-base-items-per-request", "0"),
	},
	{
		name: "priority", about: "two priorities, for a server with --scheduling-policy priority",
		set: []setting{
			{"priorities", "0=0.5,1=0.5", nil}, {"num-prompts", "200", nil}, {"temperature", "1", nil},
			{"ignore-eos", "true", nil},
		},
	},
}

// Preset choose a preset.
type Preset struct {
	name      string
	noControl bool
	Chosen    *workload // nil for none
	changed   []string  // flags by which the user left the rules of a published one
}

func (o *Preset) define(f *pflag.FlagSet) {
	list := metrics.Each(scripts, func(p workload) string { return fmt.Sprintf("%s (%s)", p.name, p.about) })
	f.StringVar(&o.name, "preset", "", "flags for a workload, which others replace: "+strings.Join(list, ", ")+
		"; or of a benchmark that others publish ('benchtop docs presets'): inferencex-8k1k, agentx, vllm-sharegpt, "+
		"mlperf-llama3.1-8b-server and their like")
	argv.Words(f, "preset", metrics.Each(workloads, func(w workload) string { return w.name })...)
	f.BoolVar(&o.noControl, "no-control", false, "leave out the control run of a preset")
}

// apply sets the flags of the preset, and the points that are its run and its control.
func (o *Preset) apply(flags *argv.Flags, points *Series) (p usage.Problems) {
	var names []string
	for i := range workloads {
		if names = append(names, workloads[i].name); names[i] == o.name {
			o.Chosen = &workloads[i]
		}
	}
	p.BadIf(o.noControl && o.name == "", "--no-control: needs --preset")
	if o.name == "" {
		return p
	}
	if o.Chosen == nil {
		p.Bad("--preset %s: use one of %s%s", usage.Quote(o.name), strings.Join(names, ", "),
			usage.DidYouMean(o.name, names))
		return p
	}
	given, change := flags.All().Changed, o.Chosen.change
	controlled := o.Chosen.Control != "" && !o.noControl && points.Swept() == "" && points.at == nil
	p.BadIf(controlled && given(change.Name), "--%s: the control run of --preset %s sets it; add --no-control",
		change.Name, o.name)
	p = append(p, o.Chosen.lack(given)...)
	set := o.Chosen.values(given)
	if n := o.Chosen.requests(flags.All()); n > 0 {
		set = append(set, argv.To("num-prompts", n))
	}
	p = append(p, flags.Preset(set...)...)
	if o.Chosen.source != "" {
		o.changed = o.Chosen.changes(flags)
	}
	if controlled {
		points.Points = []Point{{Label: o.Chosen.label}, {Label: o.Chosen.Control, set: []argv.Value{change}}}
	}
	return p
}

// values are those of the settings that do not stay away.
func (w *workload) values(given func(string) bool) (set []argv.Value) {
	for _, s := range w.set {
		if !slices.ContainsFunc(s.unless, given) {
			set = append(set, argv.Value{Name: s.flag, Texts: []string{s.value}})
		}
	}
	return set
}

// Plan writes into a plan which published preset was asked for, and what was changed in it.
func (o *Preset) Plan(p *metrics.Plan) {
	if o.Chosen != nil && o.Chosen.source != "" {
		p.Preset = &metrics.Preset{Name: o.name, Source: o.Chosen.source, Changed: o.changed}
	}
}
