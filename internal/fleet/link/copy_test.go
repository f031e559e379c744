package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// growing is a file in memory to which a goroutine appends.
type growing struct {
	mu sync.Mutex
	b  []byte
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.b = append(g.b, p...)
	return len(p), nil
}

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at >= int64(len(g.b)) {
		return 0, io.EOF
	}
	n := copy(p, g.b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (g *growing) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.b)
}

// pair is a source and a replica of its file.
type pair struct {
	file, copy growing
	source     *Source
	replica    *Replica
	live       growing
}

func newPair(t *testing.T, coordinator, worker Wire) *pair {
	p := &pair{}
	var err error
	if p.source, err = NewSource(worker, "worker.1.journal", &p.file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.source.Close)
	p.replicate(t, coordinator)
	return p
}

func (p *pair) replicate(t *testing.T, coordinator Wire) {
	write := func(b []byte) error {
		if !bytes.HasSuffix(b, []byte("\n")) && len(b) > 100 && bytes.Contains(b, []byte("\n")) {
			t.Error("an answer ends within a line")
		}
		_, err := p.copy.Write(b)
		return err
	}
	live := func(b []byte) { p.live.Write(b) }
	r := assert.Must(NewReplica(coordinator, "worker.1.journal", int64(len(p.copy.String())), write, live))(t)
	p.replica = r
	t.Cleanup(r.Close)
}

// grow appends lines for a while, the last of them without its end.
func (p *pair) grow(r *rand.Rand, lines int, pause time.Duration) {
	for i := range lines {
		fmt.Fprintf(&p.file, "%d %s\n", i, strings.Repeat("x", r.IntN(4000)))
		p.source.Live(binary.BigEndian.AppendUint64(nil, uint64(i)))
		time.Sleep(pause)
	}
	io.WriteString(&p.file, "the last, broken off")
}

func (p *pair) finish(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.source.End(ctx) }()
	if err := p.replica.Wait(ctx); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	assert.Equal(t, p.file.String(), p.copy.String(), "%d bytes are copied as %d others", len(p.file.b), len(p.copy.b))
}

// Each byte arrives once and in order where messages are lost, doubled, late, cut, or all of it.
func TestCopy(t *testing.T) {
	late := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(900)) * time.Millisecond }
	for name, set := range map[string]func(*fake){
		"fine":      func(*fake) {},
		"lost":      func(f *fake) { f.loss = 0.3 },
		"doubled":   func(f *fake) { f.twice = 0.5; f.delay = late },
		"reordered": func(f *fake) { f.delay = late },
		"cut":       func(f *fake) { f.from, f.until = time.Now().Add(time.Second), time.Now().Add(6*time.Second) },
		"slow":      func(f *fake) { f.rate = 30 << 10 },
		"small":     func(f *fake) { f.most = 1000 },
		"all": func(f *fake) {
			f.loss, f.twice, f.delay, f.most = 0.2, 0.3, late, 64<<10
			f.from, f.until = time.Now().Add(2*time.Second), time.Now().Add(7*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake(seed)
					set(f)
					p := newPair(t, f, f)
					p.grow(rand.New(rand.NewPCG(seed, 1)), 500, 10*time.Millisecond)
					p.finish(t)
					p.orderly(t)
					if lost := p.replica.Progress().Lost; lost == 0 && (name == "lost" || name == "cut") {
						t.Error("no notice is counted as lost")
					}
					p.replica.Close()
					p.source.Close()
				})
			}
		})
	}
}

// orderly says whether live records came once each, in order.
func (p *pair) orderly(t *testing.T) {
	t.Helper()
	last := int64(-1)
	for b := []byte(p.live.String()); len(b) > 0; b = b[8:] {
		n := int64(binary.BigEndian.Uint64(b))
		if n <= last {
			t.Fatalf("live record %d after %d", n, last)
		}
		last = n
	}
	if last < 0 {
		t.Error("no live record came")
	}
}

// A line is not copied before its end, but that of a file that has ended.
func TestCopyOfWholeLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := newPair(t, f, f)
		io.WriteString(&p.file, "one\ntwo\nthr")
		time.Sleep(time.Second)
		assert.Equal(t, p.copy.String(), "one\ntwo\n", "copied")
		long := strings.Repeat("x", 3<<20)
		io.WriteString(&p.file, "ee\n"+long)
		time.Sleep(time.Second)
		if got := len(p.copy.String()); got != len("one\ntwo\nthree\n") {
			t.Errorf("copied %d bytes", got)
		}
		p.finish(t)
		p.replica.Close()
		p.source.Close()
	})
}

// A replica that starts later fetches what is not here, and one that starts again goes on where it was.
func TestCopyGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := newPair(t, f, f)
		r := rand.New(rand.NewPCG(1, 1))
		p.grow(r, 100, 10*time.Millisecond)
		p.replica.Close()
		io.WriteString(&p.file, "\n")
		p.grow(r, 2000, time.Millisecond)
		p.replicate(t, f)
		p.finish(t)
		p.replica.Close()
		p.source.Close()
	})
}

// Live records of 256 KB go at once, and more than 512 KB do not collect.
func TestLiveRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := newPair(t, f, f)
		synctest.Wait()
		p.source.Live(make([]byte, 200<<10))
		time.Sleep(time.Millisecond)
		assert.Equal(t, len(p.live.String()), 0, "bytes came early")
		p.source.Live(make([]byte, 100<<10))
		time.Sleep(time.Millisecond)
		assert.Equal(t, len(p.live.String()), 300<<10, "bytes came")
		for range 100 {
			p.source.Live(make([]byte, 100<<10))
		}
		p.source.mu.Lock()
		if n := len(p.source.pending); n > 512<<10 {
			t.Errorf("%d bytes wait", n)
		}
		p.source.mu.Unlock()
		p.replica.Close()
		p.source.Close()
	})
}

// What cannot be copied is said: the worker is gone, the file is another one, the disk is full.
func TestCopyFails(t *testing.T) {
	type how = func(t *testing.T, w *fake, p *pair) error
	fails := func(name, want string, f how) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake(1)
				p := newPair(t, w, w)
				io.WriteString(&p.file, "a line\n")
				time.Sleep(time.Second)
				assert.Complains(t, f(t, w, p), want)
				p.replica.Close()
				p.source.Close()
			})
		})
	}
	fails("gone", "7 of at least 7 bytes are here: nothing has come for", func(t *testing.T, _ *fake, p *pair) error {
		p.source.Close()
		start := time.Now()
		err := p.replica.Wait(t.Context())
		if waited := time.Since(start); waited > silence {
			t.Errorf("it waited %v", waited)
		}
		return err
	})
	fails("interrupted", "of at least 7 bytes are here: context deadline", func(t *testing.T, _ *fake, p *pair) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return p.replica.Wait(ctx)
	})
	fails("closed", "closed", func(t *testing.T, w *fake, p *pair) error {
		p.replica.Close()
		return p.replica.Wait(t.Context())
	})
	fails("other file", "another file", func(t *testing.T, w *fake, p *pair) error {
		p.replica.Close()
		io.WriteString(&p.copy, strings.Repeat("more\n", 9))
		p.replicate(t, w)
		go p.source.End(t.Context())
		return p.replica.Wait(t.Context())
	})
	fails("disk", "no space", func(t *testing.T, w *fake, p *pair) error {
		p.replica.Close()
		r, err := NewReplica(w, "worker.1.journal", 0, func([]byte) error { return errors.New("no space") }, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		return r.Wait(t.Context())
	})
	fails("source", "has all 7 bytes", func(t *testing.T, w *fake, p *pair) error {
		p.replica.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return p.source.End(ctx)
	})
}

// Foreign bytes as notices and fetches neither panic nor make the copy grow.
func FuzzCopy(f *testing.F) {
	f.Add(binary.BigEndian.AppendUint64(nil, 7))
	f.Add(bytes.Repeat([]byte{0xff}, noticeHead))
	f.Add(bytes.Repeat([]byte{0xff}, fetchSize))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Replica{soon: make(chan struct{}, 1), done: make(chan struct{})}
		r.notice("", data)
		r.notice("", data)
		s := &Source{file: strings.NewReader("one\ntwo\n"), wire: newFake(1), told: make(chan struct{}, 1)}
		s.length.Store(8)
		if answer := s.fetch("", data); len(answer) > 8 {
			t.Errorf("%d bytes of a file of 8", len(answer))
		}
	})
}
