package imports

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// wrong are values to put in place of others.
var wrong = []string{"null", "true", `"5"`, `""`, `"a"`, "[]", "{}", "[[]]", "-1", "0", "0.5", "1e308", "-1e308",
	"31622400", "1099511627776", "9223372036854775807",
	"18446744073709551616", "NaN", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), strings.Repeat("9", 500)}

// A recording with a wrong value is an error, or becomes sessions that can be read.
func TestMutations(t *testing.T) {
	n := 0
	values := regexp.MustCompile(`"[^"]*"|-?[0-9.]+|\[[^\[\]{}]*\]`)
	for _, name := range []string{"agentx.json", "spans.jsonl", "batch.jsonl"} {
		data := assert.Must(os.ReadFile(filepath.Join("../cli/testdata/import", name)))(t)
		text := string(data)
		for _, at := range values.FindAllStringIndex(text, -1) {
			for _, w := range wrong {
				if n++; n%17 != 0 {
					continue
				}
				changed := text[:at[0]] + w + text[at[1]:]
				whole(t, fmt.Sprintf("%s, byte %d as %.40s", name, at[0], w), changed, Options{KeepText: n%2 == 0})
			}
		}
	}
}

// blanks are so many of them.
type blanks int64

func (b *blanks) Read(p []byte) (int, error) {
	n := min(int64(len(p)), int64(*b))
	if *b -= blanks(n); n == 0 {
		return 0, io.EOF
	}
	copy(p, bytes.Repeat([]byte{' '}, int(n)))
	return int(n), nil
}

// A few bytes that unpack to blanks without end are given up.
func TestBlanksWithoutEnd(t *testing.T) {
	endless := blanks(1 << 40)
	began := time.Now()
	_, err := Import(t.Context(), []string{"-"}, Options{BlockSize: 1, Stdin: &endless}, nil)
	if err == nil || !strings.Contains(err.Error(), "this is not JSON") {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// Links in an archive are counted, and none of its names is opened.
func TestLinksInArchives(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	archive := tar.NewWriter(z)
	for _, header := range []*tar.Header{
		{Name: "../../a.json", Typeflag: tar.TypeReg, Size: int64(len(small))},
		{Name: "b.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "c.json", Typeflag: tar.TypeLink, Linkname: "../../a.json"},
		{Name: "/dev/d", Typeflag: tar.TypeChar},
	} {
		assert.Fine(t, archive.WriteHeader(header))
		if header.Size > 0 {
			_, _ = archive.Write([]byte(small)) // into memory
		}
	}
	_ = archive.Close()
	_ = z.Close()
	got, summary, err := imported(t, b.String(), Options{})
	if err != nil || got != smallSession || summary.skippedText() != "links in archives (2)" {
		t.Errorf("%s, skipped %q, %v", got, summary.skippedText(), err)
	}
}
