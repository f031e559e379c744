package telemetry

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// twoEngines is the page of a server with two engines, as prometheus_client writes it.
const twoEngines = `# HELP python_gc_objects_collected_total Objects collected during gc
# TYPE python_gc_objects_collected_total counter
python_gc_objects_collected_total{generation="0"} 12131.0
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 1.0
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 100.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="m"} 20.0
# TYPE vllm:spec_decode_num_drafts_created gauge
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.7e+09
# TYPE vllm:spec_decode_num_draft_tokens_total counter
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 300.0
vllm:spec_decode_num_draft_tokens_total{engine="1",model_name="m"} 60.0
# TYPE vllm:spec_decode_num_accepted_tokens_total counter
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 150.0
vllm:spec_decode_num_accepted_tokens_total{engine="1",model_name="m"} 1.0e+01
# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 90.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 40.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="10"} 20.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="m",position="0"} 10.0
# TYPE vllm:diffusion_num_denoising_steps_total counter
vllm:diffusion_num_denoising_steps_total{engine="0"} 50.0
vllm:diffusion_num_canvas_positions_total{engine="0"} 1600.0
vllm:diffusion_num_committed_tokens_total{engine="0"} 640.0
`

// readPage reads the counters of Prometheus text.
func readPage(page string) (Counters, error) {
	var c Counters
	if err := eachLine(limited(strings.NewReader(page)), c.add); err != nil {
		return Counters{}, err
	}
	return c, nil
}

func read(t *testing.T, page string) Counters {
	t.Helper()
	c, err := readPage(page)
	assert.Fine(t, err)
	return c
}

var specParts, diffusionParts = []string{partDrafts, partDraftTokens, partAccepted},
	[]string{partSteps, partPositions, partCommitted}

// counted are counters by the parts of their names. Counters of 0 are left out, as on a page without them.
func counted(parts []string, values ...int) map[string]int {
	all := map[string]int{}
	for i, n := range values {
		if n != 0 {
			all[parts[i]] = n
		}
	}
	return all
}

func spec(drafts, tokens, accepted int, byPosition map[int]int) Counters {
	return Counters{spec: counted(specParts, drafts, tokens, accepted), byPosition: byPosition}
}

func TestReadPage(t *testing.T) {
	none := map[int]int(nil)
	for _, c := range []struct {
		name, page string
		want       Counters
	}{
		{"two engines", twoEngines, Counters{
			spec: counted(specParts, 120, 360, 160), byPosition: map[int]int{0: 100, 1: 40, 10: 20},
			diffusion: counted(diffusionParts, 50, 1600, 640),
		}},
		{"nothing", "", Counters{}},
		{"other counters", "# TYPE x counter\nx_total 3\nvllm:prompt_tokens_total 5\n", Counters{}},
		{"only the creation time of a counter", "vllm:spec_decode_num_drafts_created 1.7e9\n", Counters{}},
		{"no final line end", "vllm:spec_decode_num_drafts_total 3", spec(3, 0, 0, none)},
		{"line ends of Windows, blanks around",
			"  vllm:spec_decode_num_drafts_total 3 \r\n\tvllm:spec_decode_num_draft_tokens_total\t9\r\n",
			spec(3, 9, 0, none)},
		{"blanks, braces and quotes in labels", `vllm:spec_decode_num_drafts_total{model_name="a b} \"c\" 9"} 3`,
			spec(3, 0, 0, none)},
		{"a time stamp", "vllm:spec_decode_num_drafts_total 3 1700000000000", spec(3, 0, 0, none)},
		{"a fraction is cut off", "vllm:spec_decode_num_drafts_total 3.9", spec(3, 0, 0, none)},
		{"values that are no counts",
			"vllm:spec_decode_num_drafts_total NaN\nvllm:spec_decode_num_drafts_total +Inf\n" +
				"vllm:spec_decode_num_drafts_total -4\nvllm:spec_decode_num_drafts_total " +
				"1e300\nvllm:spec_decode_num_drafts_total 2\n", spec(2, 0, 0, none)},
		{"broken lines next to good ones",
			"}{\nvllm:spec_decode_num_drafts_total{ 7\nvllm:spec_decode_num_drafts_total\n" +
				"# TYPE vllm:spec_decode_num_drafts_total nonsense\nvllm:spec_decode_num_drafts_total 2\n\x00\xff\n",
			spec(2, 0, 0, none)},
		{"the same line twice", "vllm:spec_decode_num_drafts_total 2\nvllm:spec_decode_num_drafts_total 3\n",
			spec(5, 0, 0, none)},
		{"positions that are none", "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"x\"} 2\n" +
			"vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"-1\"} 2\n" +
			"vllm:spec_decode_num_accepted_tokens_per_pos_total 2\n", spec(0, 0, 0, none)},
		{"positions beyond any draft", "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1000\"} 2\n" +
			"vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"999\"} 3\n",
			spec(0, 0, 0, map[int]int{999: 3})},
		{"an exemplar", `vllm:spec_decode_num_drafts_total{a="x # y"} 3 # {trace_id="5 # 6"} 1 1700000000.5`,
			spec(3, 0, 0, none)},
		{"an exemplar without blanks between labels", "vllm:spec_decode_num_drafts_total 3 17.5 # {} 1",
			spec(3, 0, 0, none)},
		{"a time stamp of OpenMetrics", "vllm:spec_decode_num_drafts_total 3 1700000000.123", spec(3, 0, 0, none)},
		{"a time stamp that is none", "vllm:spec_decode_num_drafts_total 3 soon\nvllm:spec_decode_num_drafts_total 2",
			spec(2, 0, 0, none)},
		{"escapes, braces and commas in labels",
			`vllm:spec_decode_num_accepted_tokens_per_pos_total{a="\\",b="\n}",c="{,=\"",d="\\\"",é="→",position="3",` +
				`z="position=\"4\""} 2`,
			spec(0, 0, 0, map[int]int{3: 2})},
		{"a quote that does not end", `vllm:spec_decode_num_drafts_total{a="b\"} 7` + "\n" +
			`vllm:spec_decode_num_drafts_total{a="b} 7` + "\nvllm:spec_decode_num_drafts_total 2", spec(2, 0, 0, none)},
		{"HELP with escapes", `# HELP vllm:spec_decode_num_drafts_total a\nvllm:spec_decode_num_drafts_total 5 \\` +
			"\nvllm:spec_decode_num_drafts_total 2", spec(2, 0, 0, none)},
		{"many label sets", strings.Repeat("vllm:spec_decode_num_drafts_total{engine=\"{,}\"} 1\n", 100_000),
			spec(100_000, 0, 0, none)},
		{"a long line whose end looks like a counter",
			strings.Repeat("x", longestLine) + "vllm:spec_decode_num_drafts_total 7\n" +
				"vllm:spec_decode_num_drafts_total 2\n", spec(2, 0, 0, none)},
		{"a long line",
			"vllm:spec_decode_num_drafts_total{a=\"" + strings.Repeat("x",
				3*longestLine) + "\"} 7\nvllm:spec_decode_num_drafts_total 2\n", spec(2, 0, 0, none)},
	} {
		if diff := cmp.Diff(c.want, read(t, c.page), cmp.AllowUnexported(Counters{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestSpecDecodeMoved(t *testing.T) {
	counters := spec
	start := counters(100, 300, 150, map[int]int{0: 90, 2: 20, 11: 5})
	for _, c := range []struct {
		name          string
		before, after Counters
		want          *metrics.SpecDecode
		err           error
	}{
		{"moved", start, counters(200, 600, 350, map[int]int{0: 170, 1: 60, 2: 80, 11: 5}),
			&metrics.SpecDecode{Drafts: 100, DraftTokens: 300, AcceptedTokens: 200,
				AcceptedPerPosition: []int{80, 60, 60, 0}}, nil},
		{"a position went away", start, counters(200, 600, 350, map[int]int{0: 170, 2: 80}),
			&metrics.SpecDecode{Drafts: 100, DraftTokens: 300, AcceptedTokens: 200,
				AcceptedPerPosition: []int{80, 60, 0}}, nil},
		{"from zero, without positions", counters(0, 0, 0, nil), counters(1, 4, 0, nil),
			&metrics.SpecDecode{Drafts: 1, DraftTokens: 4}, nil},
		{"tokens without drafts", counters(5, 3, 0, map[int]int{0: 1}), counters(5, 4, 0, map[int]int{0: 1}),
			&metrics.SpecDecode{DraftTokens: 1}, nil},
		{"nothing moved", start, start, nil, nil},
		{"no draft token", start, counters(101, 300, 150, start.byPosition), nil, nil},
		{"never there", Counters{}, Counters{}, nil, nil},
		{"not there before", Counters{}, start, nil, nil},
		{"gone", start, Counters{}, nil, ErrRestarted},
		{"drafts fell", start, counters(99, 600, 350, start.byPosition), nil, ErrRestarted},
		{"draft tokens fell", start, counters(200, 299, 350, start.byPosition), nil, ErrRestarted},
		{"accepted fell", start, counters(200, 600, 149, start.byPosition), nil, ErrRestarted},
		{"a position fell", start, counters(200, 600, 350, map[int]int{0: 90, 2: 19}), nil, ErrRestarted},
	} {
		got, err := c.before.SpecDecode(c.after)
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v; -want +got\n%s", c.name, err, c.err, diff)
		}
	}
}

func TestDiffusionMoved(t *testing.T) {
	counters := func(values ...int) Counters { return Counters{diffusion: counted(diffusionParts, values...)} }
	start := counters(50, 1600, 640)
	for _, c := range []struct {
		name          string
		before, after Counters
		want          *metrics.Diffusion
		err           error
	}{
		{"moved", start, counters(150, 4800, 1280),
			&metrics.Diffusion{CommittedTokens: 640, DenoisingSteps: 100, CanvasPositions: 3200}, nil},
		{"nothing moved", start, start, nil, nil},
		{"no step", start, counters(50, 4800, 1280), nil, nil},
		{"no position", start, counters(150, 1600, 1280), nil, nil},
		{"nothing committed", start, counters(150, 4800, 640), nil, nil},
		{"never there", Counters{}, start, nil, nil},
		{"gone", start, Counters{}, nil, ErrRestarted},
		{"steps fell", start, counters(49, 4800, 1280), nil, ErrRestarted},
		{"positions fell", start, counters(150, 1599, 1280), nil, ErrRestarted},
		{"committed fell", start, counters(150, 4800, 639), nil, ErrRestarted},
	} {
		got, err := c.before.Diffusion(c.after)
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v; -want +got\n%s", c.name, err, c.err, diff)
		}
	}
}

// Reading any page ends without a panic, and no count is negative.
func FuzzPage(f *testing.F) {
	f.Add(twoEngines)
	f.Add("vllm:spec_decode_num_drafts_total{a=\"b c\\\"\",} 1e3 17\n")
	f.Add("vllm:diffusion_num_denoising_steps_total 0x1p4\n<html>")
	f.Add(`vllm:spec_decode_num_accepted_tokens_per_pos_total{a="\\",b="{,=\"\n}",position="3"} 2 # {t="#"} 1 1.5` +
		"\n" + `vllm:x{a="b\"} 7`)
	f.Add("{\"vllm:spec_decode_num_drafts_total\",a=\"b\"} 1\n")
	f.Fuzz(func(t *testing.T, page string) {
		c, err := readPage(page)
		if err != nil {
			return
		}
		for _, n := range slices.Concat(slices.Collect(maps.Values(c.spec)), slices.Collect(maps.Values(c.diffusion)),
			slices.Collect(maps.Values(c.byPosition))) {
			if n < 0 {
				t.Errorf("%+v", c)
			}
		}
		if moved, err := c.SpecDecode(c); moved != nil || err != nil {
			t.Errorf("from itself: %+v, %v", moved, err)
		}
		if _, err := (Counters{}).Diffusion(c); err != nil {
			t.Error(err)
		}
	})
}
