package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A chat template that cannot be rendered is an error with the model, the reason and advice that works:
// --skip-chat-template is named only where it helps.
func TestTemplateThatCannotBeRendered(t *testing.T) {
	const skip = "--skip-chat-template"
	for i, c := range []struct {
		name, template, why string
	}{
		{"a tag of its own", "{% call x() %}{% endcall %}", "line 1: the tag call"},
		{"cut off", "{% for m in messages %}{{ m.content ", "line 1: unterminated tag"},
		{"refuses", "{{ raise_exception('no system role') }}", "it refuses this chat: no system role"},
		{"drops the words", "hello", "has lost the text of message 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := modelDirectory(t, "gpt2-short")
			assert.Fine(t, os.WriteFile(filepath.Join(model, "chat_template.jinja"), []byte(c.template), 0o600))
			sets := map[string]bool{"--dataset-name custom --dataset-path " + datasetFiles + "custom_small.jsonl": true}
			if i == 0 { // the words are the template's, the remedy is the data set's
				sets["--dataset-name speed_bench --dataset-path "+datasetFiles+"speed_bench_small"] = true
				sets["--dataset-name spec_bench --dataset-path "+datasetFiles+"spec_bench_small.jsonl"] = false
				sets["--dataset-name sonnet"] = false
			}
			for args, skippable := range sets {
				words := append([]string{"dataset", "--num-prompts", "1", "--tokenizer", model},
					strings.Fields(args)...)
				r := benchtop(words...)
				r.expect(t, session.ExitUsage, "model "+model, c.why, "--tokenizer DIRECTORY", "--base-url")
				assert.Equal(t, strings.Contains(r.stderr, skip), skippable, "%s: the error is %q", args, r.stderr)
				if skippable {
					benchtop(append(words, skip)...).expect(t, session.ExitFine)
				}
			}
		})
	}
}
