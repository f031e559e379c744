package telemetry

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

// enginePage is a page of vLLM with an engine for each label; tokens are those of the first, the others have ten times
// those of the one before.
func enginePage(tokens int, labels ...string) string {
	var b strings.Builder
	for i, label := range labels {
		for name, v := range map[string]float64{"num_requests_running": float64(i + 1), "num_requests_waiting": 2,
			"kv_cache_usage_perc": 0.5, "prompt_tokens_total": 2 * float64(tokens),
			"generation_tokens_total": float64(tokens), "time_to_first_token_seconds_sum": float64(tokens) / 100,
			"time_to_first_token_seconds_count": 7} {
			fmt.Fprintf(&b, "vllm:%s{engine=%q,model_name=\"m\"} %v\n", name, label, v)
		}
		tokens *= 10
	}
	return b.String()
}

// polled are the samples of servers whose pages change from poll to poll.
func polled(t *testing.T, servers ...[]string) (all []metrics.ServerSecond) {
	t.Helper()
	var pages []Page
	for i, texts := range servers {
		next := 0
		url := served(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, texts[next])
			next++
		})
		pages = append(pages, Page{Client: http.DefaultClient, URL: url, Server: 2 * i})
	}
	w := NewServerWatch(pages...)
	for i := range servers[0] {
		s, _ := w.Poll(t.Context(), time.Duration(i+1)*time.Second)
		all = append(all, s)
	}
	return all
}

// Each engine of several, and each server, has a sample of its own; one whose counters fell has its levels alone.
func TestEnginesOfAPage(t *testing.T) {
	engine := func(server int, name string, running, tokens float64) metrics.Engine {
		return metrics.Engine{Server: server, Name: name, Running: running, Waiting: 2, KVUsage: 0.5,
			PromptTokens: 2 * tokens, OutputTokens: tokens}
	}
	none := math.NaN()
	for name, c := range map[string]struct {
		servers [][]string
		want    [][]metrics.Engine
	}{
		"two engines": {[][]string{{enginePage(1, "0", "1"), enginePage(3, "0", "1")}},
			[][]metrics.Engine{{engine(0, "0", 1, none), engine(0, "1", 2, none)},
				{engine(0, "0", 1, 2), engine(0, "1", 2, 20)}}},
		"one engine": {[][]string{{enginePage(1, "0"), enginePage(3, "0")}}, [][]metrics.Engine{nil, nil}},
		"two servers": {[][]string{{enginePage(1, "0"), enginePage(3, "0")}, {enginePage(5, "0"), enginePage(9, "0")}},
			[][]metrics.Engine{{engine(0, "0", 1, none), engine(2, "0", 1, none)},
				{engine(0, "0", 1, 2), engine(2, "0", 1, 4)}}},
		"one restarts": {
			[][]string{{enginePage(9, "1") + enginePage(1, "0"), enginePage(2, "1") + enginePage(99, "0")}},
			[][]metrics.Engine{{engine(0, "0", 1, none), engine(0, "1", 1, none)},
				{engine(0, "0", 1, 98), engine(0, "1", 1, none)}}},
		"no queue": {[][]string{{enginePage(1, "0") + "vllm:prompt_tokens_total{engine=\"1\"} 3\n"}},
			[][]metrics.Engine{nil}},
	} {
		for i, s := range polled(t, c.servers...) {
			for k := range s.Engines {
				s.Engines[k].TTFT = metrics.ServerLatency{}
			}
			if diff := cmp.Diff(c.want[i], s.Engines, compareSeconds); diff != "" {
				t.Errorf("%s, poll %d: -want +got\n%s", name, i, diff)
			}
		}
	}
}

// Engines beyond the bound are one together, and the label of an engine is cut.
func TestEnginesOfAPageBounded(t *testing.T) {
	labels := make([]string, 200)
	for i := range labels {
		labels[i] = fmt.Sprintf("%d%s", i, strings.Repeat("x", 10_000))
	}
	all := polled(t, []string{enginePage(0, labels...)})[0].Engines
	rest := all[0]
	if len(all) != metrics.MostEngines || rest.Name != metrics.OtherEngines || rest.Server != metrics.OtherServers ||
		rest.Running != (200*201-63*64)/2 || len(all[1].Name) != longestLabel {
		t.Errorf("%d engines, the others %+v; %q", len(all), rest, all[1].Name)
	}
}
