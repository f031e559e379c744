package cli

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/session"
	"benchtop/internal/spec"
)

// No flag tells a value that is a key by its looks: not where the value is wrong, nor where what is asked for is
// printed, by command line or file.
func TestNoFlagTellsAKey(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	const key = "sk-canary-0123456789"
	file := filepath.Join(t.TempDir(), "run.yaml")
	spec.New().Flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		common := []string{"serve", "--dry-run", "--skip-tokenizer-init", "--num-prompts=1"}
		outputs := []result{benchtop(append(common, "--"+f.Name+"="+key)...)}
		if f.Name != "num-prompts" && f.Name != "config" {
			if err := os.WriteFile(file, []byte(f.Name+": "+key+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			outputs = append(outputs, benchtop(append(common, "--config="+file)...))
		}
		for _, r := range outputs {
			if all := r.stdout + r.stderr; strings.Contains(all, "canary") {
				t.Errorf("--%s:\n%s", f.Name, all)
			}
		}
	})
}

// A key and a token reach the server with every request, and nothing that is printed or saved has them.
func TestKeysReachTheServerAlone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("KEY", "canary")
	var refused atomic.Int64
	locked := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		known := r.Header.Get("Authorization") == "Bearer canary"
		if !known {
			refused.Add(1)
			http.Error(w, "not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		}
		return !known
	})
	dir := t.TempDir()
	assert.Fine(t, os.WriteFile(filepath.Join(dir, "key"), []byte("canary\n"), 0o600))
	t.Chdir(dir)
	for _, flag := range []string{"--api-key=$KEY", "--api-key=@key", "--api-key=canary", "--auth-command=echo $KEY",
		"--auth-command=cat key", "--auth-command=echo canary"} {
		refused.Store(0)
		r := benchtop("serve", locked.url, flag, "--num-prompts", "3", "--random-input-len", "8", "--random-output-len",
			"2", "--save-result", "--result-dir", "results")
		if r.expect(t, session.ExitFine, "Successful requests:                     3"); refused.Load() > 0 {
			t.Errorf("%s: %d refused", flag, refused.Load())
		}
		if all := r.stdout + r.stderr; strings.Contains(all, "canary") {
			t.Errorf("%s: it is printed:\n%s", flag, all)
		}
	}
	assert.Fine(t, filepath.WalkDir("results", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content := readFile(t, path)
		if strings.HasSuffix(path, ".gz") {
			content = unzipped(t, path)
		}
		if strings.Contains(string(content), "canary") {
			t.Errorf("it is in %s", path)
		}
		return nil
	}))
}

// Why there is no token in place of one that is refused is told at once, in the report, and with the failure of a run
// that has no success.
func TestTokenNotRenewed(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Chdir(t.TempDir())
	var good, sent atomic.Int64 // requests
	locked := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		over := r.URL.Path == "/v1/completions" && r.Method == http.MethodPost && sent.Add(1) > good.Load()
		if over {
			http.Error(w, "expired", http.StatusUnauthorized)
		}
		return over
	})
	run := func(successes int64, command string) result {
		_ = os.Remove("used")
		good.Store(successes)
		sent.Store(0)
		return benchtop("serve", locked.url, "--auth-command", command, "--num-prompts", "4", "--max-concurrency", "1",
			"--random-input-len", "8", "--random-output-len", "2", "--skip-tokenizer-init", "--fail-on", "failed>0")
	}
	const once = "[ ! -e used ] && touch used && echo token || { echo log in >&2; exit 3; }"
	const why = "no new token: --auth-command: exit status 3: log in; the old one stays in use"
	run(3, once).expect(t, session.ExitMissed, "benchtop: "+why, "Authorization: no new token")
	run(0, once).expect(t, session.ExitFailed, "HTTP 401: expired; "+why+": run the command in a shell")
	run(0, "echo token").expect(t, session.ExitFailed,
		"HTTP 401: expired; is the token of --auth-command right for this server?")
}
