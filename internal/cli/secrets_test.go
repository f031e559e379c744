package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/ci"
	"benchtop/internal/spec"
)

// No flag tells a value that is a key by its looks: not where the value is wrong, nor where what is asked for is
// printed, by command line or file.
func TestNoFlagTellsAKey(t *testing.T) {
	ci.SkipUnderRace(t)
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
