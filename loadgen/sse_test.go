package loadgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// events parses a stream given in pieces.
func events(pieces ...string) []string {
	var p sseParser
	var got []string
	for _, piece := range pieces {
		_ = p.feed([]byte(piece), func(name, data []byte) error {
			got = append(got, fmt.Sprintf("%s|%s", name, data))
			return nil
		})
	}
	return got
}

func TestSSE(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"one", "data: a\n\n", []string{"|a"}},
		{"without blank", "data:a\n\n", []string{"|a"}},
		{"only one blank is taken", "data:  a\n\n", []string{"| a"}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed ends", "data: a\r\n\ndata: b\n\r\n", []string{"|a", "|b"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"comment", ": ping\n\ndata: a\n: pong\n\n", []string{"|a"}},
		{"named", "event: error\ndata: x\n\ndata: y\n\n", []string{"error|x", "|y"}},
		{"other fields", "id: 1\nretry: 5\nfoo\ndata: a\n\n", []string{"|a"}},
		{"empty data", "data\n\ndata:\n\n", []string{"|", "|"}},
		{"name without data", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"cut off at the end", "data: a\n\ndata: b\n", []string{"|a"}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []string{"|a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := events(c.stream); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for i := range c.stream {
				for j := i; j <= len(c.stream); j++ {
					if got := events(c.stream[:i], c.stream[i:j], c.stream[j:]); !slices.Equal(got, c.want) {
						t.Fatalf("split at %d and %d: got %q, want %q", i, j, got, c.want)
					}
				}
			}
		})
	}
}

func TestSSELimit(t *testing.T) {
	var p sseParser
	nothing := func(_, _ []byte) error { return nil }
	piece := []byte("data: " + strings.Repeat("x", 1<<20))
	var err error
	for range 20 {
		if err = p.feed(piece, nothing); err != nil {
			break
		}
	}
	if !errors.Is(err, errEventTooLong) {
		t.Errorf("an endless line gave %v", err)
	}
	p = sseParser{}
	for range 20 {
		if err = p.feed(append(slices.Clone(piece), '\n'), nothing); err != nil {
			break
		}
	}
	if !errors.Is(err, errEventTooLong) {
		t.Errorf("an endless event gave %v", err)
	}
}

// Any split of the bytes gives the same events.
func FuzzSSE(f *testing.F) {
	f.Add("event: e\r\ndata: a\r\n: c\r\n\r\ndata:b\rdata\r\r\n", uint16(3), uint16(9))
	f.Fuzz(func(t *testing.T, stream string, a, b uint16) {
		want := events(stream)
		i := int(a) % (len(stream) + 1)
		j := i + int(b)%(len(stream)-i+1)
		if got := events(stream[:i], stream[i:j], stream[j:]); !slices.Equal(got, want) {
			t.Errorf("split at %d and %d: got %q, want %q", i, j, got, want)
		}
		if got := events(strings.Split(stream, "")...); !slices.Equal(got, want) && strings.ToValidUTF8(stream, "") == stream {
			t.Errorf("by characters: got %q, want %q", got, want)
		}
	})
}

func BenchmarkSSE(b *testing.B) {
	var p sseParser
	piece := []byte(`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null}]}` + "\n\n")
	d := decoder{}
	emit := func(_, data []byte) error {
		_, err := d.decode(data)
		return err
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.feed(piece, emit); err != nil {
			b.Fatal(err)
		}
	}
}
