package tokenizer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/hub/hubtest"
)

// variables is an environment of its own; offline unless it says otherwise.
func variables(pairs ...string) func(string) string {
	env := map[string]string{"HF_HUB_OFFLINE": "1"}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return env[name] }
}

// find searches on a new hub.
func find(ctx context.Context, o FindOptions, h hub.Options) (Found, error) {
	o.Hub = hub.New(h)
	return Find(ctx, o)
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestFindAFileOrDirectory(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	zip.Write([]byte(`{"packed":1}`))
	zip.Close()
	root := hubtest.Plant(t, map[string]string{
		"whole/tokenizer.json": "{}", "whole/tokenizer_config.json": "config",
		"whole/special_tokens_map.json": "special", "whole/config.json": "model",
		"whole/chat_template.jinja": "jinja", "whole/additional_chat_templates/tool_use.jinja": "tools",
		"whole/chat_template.json": "older",
		"bare/tokenizer.json":      "{}", "bare/chat_template.json": "template",
		"other/qwen.json": `{"other":1}`, "other/tokenizer_config.json": "of another",
		"packed.json.gz": packed.String(),
	})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	whole := Found{Files: Files{Tokenizer: []byte("{}"), Config: []byte("config"), SpecialTokens: []byte("special"),
		Model: []byte("model")}, Path: at("whole"), Name: at("whole"),
		Jinja: []byte("jinja"), ToolJinja: []byte("tools"), JSON: []byte("older")}
	wholeFile := whole
	wholeFile.Path, wholeFile.Name = at("whole/tokenizer.json"), at("whole/tokenizer.json")
	tests := []struct {
		name string
		o    FindOptions
		want Found
	}{
		{"directory", FindOptions{Tokenizer: at("whole"), Model: "m/m"}, whole},
		{"file with others beside it", FindOptions{Tokenizer: at("whole/tokenizer.json")}, wholeFile},
		{"model's directory", FindOptions{Model: at("whole")}, whole},
		{"older template", FindOptions{Model: at("bare")},
			Found{Files: Files{Tokenizer: []byte("{}")}, Path: at("bare"), Name: at("bare"),
				JSON: []byte("template")}},
		{"file of another name", FindOptions{Tokenizer: at("other/qwen.json")},
			Found{Files: Files{Tokenizer: []byte(`{"other":1}`)}, Path: at("other/qwen.json"),
				Name: at("other/qwen.json")}},
		{"packed file", FindOptions{Tokenizer: at("packed.json.gz")},
			Found{Files: Files{Tokenizer: []byte(`{"packed":1}`)}, Path: at("packed.json.gz"),
				Name: at("packed.json.gz")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := assert.Must(find(t.Context(), test.o, hub.Options{Env: variables()}))(t)
			test.want.By = "--model"
			if test.o.Tokenizer != "" {
				test.want.By = "--tokenizer"
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindRefusesWhatIsNamed(t *testing.T) {
	root := hubtest.Plant(t, map[string]string{
		"empty/tokenizer.json": "", "none/config.json": "{}", "sp/tokenizer.model": "x", "tekken.json": "{}",
		"lfs/tokenizer.json":  "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n",
		"link/tokenizer.json": "-> gone", "dangling": "-> nowhere",
		"side/tokenizer.json": "{}", "side/tokenizer_config.json": "-> gone",
		"dir/tokenizer.json/x": "", "cut.gz": "\x1f\x8b\x08", "gpt2": "a file",
	})
	tests := []struct {
		name string
		want []string
	}{
		{"empty", []string{"tokenizer.json is empty"}},
		{"none", []string{"none has no tokenizer.json"}},
		{"sp", []string{"only tokenizer.model", "not read here", "let the server count", "save_pretrained"}},
		{"tekken.json", []string{"unsupported kind of file", "let the server count"}},
		{"lfs", []string{"git lfs pull"}},
		{"link", []string{"broken link", "its target gone is gone"}},
		{"dangling", []string{"broken link", "nowhere"}},
		{"side", []string{"tokenizer_config.json is a broken link"}},
		{"dir", []string{"not a regular file"}},
		{"cut.gz", []string{"cut.gz", "EOF"}},
		{"nothing", []string{"no such file"}},
		{"gpt2/below", []string{"gpt2/below"}},
		{"a\x00b", []string{"cannot be had"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := find(t.Context(), FindOptions{Tokenizer: filepath.Join(root, test.name), Model: "org/name"},
				hub.Options{Env: variables()})
			complains(t, err, append(test.want, "--tokenizer")...)
			if _, ok := errors.AsType[*NotFoundError](err); ok {
				t.Errorf("got %v, an error to go on after; a tokenizer was named", err)
			}
		})
	}
}

func TestFindGoesOnWithoutAModel(t *testing.T) {
	root := hubtest.Plant(t, map[string]string{"model/config.json": "{}", "model.gguf": "x"})
	for _, name := range []string{"", filepath.Join(root, "model"), filepath.Join(root, "model.gguf"), "/models/none",
		"//host/share",
		`\\host\share`, "two words", "https://host/org/name", "../up", "org/../up", "a/b/c", "org/", "/", "..", "-x",
		"org/x.git", "ümlaut/x", "a--b", "C:\\models"} {
		_, err := find(t.Context(), FindOptions{Model: name},
			hub.Options{Env: variables("HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://127.0.0.1:1", "HF_HOME", root)})
		missing, ok := errors.AsType[*NotFoundError](err)
		if !ok || len(missing.Tried) == 0 || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("model %q: got error %v, want one that lists what was tried, without the hub", name, err)
		}
	}
}

// TestFindTakesADirectoryAtItsWord: a directory without a tokenizer is not a model of that name on the hub.
func TestFindTakesADirectoryAtItsWord(t *testing.T) {
	root := hubtest.Plant(t,
		map[string]string{"org/name/config.json": "{}", "hub/models--org--name/snapshots/1/tokenizer.json": "{}"})
	t.Chdir(root)
	o := FindOptions{Model: "org/name", Hub: hub.New(hub.Options{Env: variables("HF_HOME", root)})}
	if _, err := Find(t.Context(), o); err == nil {
		t.Error("got a tokenizer of the hub")
	}
	t.Chdir("org")
	if found, err := Find(t.Context(), o); err != nil || found.Name != "org/name" || len(found.Tried) != 1 {
		t.Errorf("got %+v, error %v", found, err)
	}
}

// A server's own names are not looked up on the hub, unless they have an owner; a user's names are, but for those that
// the server says are its own.
func TestFindByTheServersNames(t *testing.T) {
	root := hubtest.Plant(t, map[string]string{"here/tokenizer.json": "{}"})
	here := filepath.Join(root, "here")
	for _, c := range []struct {
		name, root, model string
		want, by          string // the name that led to a tokenizer and what named it, "" for none
		asked             string // of the hub
	}{
		{"the server's root with an owner", "org/name", "", "org/name", "the server's model root", "org/name"},
		{"the server's alias", "tiny", "", "", "", ""},
		{"no root", "", "", "", "", ""},
		{"the server's path", "/models/none", "", "", "", ""},
		{"the server's path, here as well", here, "", here, "the server's model root", ""},
		{"a name from the user", "", "gpt2", "gpt2", "--model", "gpt2"},
		{"the same from both", "gpt2", "gpt2", "gpt2", "--model", "gpt2"},
		{"the user's name is an alias of a path", "/models/none", "tiny", "", "", ""},
		{"of a path that is here as well", here, "org/name", here, "the server's model root", ""},
		{"of a path that is not here, with an owner", "/models/none", "org/name", "org/name", "--model", "org/name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := serveModel(t, nil)
			h.Before = hubtest.Answer(200, "", noTokens)
			found, err := find(t.Context(), FindOptions{Root: c.root, Model: c.model}, onHub(t, h))
			if found.Name != c.want || found.By != c.by || err == nil == (c.want == "") {
				t.Errorf("got %q named by %q, error %v", found.Name, found.By, err)
			}
			if asked := strings.Join(h.Asked(), " "); (asked == "") != (c.asked == "") ||
				!strings.Contains(asked, c.asked) {
				t.Errorf("the hub was asked %q, want %q", asked, c.asked)
			}
		})
	}
}

func TestFindInHubCache(t *testing.T) {
	blob := "../../blobs/b"
	tests := []struct {
		name  string
		files map[string]string
		o     FindOptions
		want  string // directory of the snapshot, or words of the error after "! "
	}{
		{"by ref", map[string]string{"m/refs/main": commit + "\n", "m/blobs/b": "{}",
			"m/snapshots/" + commit + "/tokenizer.json": "-> " + blob,
			"m/snapshots/zzz/tokenizer.json":            "{}"}, FindOptions{}, commit},
		{"another revision",
			map[string]string{"m/refs/main": "aaa", "m/refs/refs/pr/1": "bbb", "m/snapshots/aaa/tokenizer.json": "{}",
				"m/snapshots/bbb/tokenizer.json": "{}"}, FindOptions{Revision: "refs/pr/1"}, "bbb"},
		{"a directory of refs is no ref",
			map[string]string{"m/refs/main/x": "aaa", "m/snapshots/aaa/tokenizer.json": "{}"}, FindOptions{}, "aaa"},
		{"a commit", map[string]string{"m/snapshots/" + commit + "/tokenizer.json": "{}"},
			FindOptions{Revision: commit}, commit},
		{"no ref", map[string]string{"m/snapshots/old/tokenizer.json": "{}", "m/snapshots/new/tokenizer.json": "{}",
			"m/snapshots/newest/config.json": "{}"}, FindOptions{}, "new"},
		{"as tokenizer", map[string]string{"m/snapshots/a/tokenizer.json": "{}"},
			FindOptions{Tokenizer: "org/name", Model: "x/y"}, "a"},
		{"unknown revision", map[string]string{"m/snapshots/a/tokenizer.json": "{}"}, FindOptions{Revision: "v2"},
			"! does not have revision v2"},
		{"bad revision", map[string]string{"m/snapshots/a/tokenizer.json": "{}"}, FindOptions{Revision: "../../x"},
			`! "../../x" is not a valid revision`},
		{"ref out of the cache", map[string]string{"m/refs/main": "../../x", "x/tokenizer.json": "{}"}, FindOptions{},
			"! does not hold a commit"},
		{"empty ref", map[string]string{"m/refs/main": ""}, FindOptions{}, "! main is empty"},
		{"broken blob", map[string]string{"m/refs/main": "aaa", "m/snapshots/aaa/tokenizer.json": "-> " + blob},
			FindOptions{}, "! broken link: its target ../../blobs/b is gone"},
		{"nothing but broken blobs", map[string]string{"m/snapshots/aaa/tokenizer.json": "-> " + blob}, FindOptions{},
			"! no snapshot has a usable tokenizer.json"},
		{"snapshot without", map[string]string{"m/refs/main": "aaa", "m/snapshots/aaa/tekken.json": "{}"},
			FindOptions{}, "! only tekken.json, which is not read here"},
		{"no snapshots", map[string]string{"m/x": ""}, FindOptions{}, "! no snapshot"},
		{"another model", map[string]string{"other/x": ""}, FindOptions{}, "! does not have the model"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for name, content := range test.files {
				name = strings.Replace("hub/"+name, "hub/m/", "hub/models--org--name/", 1)
				files[name] = content
			}
			home := hubtest.Plant(t, files)
			snapshots := filepath.Join(home, "hub", "models--org--name", "snapshots")
			os.Chtimes(filepath.Join(snapshots, "old"), time.Now(), time.Unix(1e9, 0)) // fails where there is none
			o := test.o
			o.Hub = hub.New(hub.Options{Env: variables("HF_HOME", home), Cache: filepath.Join(home, "own")})
			if o.Tokenizer == "" {
				o.Model = "org/name"
			}
			found, err := Find(t.Context(), o)
			if words, bad := strings.CutPrefix(test.want, "! "); bad {
				complains(t, err, filepath.FromSlash(words))
				return
			}
			assert.Fine(t, err)
			if want := filepath.Join(snapshots, test.want); found.Path != want || found.Name != "org/name" ||
				string(found.Tokenizer) != "{}" {
				t.Errorf("got %+v, want it from %s", found, want)
			}
		})
	}
}

func TestFindKnowsTheCachesOfTheEnvironment(t *testing.T) {
	const at = "/models--gpt2/snapshots/a/tokenizer.json"
	root := hubtest.Plant(t,
		map[string]string{"1" + at: "1", "2" + at: "2", "3/hub" + at: "3", "4/huggingface/hub" + at: "4",
			"5/.cache/huggingface/hub" + at: "5", "6" + at: "6"})
	dir := func(n string) string { return filepath.Join(root, n) }
	tests := []struct {
		env  []string
		want string
	}{
		{[]string{"HF_HUB_CACHE", dir("1"), "HUGGINGFACE_HUB_CACHE", dir("2"), "HF_HOME", dir("3")}, "1"},
		{[]string{"HUGGINGFACE_HUB_CACHE", dir("2"), "HF_HOME", dir("3")}, "2"},
		{[]string{"HF_HOME", dir("3"), "XDG_CACHE_HOME", dir("4")}, "3"},
		{[]string{"XDG_CACHE_HOME", dir("4"), "HOME", dir("5"), "USERPROFILE", dir("5")}, "4"},
		{[]string{"HOME", dir("5"), "USERPROFILE", dir("5")}, "5"},
		{[]string{"HOME", root, "USERPROFILE", root, "HF_HOME", "~/3"}, "3"},
		{[]string{"ROOT", root, "HF_HUB_CACHE", "$ROOT/1"}, "1"},
		{[]string{"HOME", dir("none"), "USERPROFILE", dir("none"), "TRANSFORMERS_CACHE", dir("6")}, "6"},
		{[]string{"HF_HOME", dir("3"), "TRANSFORMERS_CACHE", dir("6")}, "3"},
	}
	for _, test := range tests {
		found, err := find(t.Context(), FindOptions{Model: "gpt2"},
			hub.Options{Env: variables(test.env...), Cache: dir("own")})
		if err != nil || string(found.Tokenizer) != test.want {
			t.Errorf("%q: got %s, error %v, want the tokenizer %s", test.env, found.Tokenizer, err, test.want)
		}
	}
	_, err := find(t.Context(), FindOptions{Model: "gpt2"}, hub.Options{Env: variables(), Cache: dir("own")})
	complains(t, err, "set HF_HOME", "HF_HUB_OFFLINE is set")
}
