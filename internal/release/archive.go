package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string
	mode    os.FileMode
	content []byte
}

// read reads a file for an archive.
func read(path, name string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	content, err := os.ReadFile(path)
	return file{name, info.Mode().Perm(), content}, err
}

// writeTar writes an archive of a folder's name beside it.
func writeTar(folder string, all []file, date time.Time) error {
	return write(folder+".tar.gz", func(w io.Writer) error {
		z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is right
		t := tar.NewWriter(z)
		for _, f := range all {
			err := t.WriteHeader(&tar.Header{Name: filepath.Base(folder) + "/" + f.name, Mode: int64(f.mode),
				Size: int64(len(f.content)), ModTime: date, Format: tar.FormatPAX})
			if err != nil {
				return err
			}
			if _, err := t.Write(f.content); err != nil {
				return err
			}
		}
		return errors.Join(t.Close(), z.Close())
	})
}

// writeZip is writeTar for systems that know no tar.
func writeZip(folder string, all []file, date time.Time) error {
	var within []file
	for _, f := range all {
		f.name = filepath.Base(folder) + "/" + f.name
		within = append(within, f)
	}
	return write(folder+".zip", func(w io.Writer) error { return zipped(w, within, date) })
}

// zipped writes the files as a zip archive.
func zipped(w io.Writer, all []file, date time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range all {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date.UTC()}
		h.SetMode(f.mode)
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.content); err != nil {
			return err
		}
	}
	return z.Close()
}

const (
	summary  = "Load test for LLM servers that you can watch live in a terminal"
	metadata = "Metadata-Version: 2.1\nName: benchtop\nVersion: %s\nSummary: " + summary + "\n" +
		"License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
	wheelTags = "Wheel-Version: 1.0\nGenerator: benchtop\nRoot-Is-Purelib: false\n"
)

// writeWheel writes a wheel (https://packaging.python.org/en/latest/specifications/binary-distribution-format) whose
// only script is the binary, the first of the files.
func writeWheel(dist, platform, version string, all []file, date time.Time) error {
	stem := "benchtop-" + version
	info, tags := stem+".dist-info/", wheelTags
	for one := range strings.SplitSeq(platform, ".") {
		tags += "Tag: py3-none-" + one + "\n"
	}
	binary := all[0]
	binary.name = stem + ".data/scripts/" + binary.name
	within := []file{binary}
	for _, f := range all[1:] {
		if f.name == "README.md" {
			f = file{info + "METADATA", 0o644, append(fmt.Appendf(nil, metadata, version), f.content...)}
		} else {
			f.name = info + "licenses/" + f.name
		}
		within = append(within, f)
	}
	within = append(within, file{info + "WHEEL", 0o644, []byte(tags)})
	var record strings.Builder
	for _, f := range within {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	within = append(within, file{info + "RECORD", 0o644, []byte(record.String())})
	name := fmt.Sprintf("%s-py3-none-%s.whl", stem, platform)
	return write(filepath.Join(dist, name), func(w io.Writer) error { return zipped(w, within, date) })
}

// write creates a file.
func write(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}
