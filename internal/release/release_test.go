package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestVersionOf(t *testing.T) {
	for described, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.3-dirty": "1.2.3+dirty", "v1.2.3-4-gabc123": "1.2.3.post4.dev0+gabc123",
		"v1.2.3-4-gabc123-dirty": "1.2.3.post4.dev0+gabc123.dirty",
		"abc123":                 "0.0.0.dev0+gabc123", "abc123-dirty": "0.0.0.dev0+gabc123.dirty", "": "0.0.0.dev0+g",
	} {
		assert.Equal(t, versionOf(described), want, "%q", described)
	}
}

// A wheel has the binary as a script that may be run, its tags, and a record with the right sum of each file.
func TestWheel(t *testing.T) {
	dist := t.TempDir()
	all := []file{{"benchtop", 0o755, []byte("program")}, {"README.md", 0o644, []byte("# benchtop\n")},
		{"LICENSE", 0o644, []byte("licence")}}
	assert.Fine(t, writeWheel(dist, "manylinux_2_17_x86_64.musllinux_1_1_x86_64", "1.2.3", all, time.Unix(1e9, 0)))
	found, err := filepath.Glob(dist + "/*")
	if err != nil || len(found) != 1 ||
		filepath.Base(found[0]) != "benchtop-1.2.3-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl" {
		t.Fatal(found, err)
	}
	z, err := zip.OpenReader(found[0])
	assert.Fine(t, err)
	defer z.Close()
	contents, record := map[string]string{}, ""
	for _, f := range z.File {
		r, err := f.Open()
		assert.Fine(t, err)
		content, err := io.ReadAll(r)
		assert.Fine(t, err)
		if contents[f.Name] = string(content); strings.HasSuffix(f.Name, "/RECORD") {
			continue
		}
		sum := sha256.Sum256(content)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
		if f.Name == "benchtop-1.2.3.data/scripts/benchtop" && f.Mode().Perm() != 0o755 {
			t.Errorf("the script has the mode %v", f.Mode())
		}
	}
	for name, want := range map[string]string{
		"benchtop-1.2.3.data/scripts/benchtop":      "program",
		"benchtop-1.2.3.dist-info/RECORD":           record + "benchtop-1.2.3.dist-info/RECORD,,\n",
		"benchtop-1.2.3.dist-info/METADATA":         fmt.Sprintf(metadata, "1.2.3") + "# benchtop\n",
		"benchtop-1.2.3.dist-info/licenses/LICENSE": "licence",
		"benchtop-1.2.3.dist-info/WHEEL": wheelTags + "Tag: py3-none-manylinux_2_17_x86_64\n" +
			"Tag: py3-none-musllinux_1_1_x86_64\n",
	} {
		assert.Equal(t, contents[name], want, "%s", name)
	}
}
