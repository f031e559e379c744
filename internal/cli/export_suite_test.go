package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// dashboardRows reads a folder as convert-results-json-to-markdown.py of vLLM does, by its rules alone: files by the
// words in their paths, commands of at least two words, values of flags by their names. It knows nothing of benchtop.
func dashboardRows(t *testing.T, dir string) (rows []map[string]any) {
	t.Helper()
	files := assert.Must(filepath.Glob(filepath.Join(dir, "*.json")))(t)
	object := func(path string) (m map[string]any) {
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return m
	}
	for _, file := range files {
		if filepath.Base(file) == "benchmark_results.json" {
			continue
		}
		kind := ""
		for _, word := range []string{"serving", "latency", "throughput"} {
			if strings.Contains(file, word) {
				kind = word
				break
			}
		}
		stem := strings.TrimSuffix(file, ".json")
		result, commands := object(file), object(stem+".commands")
		// one name, since it has one line
		row := map[string]any{"Test name": filepath.Base(stem), "GPU": "1x" + commands["gpu_type"].(string)}
		flags := func(key string) map[string]string {
			words, err := argv.Split(commands[key].(string))
			if err != nil || len(words) < 2 {
				t.Fatalf("%s of %s: %v, %v", key, file, commands[key], err)
			}
			found := map[string]string{}
			for i, w := range words[2:] {
				if name, ok := strings.CutPrefix(w, "--"); ok && i+3 < len(words) {
					found[name] = words[i+3]
				}
			}
			return found
		}
		copied := map[string]string{}
		switch kind {
		case "serving":
			client, server := flags("client_command"), flags("server_command")
			row["Dataset Name"], row["Input Len"], row["Output Len"], row["qps"] = client["dataset-name"],
				client["random-input-len"], client["random-output-len"], client["request-rate"]
			row["TP Size"] = server["tensor-parallel-size"]
			copied = map[string]string{"model_id": "Model", "completed": "# of req.",
				"max_concurrency": "# of max concurrency.", "request_throughput": "Tput (req/s)",
				"total_token_throughput": "Total Token Tput (tok/s)", "output_throughput": "Output Tput (tok/s)"}
			for _, m := range []string{"ttft", "tpot", "itl"} {
				for _, s := range []string{"mean", "median", "p99"} {
					title := strings.ToUpper(s[:1]) + s[1:] + " " + strings.ToUpper(m) + " (ms)"
					if m == "tpot" && s != "mean" {
						title = map[string]string{"median": "Median", "p99": "P99"}[s]
					}
					copied[s+"_"+m+"_ms"] = title
				}
			}
		case "latency":
			flags("latency_command")
			of := result["percentiles"].(map[string]any)
			row["Mean latency (ms)"], row["Median latency (ms)"],
				row["P99 latency (ms)"] = 1000*result["avg_latency"].(float64), 1000*of["50"].(float64),
				1000*of["99"].(float64)
		case "throughput":
			flags("throughput_command")
			copied = map[string]string{"num_requests": "# of req.", "total_num_tokens": "Total # of tokens",
				"elapsed_time":        "Elapsed time (s)",
				"requests_per_second": "Tput (req/s)", "tokens_per_second": "Tput (tok/s)"}
		default:
			t.Errorf("%s is of no kind", file)
		}
		for key, title := range copied {
			if row[title] = result[key]; result[key] == nil {
				t.Errorf("%s has no %s", file, key)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// The folder is read by the rules of vLLM's scripts, and its table has what they would make.
func TestExportedSuite(t *testing.T) {
	t.Parallel()
	url, dir := simulated(t, nil), t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	at := func(name string) string { return filepath.Join(from, name) }
	assert.Fine(t, os.Mkdir(from, 0o700))
	for _, args := range [][]string{
		{"serve", "--base-url", url, "--num-prompts", "8", "--max-concurrency", "4", "--random-input-len", "20",
			"--random-output-len", "4", "--request-rate", "500",
			"--metadata", "tensor_parallel_size=2", "--save-result", "--result-dir", from, "--result-filename",
			"s.json"},
		{"throughput", "--base-url", url, "--num-prompts", "8", "--random-input-len", "20", "--random-output-len", "4",
			"--output-json", at("t.json")},
		{"latency", "--base-url", url, "--batch-size", "2", "--input-len", "20", "--output-len", "4",
			"--num-iters-warmup", "0", "--num-iters", "3", "--output-json", at("l.json")},
		{"export-suite", to, at("s.json"), at("t.json"), at("l.json"), "--gpu-type", "H100"},
	} {
		benchtop(args...).expect(t, session.ExitFine)
	}
	rows := dashboardRows(t, to)
	assert.Need(t, len(rows), 3, "rows: %v", rows)
	data := assert.Must(os.ReadFile(filepath.Join(to, "benchmark_results.json")))(t)
	var table []map[string]any
	assert.Fine(t, json.Unmarshal(data, &table))
	for _, want := range rows {
		i := slices.IndexFunc(table, func(row map[string]any) bool { return row["Test name"] == want["Test name"] })
		if i < 0 {
			t.Errorf("%v is not in the table", want["Test name"])
			continue
		}
		for title, value := range want {
			got := table[i][title]
			if text, ok := value.(string); ok {
				if number, isNumber := got.(float64); isNumber {
					var v float64
					if json.Unmarshal([]byte(text), &v) == nil && v == number {
						continue
					}
				}
			}
			a, isNumber := value.(float64)
			b, _ := got.(float64)
			if isNumber && math.Abs(a-b) > 1e-9*math.Abs(a) || !isNumber && got != value {
				t.Errorf("%v, %s: %v in the table, %v by the script's rules", want["Test name"], title, got, value)
			}
		}
	}
	if s := rows[slices.IndexFunc(rows, func(r map[string]any) bool { return r["qps"] != nil })]; s["TP Size"] != "2" ||
		s["Input Len"] != "20" || s["qps"] != "500" {
		t.Errorf("%v", s)
	}
}
