package imports

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"benchtop/datasets/textfile"
)

const (
	// mostLayers bounds archives inside archives.
	mostLayers = 4
	// maxWindow bounds the memory of a zstd decoder, as zstd's own -d does.
	maxWindow = 128 << 20
)

// walk reads a path: the standard input, a file, or the files of a folder in the order of their names.
func (m *importer) walk(path string) error {
	if path == "-" {
		return m.named("standard input", m.Stdin, 0, false)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return m.file(path, false)
	}
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && name != path:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil // a dead link, a socket
		}
		return m.file(name, true)
	})
}

// file reads a file. Optional ones may be of another format.
func (m *importer) file(path string, optional bool) error {
	file, err := textfile.Open(path, "a file or folder of recordings")
	if err != nil {
		return textfile.At(path, err)
	}
	defer file.Close()
	return m.named(path, file, 0, optional)
}

// named reads content of a name, which may be compressed or an archive.
func (m *importer) named(name string, r io.Reader, layers int, optional bool) error {
	err := m.layer(name, r, layers, optional)
	if err == nil || m.ctx.Err() != nil {
		return err
	}
	if _, placed := errors.AsType[*placedError](err); placed {
		return err
	}
	return &placedError{textfile.At(name, textfile.Cause(err))}
}

// placedError is an error that names its file.
type placedError struct{ error }

func (e *placedError) Unwrap() error { return e.error }

// layer unpacks one layer of content.
func (m *importer) layer(name string, r io.Reader, layers int, optional bool) error {
	content := bufio.NewReaderSize(r, 1<<16)
	head, err := content.Peek(tarMark + len(ustar))
	if err != nil && !errors.Is(err, io.EOF) {
		return archiveError(err)
	}
	isTar := len(head) > tarMark && string(head[tarMark:]) == ustar
	packed := bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
	if (isTar || packed) && layers == mostLayers {
		return fmt.Errorf("more than %d archives inside each other; unpack it first", mostLayers)
	}
	switch {
	case isTar:
		return m.archive(name, content, layers+1)
	case packed && head[0] == 0x1f:
		z, err := gzip.NewReader(content)
		if err != nil {
			return archiveError(err)
		}
		return m.layer(name, z, layers+1, optional)
	case packed:
		z, err := zstd.NewReader(content, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return archiveError(err)
		}
		defer z.Close()
		return m.layer(name, z, layers+1, optional)
	}
	return archiveError(m.read(content, optional))
}

// ustar is the mark of a tar archive, tarMark its place.
const (
	ustar   = "ustar"
	tarMark = 257
)

// archive reads the files of a tar archive, in its order.
func (m *importer) archive(name string, r io.Reader, layers int) error {
	entries := tar.NewReader(r)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return archiveError(err)
		}
		if entry.Typeflag == tar.TypeSymlink || entry.Typeflag == tar.TypeLink {
			m.summary.skip("links in archives")
		}
		if entry.Typeflag != tar.TypeReg || strings.HasPrefix(filepath.Base(entry.Name), ".") {
			continue
		}
		if err := m.named(name+"/"+entry.Name, entries, layers, true); err != nil {
			return err
		}
	}
}

// archiveError says what is wrong with an archive in words of its own.
func archiveError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends too early; is it complete?")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errors.New("the zstd archive needs more than 128 MiB of memory; unpack it first, with zstd -d --long=31")
	case errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	return err
}
