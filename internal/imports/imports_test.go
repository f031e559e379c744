package imports

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"benchtop/datasets/agents"
	"benchtop/internal/assert"
)

// imported is what a text becomes: sessions as lines, and the summary.
func imported(t testing.TB, text string, o Options) (string, *Summary, error) {
	t.Helper()
	o.BlockSize = cmp.Or(o.BlockSize, DefaultBlockSize)
	o.Stdin = strings.NewReader(text)
	var lines []byte
	summary, err := Import(t.Context(), []string{"-"}, o, func(s *agents.Session) error {
		lines = s.AppendJSON(lines)
		return nil
	})
	return strings.TrimSpace(string(lines)), summary, err
}

// same compares what a text becomes.
func same(t *testing.T, name, text, want string, o Options) *Summary {
	t.Helper()
	got, summary, err := imported(t, text, o)
	if err != nil || got != want {
		t.Errorf("%s: got\n%s, error %v, want\n%s", name, got, err, want)
	}
	return summary
}

// refused are texts, each with its name and a part of the error that it becomes.
func refused(t *testing.T, cases [][3]string) {
	t.Helper()
	for _, c := range cases {
		if _, _, err := imported(t, c[1], Options{}); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: got %v, want %s", c[0], err, c[2])
		}
	}
}

// whole wants sessions that can be read wherever a text is not an error.
func whole(t *testing.T, name, text string, o Options) {
	t.Helper()
	lines, summary, err := imported(t, text, o)
	if err != nil {
		return
	}
	sessions := 0
	err = agents.Read(t.Context(), strings.NewReader(lines), func(*agents.Session) error { sessions++; return nil })
	if err != nil || sessions != summary.Sessions {
		t.Errorf("%s: %d of %d sessions, %v: %.1000s", name, sessions, summary.Sessions, err, lines)
	}
}

const small = `{"id":"a","block_size":64,"hash_id_scope":"local","requests":[{"t":0,"in":64,"out":1,"hash_ids":[7]}]}`

const smallSession = `{"session":"a","block_size":64,"requests":[{"in":64,"out":1,"blocks":[[7,1]]}]}`

func TestFormats(t *testing.T) {
	refused(t, [][3]string{
		{"nothing", "", "standard input: the file is empty; expected a trace of kv-cache-tester (agentx), spans"},
		{"blanks", " \n\n", "the file is empty"},
		{"text", "hello", "standard input: this is not JSON; expected"},
		{"an array of numbers", "[1]", "line 1: expected an object: got a number"},
		{"an empty array", "[]", "the file is empty"},
		{"another object", "{}", "the format is not known"},
		{"sessions", smallSession, "this is a file of sessions already"},
		{"the second is broken", small + "\n\n{\"id\" 5}",
			"standard input, line 3: not JSON: invalid character '5' after object key"},
		{"the second is none", small + "\n5", "standard input, line 2: expected an object: got a number"},
		{"cut", small[:50], "line 1: the file ends before its last object does; is it complete?"},
		{"something behind", "[" + small + "] 5", "something follows the array"},
		{"deep", strings.Repeat("[", 20000), "not JSON"},
		{"a zip", "PK\x03\x04", "this is a zip archive"},
		{"no gzip", "\x1f\x8bxxxxxxxxxxxxxx", "the archive is damaged"},
		{"not UTF-8", "{\"id\":\"\xff\"}", "standard input, line 1: the text is not UTF-8"},
	})
	if _, _, err := imported(t, small, Options{Format: OTel}); err == nil ||
		!strings.Contains(err.Error(), "objects other than spans (1)") {
		t.Errorf("another format: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Import(stopped, []string{"-"}, Options{BlockSize: 1, Stdin: strings.NewReader(small)},
		nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// packed are the archives that content may stand in.
func packed(t *testing.T, content string) map[string][]byte {
	t.Helper()
	var file, zipped, inTar bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	archive := tar.NewWriter(&inTar)
	// half of it has no session
	for _, x := range [][2]string{{"d/README", "no JSON"}, {"d/.hidden.json", "{"}, {"d/a.json", content}} {
		_ = archive.WriteHeader(&tar.Header{Name: x[0], Mode: 0o644, Size: int64(len(x[1])), Format: tar.FormatPAX})
		_, _ = archive.Write([]byte(x[1]))
	}
	_ = archive.Close()
	encoder := assert.Must(zstd.NewWriter(&file))(t)
	_, _ = encoder.Write(inTar.Bytes())
	_ = encoder.Close()
	return map[string][]byte{"a.json": []byte(content), "a.gz": zipped.Bytes(), "a.tar": inTar.Bytes(),
		"a.tar.zst": file.Bytes()}
}

func TestArchives(t *testing.T) {
	for name, data := range packed(t, small) {
		same(t, name, string(data), smallSession, Options{})
		if name == "a.json" {
			continue
		}
		if _, _, err := imported(t, string(data[:len(data)/2]), Options{}); err == nil ||
			!strings.Contains(err.Error(), "is it complete?") && name != "a.tar" {
			t.Errorf("half of %s: %v", name, err)
		}
	}
	text := small
	for range mostLayers + 1 {
		text = string(packed(t, text)["a.gz"])
	}
	refused(t, [][3]string{{"many layers", text, "more than 4 archives inside each other"}})
}

// A folder is read in the order of its names. Files of other formats are passed over, but not broken ones.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		assert.Fine(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	read := func() (names []string, s *Summary, err error) {
		s, err = Import(t.Context(), []string{dir}, Options{BlockSize: 64}, func(s *agents.Session) error {
			names = append(names, s.Name)
			return nil
		})
		return names, s, err
	}
	write("README.md", "# Traces")
	write("picture", "\x89PNG\xff")
	write("empty.json", "")
	write("package.json", `{"name":"x"}`)
	if _, _, err := read(); err == nil || err.Error() != "no sessions were found; skipped: files of other formats (4)" {
		t.Errorf("no sessions: %v", err)
	}
	write("b.json", strings.Replace(small, `"a"`, `"b"`, 1))
	write("sub/c.json", strings.Replace(small, `"a"`, `"c"`, 1))
	write("a.json", small)
	write(".git/x.json", "{")
	names, s, err := read()
	if got := fmt.Sprint(names, s.skipped, err); got != "[a b c] map[files of other formats:4] <nil>" {
		t.Error(got)
	}
	write("d.json", small[:50])
	if _, _, err := read(); err == nil ||
		!strings.HasPrefix(err.Error(), filepath.Join(dir, "d.json")+", line 1: the file ends") {
		t.Errorf("a broken file: %v", err)
	}
}

func FuzzImport(f *testing.F) {
	for _, text := range []string{small, "[" + small + "]", spansText(),
		`{"custom_id":"a","url":"/v1/completions","body":{"prompt":["a",[1,2]],"max_tokens":5}}`,
		`{"custom_id":"a","body":{"messages":[{"role":"user","content":[{"type":"text","text":"b"}]}],"tools":[{}]}}`,
		nested} {
		f.Add([]byte(text), 16, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, blockSize int, keepText bool) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5}) {
			return // the decoders have tests of their own
		}
		whole(t, "fuzzed", string(data),
			Options{BlockSize: max(1, min(blockSize, agents.MaxBlockSize)), KeepText: keepText})
	})
}

// Numbers of Python, a byte order mark and the line ends of Windows mean nothing.
func TestFilesOfPython(t *testing.T) {
	const odd = `{"score":NaN,"least":[-Infinity],"id"`
	text := "\ufeff" + strings.Replace(small, `{"id"`, odd, 1) + "\r\n" +
		strings.NewReplacer(`{"id"`, odd, `"a"`, `"NaN"`).Replace(small) + "\r\n"
	v := assert.Must(newValues(strings.NewReader(text)))(t)
	for line, name := range []string{`"id":"a"`, `"id":"NaN"`} {
		object, err := v.next()
		if err != nil || !strings.Contains(string(object), name) || !strings.Contains(string(object), `"score":null`) ||
			v.number() != line+1 {
			t.Errorf("line %d: %s, %v", v.number(), object, err)
		}
	}
}
