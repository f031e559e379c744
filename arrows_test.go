package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says which of our packages each package may import, its tests included. docs/design.md says why.
var arrows = map[string][]string{
	"benchtop":                  {"benchtop/internal/cli"},
	"benchtop/internal/cli":     {"benchtop/..."},
	"benchtop/docs":             {},
	"benchtop/internal/release": {},
	"benchtop/tui": {"benchtop/metrics", "benchtop/metrics/grid", "benchtop/tui/screen", "benchtop/tui/number",
		"benchtop/tui/chart", "benchtop/tui/panels", "benchtop/tui/term", "benchtop/tui/form"},
	"benchtop/tui/panels": {"benchtop/internal/findings", "benchtop/metrics", "benchtop/metrics/grid",
		"benchtop/tui/screen", "benchtop/tui/number", "benchtop/tui/chart"},
	"benchtop/tui/form":    {"benchtop/tui/screen", "benchtop/tui/term"},
	"benchtop/tui/term":    {"benchtop/tui/noquery"},
	"benchtop/tui/chart":   {"benchtop/tui/screen", "benchtop/tui/number"},
	"benchtop/tui/screen":  {},
	"benchtop/tui/number":  {},
	"benchtop/tui/noquery": {},
	"benchtop/tui/tuitest": {"benchtop/internal/assert/golden", "benchtop/metrics", "benchtop/metrics/grid",
		"benchtop/metrics/event", "benchtop/metrics/event/eventtest", "benchtop/metrics/live",
		"benchtop/metrics/report"},
	"benchtop/loadgen": {"benchtop/internal/hf/media", "benchtop/loadgen/conn", "benchtop/loadgen/pace",
		"benchtop/loadgen/protocol", "benchtop/loadgen/target", "benchtop/loadgen/shape",
		"benchtop/datasets", "benchtop/internal/hf/numpy", "benchtop/metrics", "benchtop/metrics/event"},
	"benchtop/loadgen/conn":          {"benchtop/loadgen/target", "benchtop/metrics", "benchtop/internal/race"},
	"benchtop/loadgen/conn/conntest": {"benchtop/internal/ci"},
	"benchtop/loadgen/pace":          {"benchtop/loadgen/shape"},
	"benchtop/loadgen/protocol":      {"benchtop/datasets", "benchtop/internal/hf/media", "benchtop/metrics"},
	"benchtop/loadgen/shape":         {"benchtop/datasets", "benchtop/internal/hf/numpy", "benchtop/metrics"},
	"benchtop/loadgen/target":        {},
	"benchtop/datasets": {"benchtop/datasets/agents", "benchtop/datasets/constraint", "benchtop/internal/hf/hub",
		"benchtop/datasets/lengths", "benchtop/internal/hf/media", "benchtop/datasets/table",
		"benchtop/datasets/textfile", "benchtop/internal/hf/tokenizer", "benchtop/datasets/trace",
		"benchtop/internal/hf/chattemplate", "benchtop/internal/hf/numpy"},
	"benchtop/datasets/agents":          {"benchtop/datasets/textfile"},
	"benchtop/datasets/constraint":      {},
	"benchtop/internal/hf/media":        {"benchtop/internal/hf/numpy"},
	"benchtop/internal/jsonscan":        {},
	"benchtop/internal/parallel":        {},
	"benchtop/datasets/table":           {"benchtop/internal/hf/parquet", "benchtop/datasets/textfile"},
	"benchtop/internal/hf/parquet":      {"benchtop/datasets/textfile"},
	"benchtop/datasets/textfile":        {"benchtop/internal/hf/hub"},
	"benchtop/datasets/lengths":         {"benchtop/internal/hf/numpy"},
	"benchtop/datasets/trace":           {"benchtop/datasets/lengths", "benchtop/datasets/textfile"},
	"benchtop/internal/hf/numpy":        {},
	"benchtop/internal/hf/tokenizer":    {"benchtop/internal/hf/hub", "benchtop/internal/hf/endpoint"},
	"benchtop/internal/hf/hub":          {},
	"benchtop/internal/hf/hub/hubtest":  {},
	"benchtop/internal/hf/chattemplate": {"benchtop/internal/hf/endpoint"},
	"benchtop/internal/hf/endpoint":     {},
	"benchtop/metrics":                  {},
	"benchtop/metrics/audit":            {"benchtop/metrics", "benchtop/metrics/judge", "benchtop/metrics/report"},
	"benchtop/metrics/grid":             {},
	"benchtop/metrics/event":            {"benchtop/metrics"},
	"benchtop/metrics/event/eventtest":  {"benchtop/metrics", "benchtop/metrics/event"},
	"benchtop/metrics/judge":            {"benchtop/metrics", "benchtop/metrics/outage"},
	"benchtop/metrics/judge/queuetest":  {"benchtop/metrics"},
	"benchtop/metrics/outage":           {"benchtop/metrics"},
	"benchtop/metrics/live": {"benchtop/metrics", "benchtop/metrics/event", "benchtop/metrics/judge",
		"benchtop/metrics/outage"},
	"benchtop/metrics/report": {"benchtop/metrics", "benchtop/metrics/event", "benchtop/metrics/judge"},
	"benchtop/export": {"benchtop/internal/findings", "benchtop/metrics", "benchtop/metrics/audit",
		"benchtop/metrics/grid", "benchtop/export/dots", "benchtop/export/journal"},
	"benchtop/export/journal": {"benchtop/metrics", "benchtop/metrics/event"},
	"benchtop/export/page": {"benchtop/export", "benchtop/export/charts", "benchtop/internal/findings",
		"benchtop/internal/race", "benchtop/metrics", "benchtop/metrics/event/eventtest", "benchtop/metrics/report",
		"benchtop/tui/tuitest"},
	"benchtop/export/charts":      {"benchtop/metrics", "benchtop/export/dots"},
	"benchtop/export/dots":        {},
	"benchtop/internal/pyjson":    {"benchtop/internal/jsonscan"},
	"benchtop/internal/simulator": {},
	"benchtop/internal/usage":     {"benchtop/internal/text"},
	"benchtop/internal/text":      {},
	"benchtop/internal/table":     {"benchtop/internal/text"},
	"benchtop/internal/findings":  {"benchtop/metrics"},
	"benchtop/internal/argv":      {"benchtop/internal/secret", "benchtop/metrics"},
	"benchtop/internal/prompts": {"benchtop/internal/secret", "benchtop/internal/argv",
		"benchtop/internal/server", "benchtop/internal/files",
		"benchtop/internal/simulator", "benchtop/loadgen", "benchtop/loadgen/protocol", "benchtop/loadgen/shape",
		"benchtop/loadgen/target",
		"benchtop/datasets", "benchtop/internal/hf/chattemplate", "benchtop/internal/hf/endpoint",
		"benchtop/internal/hf/hub", "benchtop/datasets/lengths", "benchtop/internal/hf/media",
		"benchtop/internal/hf/numpy", "benchtop/internal/hf/tokenizer", "benchtop/metrics", "benchtop/export"},
	"benchtop/internal/server": {"benchtop/internal/secret", "benchtop/internal/argv",
		"benchtop/internal/telemetry", "benchtop/loadgen", "benchtop/loadgen/protocol",
		"benchtop/loadgen/target", "benchtop/datasets", "benchtop/metrics", "benchtop/export"},
	"benchtop/internal/spec": {"benchtop/datasets", "benchtop/export",
		"benchtop/internal/argv", "benchtop/internal/files",
		"benchtop/internal/prompts", "benchtop/internal/secret", "benchtop/internal/server",
		"benchtop/internal/telemetry", "benchtop/loadgen", "benchtop/loadgen/conn",
		"benchtop/loadgen/pace", "benchtop/loadgen/protocol", "benchtop/loadgen/shape",
		"benchtop/loadgen/target", "benchtop/metrics", "benchtop/metrics/judge", "benchtop/tui/screen"},
	"benchtop/internal/session": {"benchtop/internal/answers", "benchtop/export",
		"benchtop/export/charts", "benchtop/export/page",
		"benchtop/internal/argv",
		"benchtop/internal/calibration", "benchtop/internal/files", "benchtop/internal/fleet",
		"benchtop/internal/fleet/link", "benchtop/internal/hf/numpy",
		"benchtop/internal/prometheus", "benchtop/internal/prompts", "benchtop/internal/run",
		"benchtop/internal/run/watch",
		"benchtop/internal/secret", "benchtop/internal/server", "benchtop/internal/spec",
		"benchtop/internal/sweep", "benchtop/internal/telemetry", "benchtop/loadgen",
		"benchtop/loadgen/shape", "benchtop/loadgen/target", "benchtop/metrics",
		"benchtop/metrics/event", "benchtop/metrics/live", "benchtop/metrics/report",
		"benchtop/tui", "benchtop/tui/term"},
	"benchtop/internal/files": {"benchtop/metrics", "benchtop/metrics/event",
		"benchtop/metrics/report", "benchtop/export", "benchtop/export/journal"},
	"benchtop/internal/simulator/pipetest": {},
	"benchtop/internal/simulator/simtest":  {"benchtop/internal/simulator", "benchtop/internal/simulator/pipetest"},
	"benchtop/internal/preview": {"benchtop/datasets", "benchtop/datasets/agents", "benchtop/internal/hf/media",
		"benchtop/datasets/table",
		"benchtop/datasets/textfile", "benchtop/internal/hf/tokenizer", "benchtop/datasets/trace"},
	"benchtop/internal/imports":   {"benchtop/datasets/agents", "benchtop/datasets/textfile"},
	"benchtop/internal/telemetry": {"benchtop/internal/parallel", "benchtop/metrics"},
	"benchtop/internal/startup": {"benchtop/export", "benchtop/internal/hf/hub", "benchtop/internal/launch",
		"benchtop/internal/table", "benchtop/metrics"},
	"benchtop/internal/dashboard": {"benchtop/internal/argv",
		"benchtop/internal/files"},
	"benchtop/internal/compare": {"benchtop/export", "benchtop/export/charts", "benchtop/export/page",
		"benchtop/internal/compare/evidence", "benchtop/internal/dashboard", "benchtop/internal/files",
		"benchtop/metrics"},
	"benchtop/internal/compare/evidence": {"benchtop/metrics", "benchtop/metrics/event",
		"benchtop/metrics/event/eventtest", "benchtop/metrics/judge", "benchtop/metrics/judge/queuetest",
		"benchtop/metrics/report"},
	"benchtop/internal/history": {"benchtop/export", "benchtop/export/journal", "benchtop/internal/compare",
		"benchtop/internal/dashboard", "benchtop/internal/files", "benchtop/metrics"},
	"benchtop/internal/prometheus": {"benchtop/metrics", "benchtop/metrics/event"},
	"benchtop/internal/offline":    {"benchtop/export", "benchtop/metrics", "benchtop/metrics/event"},
	"benchtop/internal/secret":     {},
	"benchtop/internal/fleet/link": {},
	"benchtop/internal/fleet": {"benchtop/datasets", "benchtop/export/journal", "benchtop/internal/argv",
		"benchtop/internal/fleet/link", "benchtop/internal/run", "benchtop/metrics", "benchtop/metrics/event",
		"benchtop/metrics/event/eventtest", "benchtop/metrics/live"},
	"benchtop/internal/launch":        {"benchtop/export", "benchtop/internal/secret", "benchtop/internal/telemetry"},
	"benchtop/internal/attach":        {"benchtop/metrics"},
	"benchtop/internal/assert":        {},
	"benchtop/internal/assert/golden": {},
	"benchtop/internal/ci":            {"benchtop/internal/race"},
	"benchtop/internal/race":          {},
	"benchtop/internal/lines":         {},
	"benchtop/internal/sweep": {"benchtop/internal/secret", "benchtop/export",
		"benchtop/export/journal", "benchtop/internal/files", "benchtop/internal/findings", "benchtop/metrics/grid",
		"benchtop/internal/search", "benchtop/metrics", "benchtop/metrics/event",
		"benchtop/metrics/report", "benchtop/metrics/judge"},
	"benchtop/internal/sweep/plot": {"benchtop/export/charts", "benchtop/internal/files",
		"benchtop/metrics",
		"benchtop/metrics/grid"},
	"benchtop/internal/replay": {"benchtop/metrics", "benchtop/metrics/event", "benchtop/metrics/live",
		"benchtop/metrics/report", "benchtop/export"},
	"benchtop/internal/search": {"benchtop/metrics", "benchtop/metrics/judge"},
	"benchtop/internal/answers": {"benchtop/datasets", "benchtop/loadgen", "benchtop/loadgen/protocol",
		"benchtop/loadgen/target", "benchtop/metrics",
		"benchtop/metrics/live"},
	"benchtop/internal/run": {"benchtop/internal/answers", "benchtop/internal/search",
		"benchtop/metrics/judge", "benchtop/internal/run/control",
		"benchtop/internal/run/watch", "benchtop/internal/attach", "benchtop/internal/files",
		"benchtop/internal/simulator", "benchtop/internal/telemetry", "benchtop/loadgen", "benchtop/loadgen/conn",
		"benchtop/loadgen/protocol", "benchtop/loadgen/shape",
		"benchtop/loadgen/target", "benchtop/datasets", "benchtop/internal/hf/numpy", "benchtop/metrics",
		"benchtop/metrics/event", "benchtop/metrics/live",
		"benchtop/metrics/report", "benchtop/export", "benchtop/export/journal"},
	"benchtop/internal/run/control": {"benchtop/internal/findings", "benchtop/internal/search",
		"benchtop/loadgen/shape", "benchtop/metrics", "benchtop/metrics/event", "benchtop/metrics/judge"},
	"benchtop/internal/run/watch": {"benchtop/internal/telemetry", "benchtop/loadgen/conn", "benchtop/loadgen/target",
		"benchtop/metrics", "benchtop/metrics/live",
		"benchtop/export"},
	"benchtop/internal/metronome": {},
	"benchtop/internal/calibration": {"benchtop/loadgen", "benchtop/loadgen/conn", "benchtop/loadgen/pace",
		"benchtop/loadgen/shape", "benchtop/loadgen/target", "benchtop/datasets", "benchtop/internal/hf/numpy",
		"benchtop/metrics", "benchtop/metrics/event", "benchtop/metrics/live", "benchtop/internal/metronome",
		"benchtop/internal/telemetry"},
	"benchtop/internal/calibration/bench": {"benchtop/loadgen/conn", "benchtop/loadgen/pace", "benchtop/metrics",
		"benchtop/metrics/event",
		"benchtop/export/journal", "benchtop/internal/files", "benchtop/internal/metronome",
		"benchtop/internal/telemetry", "benchtop/internal/calibration"},
}

// only says which packages, or files, may import certain modules.
var only = map[string][]string{
	"github.com/valyala/fasthttp": {"benchtop/loadgen/conn"},
	"github.com/charmbracelet/": {"benchtop/tui", "benchtop/tui/noquery", "benchtop/tui/screen", "benchtop/tui/term",
		"benchtop/tui/form", "benchtop/tui/panels", "benchtop/tui/tuitest", "tui/chart/raster.go",
		"internal/cli/background_linux_test.go"},
	"github.com/NimbleMarkets/": {"tui/chart/raster.go"},
	"github.com/valyala/fastjson": {"benchtop/loadgen/protocol", "benchtop/export/journal",
		"benchtop/internal/metronome"},
	"github.com/VictoriaMetrics/": {"benchtop/internal/prometheus"},
	"github.com/spf13/pflag": {"benchtop/internal/cli", "benchtop/internal/spec", "benchtop/internal/argv",
		"benchtop/internal/server", "benchtop/internal/prompts",
		"benchtop/internal/files"},
	"github.com/mattn/go-isatty": {"benchtop/internal/session"},
	"golang.org/x/sys/": {"benchtop/loadgen/conn", "benchtop/loadgen/conn/conntest", "benchtop/loadgen/target",
		"loadgen/stamps_linux_test.go",
		"benchtop/loadgen/pace", "benchtop/tui", "benchtop/tui/term", "benchtop/internal/cli",
		"benchtop/internal/launch", "benchtop/internal/startup", "benchtop/internal/telemetry",
		"benchtop/internal/metronome", "benchtop/internal/calibration", "benchtop/internal/calibration/bench"},
	"github.com/nats-io/":             {"benchtop/internal/fleet/link"},
	"github.com/rogpeppe/go-internal": {"benchtop/internal/cli"},
	"github.com/dlclark/regexp2":      {"benchtop/internal/hf/tokenizer"},
	"github.com/santhosh-tekuri/":     {"benchtop/datasets/constraint"},
	"golang.org/x/image/":             {"benchtop/internal/hf/media", "benchtop/export/charts"},
	"golang.org/x/text/":              {"benchtop/internal/hf/tokenizer"},
	"github.com/rivo/uniseg": {"benchtop/internal/hf/tokenizer", "benchtop/internal/preview",
		"benchtop/internal/text"},
	"github.com/klauspost/compress": {"benchtop/export/journal", "benchtop/internal/hf/parquet",
		"benchtop/internal/imports", "benchtop/metrics/live"},
	"github.com/molecule-man/go-brrr": {"benchtop/internal/hf/parquet"},
	"go.yaml.in/": {"benchtop/internal/argv", "benchtop/internal/hf/hub", "docs_test.go",
		"internal/cli/kubernetes_test.go"},
}

// ground is the floor that every package may stand on, but those of the ground itself, whose arrows are drawn.
var ground = []string{"benchtop/internal/text", "benchtop/internal/table",
	"benchtop/internal/jsonscan", "benchtop/internal/pyjson",
	"benchtop/internal/usage", "benchtop/internal/parallel"}

// forTests are packages that any test may import, and which tests need to make events into reports, views and results.
var forTests = []string{"benchtop/internal/assert", "benchtop/internal/assert/golden", "benchtop/internal/ci",
	"benchtop/internal/simulator/pipetest", "benchtop/internal/simulator/simtest", "benchtop/internal/hf/hub/hubtest",
	"benchtop/loadgen/conn/conntest",
	"benchtop/metrics/event", "benchtop/metrics/event/eventtest", "benchtop/tui/tuitest",
	"benchtop/metrics/live", "benchtop/metrics/report", "benchtop/metrics/judge/queuetest", "benchtop/export"}

// stdOnly packages are the common language: they build on the standard library alone.
var stdOnly = []string{"benchtop/metrics", "benchtop/internal/pyjson", "benchtop/internal/usage",
	"benchtop/internal/simulator", "benchtop/datasets", "benchtop/datasets/agents", "benchtop/internal/jsonscan",
	"benchtop/datasets/lengths", "benchtop/internal/parallel", "benchtop/internal/hf/numpy",
	"benchtop/datasets/textfile", "benchtop/datasets/trace", "benchtop/internal/hf/endpoint"}

// TestArrows reads the sources themselves rather than asking the go command, so that files for other systems count and
// the test cache notices a change.
func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name := d.Name(); name == "testdata" || len(name) > 1 && name[0] == '.' {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := strings.TrimSuffix("benchtop/"+filepath.ToSlash(filepath.Dir(path)), "/.")
		seen[pkg] = true
		allowed, known := arrows[pkg]
		if !known {
			t.Errorf("%s is not drawn: add it to the arrows and to docs/design.md", pkg)
		}
		for _, spec := range file.Imports {
			i, _ := strconv.Unquote(spec.Path.Value)
			ours := strings.HasPrefix(i, "benchtop/")
			if slices.Contains(ground, i) && !slices.Contains(ground, pkg) {
				continue
			}
			if slices.Contains(forTests, i) && strings.HasSuffix(path, "_test.go") {
				continue // any test may
			}
			if ours && i != pkg && !slices.Contains(allowed, i) && !slices.Contains(allowed, "benchtop/...") {
				t.Errorf("%s imports %s, against the arrows", path, i)
			}
			for module, users := range only {
				if strings.HasPrefix(i, module) && !slices.Contains(users, pkg) &&
					!slices.Contains(users, filepath.ToSlash(path)) {
					t.Errorf("%s imports %s, which only %v may", path, i, users)
				}
			}
			first, _, _ := strings.Cut(i, "/")
			if !ours && strings.Contains(first, ".") && slices.Contains(stdOnly, pkg) &&
				!strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s imports %s, but builds on the standard library alone", path, i)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range arrows {
		if !seen[pkg] {
			t.Errorf("%s is drawn but does not exist", pkg)
		}
	}
}
