package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

// wire answers requests without a network.
type wire func(r *http.Request) *http.Response

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w(r), nil
}

func response(status int, length int64, body io.Reader, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: length, Body: io.NopCloser(body)}
	for i := 0; i < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// slow gives a block of bytes after each pause.
type slow struct {
	ctx    context.Context
	blocks int
	size   int
	pause  time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	if s.blocks == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(s.pause):
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	s.blocks--
	return copy(p, bytes.Repeat([]byte("x"), s.size)), nil
}

// onWire is a hub that is reached by a wire.
func onWire(t testing.TB, w wire, said func(string)) *Hub {
	return New(Options{Env: func(name string) string { return map[string]string{"HF_ENDPOINT": "http://hub"}[name] },
		Client: &http.Client{Transport: w}, Cache: t.TempDir(), Progress: said})
}

func TestDownloadProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		h := onWire(t, func(r *http.Request) *http.Response {
			return response(http.StatusOK, 200_000, &slow{r.Context(), 100, 2000, 25 * time.Millisecond})
		}, func(line string) { said = append(said, line) })
		path, err := h.Fetch(t.Context(), theDataset(t),
			File{Name: "a.parquet", Limit: 1 << 20, Reported: true, part: "file 2 of 3, "})
		if info, _ := os.Stat(path); err != nil || info.Size() != 200_000 {
			t.Fatalf("got %v, error %v", info, err)
		}
		want := []string{"downloading file 2 of 3, a.parquet of org/name from hub",
			"downloading file 2 of 3, a.parquet of org/name from hub: 0.1 of 0.2 MB, 0.1 MB/s",
			"downloading file 2 of 3, a.parquet of org/name from hub: 0.2 of 0.2 MB, 0.1 MB/s"}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onWire(t, func(r *http.Request) *http.Response {
			return response(http.StatusOK, 1<<30, &slow{r.Context(), 1 << 20, 1024, time.Second})
		}, nil)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 90*time.Second, errors.New("the user has gone"))
		defer cancel()
		begun := time.Now()
		_, err := h.Fetch(ctx, theDataset(t), File{Name: "a", Limit: 1 << 30, sum: "0"})
		if err == nil || err.Error() != "the user has gone" || time.Since(begun) != 90*time.Second {
			t.Errorf("got error %v after %v", err, time.Since(begun))
		}
		nothingIn(t, h.cache)
	})
}

func TestDownloadThatFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onWire(t, func(r *http.Request) *http.Response {
			return response(http.StatusOK, 1<<20,
				io.MultiReader(strings.NewReader(strings.Repeat("x", 1000)), &slow{r.Context(), 1, 1, time.Hour}))
		}, nil)
		_, err := h.Fetch(t.Context(), theDataset(t), File{Name: "a", Limit: 1 << 20})
		complains(t, err, "the answer broke off after 1000 bytes: nothing came for 30s; try again")
		nothingIn(t, h.cache)
	})
}

// A download that breaks off goes on where it ended, if the host can do that, and from the start if not.
func TestDownloadGoesOn(t *testing.T) {
	content := strings.Repeat("0123456789", 1000)
	sum := sha256.Sum256([]byte(content))
	tests := []struct {
		name   string
		ranges bool // the host heeds Range
		cut    int  // bytes that it gives at a time
		sum    string
		want   string // requests and, behind "!", a part of the error
	}{
		{"goes on", true, 4000, hex.EncodeToString(sum[:]), " bytes=4000- bytes=8000-"},
		{"starts again", false, 4000, hex.EncodeToString(sum[:]), " bytes=4000-!broke off after 4000 bytes"},
		{"too often", true, 1000, hex.EncodeToString(sum[:]),
			" bytes=1000- bytes=2000- bytes=3000- bytes=4000- bytes=5000-!broke off after 6000 bytes"},
		{"without a sum", true, 4000, "", "!broke off after 4000 bytes"},
		{"other content", true, 4000, strings.Repeat("0", 64),
			" bytes=4000- bytes=8000-!came damaged: its SHA-256 is "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := ""
			h := onWire(t, func(r *http.Request) *http.Response {
				from, status := 0, http.StatusOK
				if at := r.Header.Get("Range"); at != "" {
					asked += " " + at
					if test.ranges {
						fmt.Sscanf(at, "bytes=%d-", &from)
						status = http.StatusPartialContent
					}
				}
				rest := content[from:]
				body := io.Reader(strings.NewReader(rest))
				if len(rest) > test.cut {
					body = io.MultiReader(strings.NewReader(rest[:test.cut]), brokenReader{})
				}
				return response(status, int64(len(rest)), body)
			}, nil)
			path, err := h.Fetch(t.Context(), theDataset(t),
				File{Name: "a", Limit: 1 << 20, size: int64(len(content)), sum: test.sum})
			want, failure, fails := strings.Cut(test.want, "!")
			assert.Equal(t, asked, want, "asked for")
			if fails {
				complains(t, err, failure)
				nothingIn(t, h.cache)
			} else if data, _ := os.ReadFile(path); err != nil || string(data) != content {
				t.Errorf("got %d bytes, error %v", len(data), err)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A host that asks to wait is asked once more.
func TestDownloadWaitsWhenAskedTo(t *testing.T) {
	tests := []struct {
		after  string
		waited time.Duration
		asked  int
		want   string
	}{
		{"7", 7 * time.Second, 2, ""},
		{"0", time.Second, 2, ""},
		{"3600", 0, 1, "wants fewer requests"},
		{"soon", 0, 1, "wants fewer requests"},
		{"", 0, 1, "wants fewer requests"},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			var said []string
			h := onWire(t, func(*http.Request) *http.Response {
				if asked++; asked == 1 {
					return response(http.StatusTooManyRequests, 0, http.NoBody, "Retry-After", test.after)
				}
				return response(http.StatusOK, 1, strings.NewReader("x"))
			}, func(line string) { said = append(said, line) })
			begun := time.Now()
			_, err := h.Fetch(t.Context(), theDataset(t), lines("a"))
			if time.Since(begun) != test.waited || asked != test.asked || (err == nil) != (test.want == "") {
				t.Errorf("%q: got error %v after %v and %d requests", test.after, err, time.Since(begun), asked)
			}
			if test.want != "" {
				complains(t, err, test.want)
			} else if len(said) != 1 || !strings.Contains(said[0], "waiting for "+test.waited.String()) {
				t.Errorf("%q: got progress %q", test.after, said)
			}
		})
	}
}

// Files of the hub that are fetched at once come whole.
func TestShardsAtOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("data/train-%05d-of-00004.parquet", i)] = strings.Repeat(string(rune('a'+i)), 1<<20)
	}
	s := hubtest.Serve(t, map[string]map[string]string{"org/name": files})
	shards := assert.Must(ofHub(s, t.TempDir(), nil).Select(t.Context(), Selection{Path: "org/name"}))(t)
	assert.Need(t, len(shards), 4, "shards")
	var group sync.WaitGroup
	for _, shard := range append(shards, shards...) {
		group.Go(func() {
			path, err := shard.Fetch(t.Context())
			if data, _ := os.ReadFile(path); err != nil || string(data) != files[shard.Name] {
				t.Errorf("%s: got %d bytes, error %v", shard.Name, len(data), err)
			}
		})
	}
	group.Wait()
}

// BenchmarkDownload has 256 MB come, of which memory holds little.
func BenchmarkDownload(b *testing.B) {
	b.ReportAllocs()
	const size = 256 << 20
	h := onWire(b, func(*http.Request) *http.Response {
		return response(http.StatusOK, size, io.LimitReader(&endless{}, size))
	}, nil)
	remote, err := h.Remote(theDataset(b))
	assert.Fine(b, err)
	b.SetBytes(size)
	for b.Loop() {
		assert.Fine(b, remote.Save(b.Context(), File{Name: "a", Limit: size}, filepath.Join(h.cache, "a")))
	}
}
