package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/internal/session"
)

// mistakes are the first command lines of new users, each wrong in one place. SERVER is a simulated server, LOCKED one
// that wants a key, TLS one with a certificate of its own, DEAD a port where nothing listens.
const mistakes = `
# commands
srve
run http://SERVER
bench
benchmark_serving.py --model m
server http://SERVER
help srve
serve --hlep
serve http://SERVER --concurency 4
demo --duration 5
sweep srve
dataset analyse f.jsonl
report
report missing.json
report file.txt
compare missing.json missing.json
history missing
history --format xml --filter model --last -1
serve --prometheus http://127.0.0.1:8000
serve http://127.0.0.1:8000 --prometheus 1:2 3:4
compare
compare a.json b.json --fail-on p99>5 --fail-on slow>+5%
compare a.json --fail-on p99_ttft>+5%
list
attach 1
completion powershell
demo http://SERVER
startup http://SERVER
sweep serve http://SERVER
dataset http://SERVER
simulate http://SERVER
docs instal
init http://DEAD

# addresses
serve http://DEAD --num-prompts 1
serve DEAD --num-prompts 1
serve --base-url SERVER --num-prompts 1
serve --host http://SERVER --num-prompts 1
serve --port 80000
serve --base-url http://SERVER/v1 --num-prompts 1
serve --base-url http://SERVER/v1/chat/completions --num-prompts 1
serve http://SERVER http://SERVER
serve http://SERVER --base-url http://SERVER
serve https://SERVER --num-prompts 1
serve http://TLS --num-prompts 1
serve https://TLS --num-prompts 1
serve ftp://SERVER
serve http://***@SERVER --num-prompts 1
serve --base-url http://SERVER --endpoint v1/chat --num-prompts 1
serve meta-llama/Llama-3

# keys
serve http://LOCKED --num-prompts 1
serve http://LOCKED --num-prompts 1 --api-key wrong
serve http://LOCKED --num-prompts 1 --api-key $MISSING_KEY
serve http://LOCKED --num-prompts 1 --api-key @missing.key
serve http://LOCKED --num-prompts 1 --api-key @broken.key
serve http://LOCKED --num-prompts 1 --api-key ***
serve http://LOCKED --num-prompts 1 --header Authorization
serve http://LOCKED --num-prompts 1 --auth-command "echo no >&2; exit 1"
serve http://LOCKED --num-prompts 1 --auth-command "exit 3"
serve http://LOCKED --num-prompts 1 --auth-command true
serve http://LOCKED --num-prompts 1 --auth-command "echo token"
serve http://LOCKED --num-prompts 1 --auth-command ***
serve http://LOCKED --num-prompts 1 --header X=$MISSING
serve http://LOCKED --num-prompts 1 --model m --random-output-len 4
latency --base-url http://LOCKED --model m --num-iters 1

# models and data
serve http://SERVER --model nothing --num-prompts 1 --random-output-len 4
serve http://SERVER --dataset-name sharegt
serve http://SERVER --dataset-name sharegpt
serve http://SERVER --dataset-path missing.json
serve http://SERVER --dataset-name sharegpt --dataset-path missing.json
serve http://SERVER --backend openai_chat
serve http://SERVER --backend vlm
serve http://SERVER --num-prompts ten
serve http://SERVER --num-prompts 0
serve http://SERVER --random-input-len -5

# loads and units
serve http://SERVER --request-rate 4/s
serve http://SERVER --request-rate -1
serve http://SERVER --max-concurency 4
serve http://SERVER --concurrency 4
serve http://SERVER --duration 60
serve http://SERVER --duration 1min
serve http://SERVER --goodput ttft
serve http://SERVER --goodput ttft:0.5s
serve http://SERVER --goodput latency:500
serve http://SERVER --goodput ttft=500
serve http://SERVER --stages 8,16,32
serve http://SERVER --stages 8:30
serve http://SERVER --find
serve http://SERVER --fail-on ttft>500
serve http://SERVER --fail-on ttft_p99>500
serve http://SERVER --fail-on goodput<90%
serve http://SERVER --ramp-up-strategy linear
serve http://SERVER -n 10
serve http://SERVER --num-prompts

# files
serve --config missing.yaml
serve --config wrong.yaml
serve --config profiles.yaml
serve --config profiles.yaml#caht
serve http://SERVER --save-result --result-dir /proc/none --num-prompts 1
serve http://SERVER --export xlsx
serve http://SERVER --theme solar
`

// Each first mistake is told in few lines, with what to try; the golden has the words.
func TestFirstMistakes(t *testing.T) {
	file, err := filepath.Abs("testdata/mistakes.txt")
	assert.Fine(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("OPENAI_API_KEY", "")
	server := strings.TrimPrefix(simulated(t, nil), "http://")
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"Unauthorized"}`))
	}))
	defer locked.Close()
	secured := httptest.NewUnstartedServer(http.NotFoundHandler())
	secured.Config.ErrorLog = nil
	secured.StartTLS()
	defer secured.Close()
	dead := "127.0.0.1:" + unused(t)
	places := []string{"SERVER", server, "LOCKED", strings.TrimPrefix(locked.URL, "http://"),
		"TLS", strings.TrimPrefix(secured.URL, "https://"), "DEAD", dead}
	var names []string // the other way round
	for i := 0; i < len(places); i += 2 {
		names = append(names, places[i+1], places[i])
	}
	for name, content := range map[string]string{
		"broken.key": "one\ntwo\n", "file.txt": "hello\n", "f.jsonl": "{}\n",
		"wrong.yaml":    "modle: m\nnum-prompts: many\nrequest-rate: [1, 2\n",
		"profiles.yaml": "profiles:\n  chat:\n    num-prompts: 5\n  code:\n    num-promts: 5\n",
	} {
		assert.Fine(t, os.WriteFile(name, []byte(content), 0o644))
	}
	var page strings.Builder
	n := 0
	for line := range strings.Lines(mistakes) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			page.WriteString(strings.TrimPrefix(line+"\n", "\n"))
			continue
		}
		words, err := argv.Split(strings.NewReplacer(places...).Replace(line))
		assert.Fine(t, err)
		r := benchtop(words...)
		said := strings.NewReplacer(names...).Replace(r.stderr)
		if n++; r.code == session.ExitFine || said == "" {
			t.Errorf("%s: exit code %d\n%s", line, r.code, said)
		}
		fmt.Fprintf(&page, "\n$ benchtop %s\n%s", line, times.ReplaceAllString(said, "127.0.0.1:PORT"))
	}
	if n < 60 {
		t.Errorf("%d mistakes", n)
	}
	golden.Same(t, file, page.String())
}

// times are what differs between two runs.
var times = regexp.MustCompile(`127\.0\.0\.1:\d{5}`)
