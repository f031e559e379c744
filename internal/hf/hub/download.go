package hub

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// begin reports that a download begins, and returns the words for its file.
func (r *Remote) begin(f File) (what string) {
	what = fmt.Sprintf("%s of %s from %s", f.Name, r.repo.id, r.endpoint.Host)
	if f.Reported && r.hub.lost.Load() == nil {
		r.hub.progress("downloading " + f.part + what)
	}
	return what
}

// Get returns the content of a file. The error is an fs.ErrNotExist only if the hub has the repository, but not the
// file.
func (r *Remote) Get(ctx context.Context, f File) ([]byte, error) {
	what := r.begin(f)
	ctx, cancel := context.WithTimeoutCause(ctx, fetchWithin, fmt.Errorf("it took longer than %v", fetchWithin))
	defer cancel()
	data, _, err := r.read(ctx, what, r.address(f.Name), f, r.hub.progress)
	return data, err
}

// read returns what an address has for a file, of which what is said to a person. An answer that is shorter than was
// announced is an error.
func (r *Remote) read(ctx context.Context, what string, at *url.URL, f File,
	report func(string)) ([]byte, http.Header, error) {
	resp, err := r.get(ctx, http.MethodGet, at, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot download %s: %w", what, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil, r.refusal(what, f.Name, resp)
	}
	var data []byte
	if err = tooLarge(f.Limit); resp.ContentLength <= f.Limit {
		data, err = readBounded(io.TeeReader(resp.Body, newProgress(what, resp.ContentLength, report)), f.Limit)
	}
	if err == nil && int64(len(data)) < resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot download %s: %w", what, halfway(err, int64(len(data))))
	}
	return data, resp.Header, misdelivered(what, f, resp.Header.Get("Content-Type"), data)
}

// foreign is the error for an answer that begins as no file does, such as a proxy's page to log in.
func foreign(what, kind string, begin []byte) error {
	media, _, _ := mime.ParseMediaType(kind)
	lower := bytes.ToLower(bytes.TrimSpace(begin[:min(len(begin), 512)]))
	switch {
	case media == "text/html" || bytes.HasPrefix(lower, []byte("<!doctype html")) ||
		bytes.HasPrefix(lower, []byte("<html")):
		return fmt.Errorf("a web page came instead of %s; does a proxy want a login? Check HF_ENDPOINT and HTTPS_PROXY",
			what)
	case bytes.HasPrefix(begin, []byte(pointer)):
		return fmt.Errorf("a pointer of Git's to a large file came instead of %s; does this hub have its large files? "+
			"Check HF_ENDPOINT", what)
	}
	return nil
}

// misdelivered is the error for something else than the file.
func misdelivered(what string, f File, kind string, data []byte) error {
	if err := foreign(what, kind, data); err != nil {
		return err
	}
	switch {
	case f.JSON && !json.Valid(data):
		return fmt.Errorf("%s came as %d bytes that are not JSON; try again", what, len(data))
	case len(data) == 0:
		return fmt.Errorf("%s came empty; try again", what)
	case f.Check != nil:
		return f.checked(what, bytes.NewReader(data))
	}
	return nil
}

// checked reports why a content cannot be the file.
func (f File) checked(what string, content io.Reader) error {
	if err := f.Check(content); err != nil {
		return fmt.Errorf("%s came as something else: %w; try again", what, err)
	}
	return nil
}

// halfway is the error of an answer that ended before its time.
func halfway(err error, done int64) error {
	if err == nil || errors.As(err, new(tooLarge)) {
		return err
	}
	return halfError{done, err}
}

// halfError says that half a file came.
type halfError struct {
	done int64
	why  error
}

func (e halfError) Error() string {
	if e.why == io.ErrUnexpectedEOF {
		return fmt.Sprintf("the answer broke off after %d bytes; try again", e.done)
	}
	return fmt.Sprintf("the answer broke off after %d bytes: %v", e.done, e.why)
}

func (e halfError) Unwrap() error { return e.why }

// keepError says that a download has no place to stay.
type keepError struct {
	what string
	error
}

func (e *keepError) Error() string {
	return fmt.Sprintf("%s could not be kept (%v); benchtop needs a directory there that it may write to, and room in "+
		"it", e.what, e.error)
}

// Save downloads a file to path, which is whole or not there. Memory does not depend on its size.
func (r *Remote) Save(ctx context.Context, f File, path string) error {
	d := download{remote: r, file: f, what: r.begin(f), hash: sha256.New()}
	err := d.run(ctx, path)
	if d.made != "" {
		defer os.RemoveAll(d.made)
		err = errors.Join(err, d.to.Close())
	}
	if err != nil {
		return err
	}
	if f.Check != nil {
		written, err := os.Open(d.to.Name())
		if err != nil {
			return err
		}
		defer written.Close()
		if err := f.checked(d.what, written); err != nil {
			return err
		}
		written.Close() // Windows renames no open file
	}
	err = os.Rename(d.to.Name(), path)
	if err != nil && f.usable(path) == nil { // Windows: another process kept the same, and it is being read
		return nil
	}
	return d.unkept(err)
}

// download is a file on its way to the disk.
type download struct {
	remote *Remote
	file   File
	what   string

	made string   // the directory that it is written in; "" before there is an answer
	to   *os.File // in made
	done int64    // bytes written
	hash hash.Hash
	said *progress

	unwritten error // what keeps the disk from taking more
}

// maxResumed is how often a download is taken up again. Each time something must have come.
const maxResumed = 5

// run downloads the whole file. Where its sum is known, one that breaks off is taken up again.
func (d *download) run(ctx context.Context, path string) error {
	for resumed := 0; ; resumed++ {
		before := d.done
		err := d.more(ctx, path)
		if err == nil {
			break
		}
		if errors.As(err, new(halfError)) && d.file.sum != "" && d.done > before && resumed < maxResumed {
			continue
		}
		return err
	}
	if got := hex.EncodeToString(d.hash.Sum(nil)); d.file.sum != "" && got != d.file.sum {
		return fmt.Errorf("%s came damaged: its SHA-256 is %.12s, expected %.12s; try again", d.what, got, d.file.sum)
	}
	return d.unkept(d.to.Sync())
}

// unkept is the error of a disk that does not take the file.
func (d *download) unkept(err error) error {
	if err == nil {
		return nil
	}
	return &keepError{d.file.Name + " of " + d.remote.repo.id, err}
}

// more asks for what is missing and writes it.
func (d *download) more(ctx context.Context, path string) error {
	r, f := d.remote, d.file
	resp, err := r.get(ctx, http.MethodGet, r.address(f.Name), d.done)
	if err != nil {
		return fmt.Errorf("cannot download %s: %w", d.what, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && d.done > 0:
	case resp.StatusCode != http.StatusOK:
		return r.refusal(d.what, f.Name, resp)
	case d.done > 0: // the host gives whole files alone
		if err := d.restart(); err != nil {
			return d.unkept(err)
		}
	}
	total := f.size
	if total == 0 && resp.ContentLength > 0 {
		total = resp.ContentLength
	}
	if total > f.Limit {
		return fmt.Errorf("cannot download %s: %w", d.what, tooLarge(f.Limit))
	}
	if d.said == nil {
		d.said = newProgress(f.part+d.what, total, r.hub.progress)
	}
	return d.copy(resp, path, total)
}

// restart forgets the bytes that came.
func (d *download) restart() error {
	d.done = 0
	d.hash.Reset()
	d.said.done = 0
	_, err := d.to.Seek(0, io.SeekStart)
	return cmp.Or(err, d.to.Truncate(0))
}

// copy writes an answer that ends with the file, which has total bytes, 0 where that is not known.
func (d *download) copy(resp *http.Response, path string, total int64) error {
	from := bufio.NewReaderSize(resp.Body, 256<<10)
	if d.done == 0 {
		begin, _ := from.Peek(512) // the error comes again
		if err := foreign(d.what, resp.Header.Get("Content-Type"), begin); err != nil {
			return err
		}
		if len(begin) > 0 && d.made == "" {
			if err := d.create(path); err != nil {
				return d.unkept(err)
			}
		}
	}
	most := cmp.Or(total, d.file.Limit)
	_, err := io.Copy(d, io.LimitReader(from, most-d.done))
	switch {
	case d.unwritten != nil:
		return d.unkept(d.unwritten)
	case err == nil && d.done < total:
		err = io.ErrUnexpectedEOF
	case err == nil && d.done == 0:
		return fmt.Errorf("%s came empty; try again", d.what)
	}
	if err == nil && d.done == most {
		if n, _ := from.Read(make([]byte, 1)); n > 0 && total == 0 {
			err = tooLarge(most)
		} else if n > 0 {
			return fmt.Errorf("cannot download %s: more than its %d bytes came; try again", d.what, total)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot download %s: %w", d.what, halfway(err, d.done))
	}
	return nil
}

// Write takes bytes that came.
func (d *download) Write(p []byte) (n int, err error) {
	n, d.unwritten = d.to.Write(p)
	d.hash.Write(p[:n])
	d.done += int64(n)
	d.said.add(int64(n))
	return n, d.unwritten
}

// create makes the file that is renamed to path.
func (d *download) create(path string) (err error) {
	made, err := makeIncomplete(filepath.Dir(path))
	if err != nil {
		return err
	}
	if d.to, err = os.Create(filepath.Join(made, filepath.Base(path))); err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	d.made = made
	return nil
}

// progress reports how far a download is, at most once a second.
type progress struct {
	what        string
	done, total int64 // bytes; total is 0 where it is not known
	begun, next time.Time
	report      func(string)
}

const reportEvery = time.Second

func newProgress(what string, total int64, report func(string)) *progress {
	now := time.Now()
	return &progress{what: what, total: max(0, total), begun: now, next: now.Add(reportEvery), report: report}
}

// Write counts bytes that came.
func (p *progress) Write(data []byte) (int, error) {
	p.add(int64(len(data)))
	return len(data), nil
}

func (p *progress) add(n int64) {
	p.done += n
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(reportEvery)
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %.1f", float64(p.total)/1e6)
	}
	p.report(fmt.Sprintf("downloading %s: %.1f%s MB, %.1f MB/s", p.what, float64(p.done)/1e6, of,
		float64(p.done)/1e6/now.Sub(p.begun).Seconds()))
}
