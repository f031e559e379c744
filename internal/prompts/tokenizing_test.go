package prompts

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/server"
	"benchtop/loadgen"
	"benchtop/loadgen/target"
)

// unheard is a reporter that drops all.
type unheard struct{}

func (unheard) Tell(string)               {}
func (unheard) Show(string)               {}
func (unheard) Step(string)               {}
func (unheard) Count(int, int, string)    {}
func (unheard) CountEvery() time.Duration { return time.Second }

// silentServer takes requests and never answers.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that does not answer is not waited for for ever: not long while it is tried, and longer for the tokens of a
// text.
func TestSilentServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := must(target.New(target.Options{BaseURL: "http://silent.test"}))(t)
		client := &http.Client{Transport: silentServer{}}
		d := &Drawing{Options: &Options{Tokens: TokenizerOptions{Name: Estimate}},
			Server: &server.Options{Servers: loadgen.Servers{Target: to}}, Client: client, AskServer: true,
			To: unheard{}}
		began := time.Now()
		fine(t, d.findTokenizing(t.Context()))
		if took := time.Since(began); d.tokenizing.server != nil || took != server.AskTimeout {
			t.Errorf("tried for %s, server %v", took, d.tokenizing.server)
		}
		began = time.Now()
		s := tokenizer.NewServer(impatient(client), "http://silent.test", "m")
		complains(t, failure(s.EncodeContext(context.Background(), "a text")), "no answer in time")
		assert.Equal(t, time.Since(began), answerTimeout, "waited for")
		assert.Equal(t, client.Timeout, 0, "the client of all others has a limit now")
	})
}

// A tokenizer whose class does not follow its file, in an unsupported way, is used with a note.
func TestTokenizerClassIsNoted(t *testing.T) {
	for config, note := range map[string]string{
		`{"tokenizer_class": "PreTrainedTokenizerFast"}`: "",
		`{"tokenizer_class": "BertTokenizer"}`: "BertTokenizer is not set up here, because the model is of " +
			"type WordLevel",
		`{"tokenizer_class": "CodeLlamaTokenizerFast"}`: "CodeLlamaTokenizer sets itself up instead of following " +
			"tokenizer.json, in an unsupported way",
		`{"auto_map": {"AutoTokenizer": ["x.X", ` +
			`null]}}`: "the model comes with a tokenizer class of its own, which a server that trusts it follows",
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{
			"tokenizer.json":        `{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}`,
			"tokenizer_config.json": config,
		} {
			fine(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
		m := must((&TokenizerOptions{Name: dir}).Find(t.Context(), nil, server.Model{}))(t)
		var want []string
		if note != "" {
			want = []string{"token counts may differ from those of transformers: " + note}
		}
		if !slices.Equal(m.Notes, want) || m.Local == nil {
			t.Errorf("%s: got the notes %q, want %q", config, m.Notes, want)
		}
	}
}
