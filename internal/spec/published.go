package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/usage"
)

// Where the rules of the published presets stand, as far as they were read for this table.
const (
	inferenceX = "SemiAnalysisAI/InferenceX of August 2026"
	agentX     = "AgentX of SemiAnalysisAI/InferenceX of August 2026"
	vllmSuite  = "serving-tests.json of vLLM's performance suite of 2026"
	mlperfConf = "mlperf.conf of MLPerf Inference v6.0"
)

// mlperfTime is the least that a run of MLPerf's Server scenario lasts.
const mlperfTime = 10 * time.Minute

// lengthFlags set the lengths of random prompts in another way, or another data set.
var lengthFlags = []string{"dataset-name", "random-input-len", "input-len", "random-output-len", "output-len",
	"random-range-ratio", "random-mix", "mix"}

// loads are those that a series of concurrencies makes way for.
var loads = []string{"sweep-request-rate", "request-rate", "stages", "concurrency-stages", "ramp-up-strategy", "find",
	"find-users", "max-concurrency"}

// published are presets of benchmarks that others publish. Each has its rules as far as flags can keep them;
// docs/presets.md has what is not the same.
func published() (all []workload) {
	for _, s := range []struct {
		name    string
		in, out int
	}{{"8k1k", 8192, 1024}, {"1k1k", 1024, 1024}, {"1k8k", 1024, 8192}} {
		// A length is at most its figure, and at least 0.8 of it, rounded down.
		uniform := func(most int) string { return fmt.Sprintf("uniform min=%d max=%d", most*8/10, most) }
		all = append(all, workload{name: "inferencex-" + s.name, source: inferenceX, set: []setting{
			{"dataset-name", "random", []string{"mix"}}, {"random-isl-dist", uniform(s.in), lengthFlags},
			{"random-osl-dist", uniform(s.out), lengthFlags}, {"ignore-eos", "true", nil}, {"temperature", "0", nil},
			{"percentile-metrics", "ttft,tpot,itl,e2el", nil}, {"sweep-max-concurrency", "4,8,16,32,64,128", loads},
			{"sweep-num-prompts-factor", "10", append([]string{"num-prompts", "duration"}, loads...)},
			{"sweep-num-warmups-factor", "2", append([]string{"num-warmups"}, loads...)},
		}})
	}
	all = append(all, workload{name: "agentx", source: agentX, needs: []string{"max-active-conversations"},
		set: []setting{
			{"dataset-name", "agents", nil}, {"backend", "openai-chat", nil}, {"ignore-eos", "true", nil},
			{"duration", "1h", nil}, {"max-gap", "5m", nil}, {"seed", "42", nil},
			{"num-prompts", "10000", nil}, // sessions, more than the time is enough for
		}})
	for _, s := range []string{"sharegpt", "128-128", "128-2048", "2048-128", "2048-2048"} {
		w := workload{name: "vllm-" + s, source: vllmSuite, set: []setting{
			{"ignore-eos", "true", nil}, {"temperature", "0", nil}, {"num-prompts", "200", nil},
			{"sweep-max-concurrency", "12,16,24,32,64,128,200", loads},
		}}
		if in, out, random := strings.Cut(s, "-"); random {
			w.set = append(w.set, setting{"dataset-name", "random", []string{"mix"}},
				setting{"random-input-len", in, lengthFlags}, setting{"random-output-len", out, lengthFlags})
		} else {
			w.set = append(w.set, setting{"dataset-name", s, nil})
		}
		all = append(all, w)
	}
	type limits struct{ ttft, tpot int } // in milliseconds, of the 99th percentiles
	for _, m := range []struct {
		model               string
		samples             int // of the data set
		server, interactive limits
	}{
		{"llama2-70b", 24576, limits{2000, 200}, limits{450, 40}},
		{"llama3.1-8b", 13368, limits{2000, 100}, limits{500, 30}},
		{"llama3.1-405b", 8313, limits{6000, 175}, limits{4500, 80}},
		{"mixtral-8x7b", 15000, limits{2000, 200}, limits{}},
		{"deepseek-r1", 4388, limits{2000, 80}, limits{1500, 15}},
		{"gpt-oss-120b", 6396, limits{3000, 80}, limits{2000, 15}},
	} {
		for i, l := range []limits{m.server, m.interactive} {
			if l == (limits{}) {
				continue
			}
			all = append(all, workload{name: "mlperf-" + m.model + []string{"-server", "-interactive"}[i],
				source: mlperfConf, samples: m.samples, needs: []string{"request-rate", "sweep-request-rate", "find"},
				set: []setting{
					{"goodput", fmt.Sprintf("ttft:%d tpot:%d", l.ttft, l.tpot), []string{"tier"}},
					{"fail-on", fmt.Sprintf("p99_ttft_ms>%d", l.ttft), []string{"find"}},
					{"fail-on", fmt.Sprintf("p99_tpot_ms>%d", l.tpot), []string{"find"}},
					{"burstiness", "1", nil},
				}})
		}
	}
	return all
}

// lack reports that none of the flags is there which a preset cannot choose.
func (w *workload) lack(given func(string) bool) (p usage.Problems) {
	p.BadIf(w.needs != nil && !slices.ContainsFunc(w.needs, given), "--preset %s: needs --%s", w.name,
		strings.Join(w.needs, " or --"))
	return p
}

// requests is the number that sends each sample equally often and lasts mlperfTime at a rate; 0 for no rule.
func (w *workload) requests(f *pflag.FlagSet) int {
	rate, _ := strconv.ParseFloat(f.Lookup("request-rate").Value.String(), 64)
	if w.samples == 0 || !(rate > 0) || math.IsInf(rate, 1) {
		return 0
	}
	times := math.Ceil(rate * mlperfTime.Seconds() / float64(w.samples))
	return w.samples * int(min(times, float64(math.MaxInt32/w.samples)))
}

// apart are headings of flags that alter no prompt, answer or load of a single run, and such flags below other headings
// or with rules of their own.
var apart = []string{"Server", "Several runs", "Client", "Report", "Server and GPUs", "Screen", "Several machines",
	"Accepted without effect", "preset", "no-control", configFlag, dryRunFlag, "dataset-name", "dataset-path",
	"tokenizer", "skip-tokenizer-init", "session-header", "echo-header", "request-id-prefix", "continuous-usage",
	"cache", "seed", "num-prompts", "num-warmups", "part", "drain-timeout", "keep-going"}

// changes are the words on each flag by which the user left the rules of a published preset. The loads of a series and
// their requests are not among them, as long as the requests are those that the load asks for.
func (w *workload) changes(flags *argv.Flags) (words []string) {
	f, given := flags.All(), map[string]bool{}
	for _, v := range flags.Values() {
		name, _, _ := strings.Cut(v.Name, ".")
		given[name] = true
	}
	names, free := w.left(f, given)
	n, prompts := w.requests(f), number(f, "num-prompts")
	switch {
	case n > 0 && (prompts < n || prompts%w.samples != 0):
		names = append(names, "num-prompts")
	case n == 0 && w.samples > 0 && given["request-rate"]:
		names = append(names, "request-rate")
	}
	if number(f, "custom-output-len") == datasets.OutputFromFile {
		free = append(free, "custom-output-len")
	}
	flags.Headings(func(title string, below []*pflag.Flag) {
		for _, x := range below {
			if given[x.Name] && !slices.Contains(apart, title) && !slices.Contains(append(free, apart...), x.Name) {
				names = append(names, x.Name)
			}
		}
	})
	for _, name := range names {
		if word := "--" + name + " changed"; !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if w.samples > 0 && f.Lookup("dataset-path").Value.String() == "" {
		words = append(words, "--dataset-path missing")
	}
	return words
}

// left are the flags among those given by which the settings do not hold, and free those of which the settings, or the
// need for them, are the rule.
func (w *workload) left(f *pflag.FlagSet, given map[string]bool) (names, free []string) {
	own := New().Flags
	own.Apply(w.values(func(string) bool { return false }))
	missing := func(name string) bool { return !given[name] }
	free = slices.DeleteFunc(slices.Clone(w.needs), func(name string) bool { return name == "find" })
	for _, s := range w.set {
		count, perUser := strings.CutSuffix(strings.TrimPrefix(s.flag, "sweep-"), "-factor")
		factor, _ := strconv.Atoi(s.value)
		switch users := number(f, "max-concurrency"); {
		case perUser && users > 0 && number(f, count) != factor*users:
			names = append(names, count)
		case strings.HasPrefix(s.flag, "sweep-"):
			free = append(free, count)
		case slices.Equal(valuesOf(f, s.flag), valuesOf(own.All(), s.flag)):
		case given[s.flag]:
			names = append(names, s.flag)
		default:
			names = append(names, slices.DeleteFunc(slices.Clone(s.unless), missing)...)
		}
		free = append(free, s.flag)
	}
	return names, free
}

// number is the value of a flag, 0 for none.
func number(f *pflag.FlagSet, flag string) int {
	n, _ := strconv.Atoi(f.Lookup(flag).Value.String())
	return n
}

// valuesOf are the values of a flag as they are after reading, in one order.
func valuesOf(f *pflag.FlagSet, flag string) []string {
	text := f.Lookup(flag).Value.String()
	return slices.Sorted(slices.Values(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' })))
}
