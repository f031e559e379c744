package simulator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/internal/simulator/pipetest"
)

// reply is the data on the connection of a client without an HTTP library.
type reply struct {
	raw    string
	err    error // of the last read: nil for an end in order
	took   time.Duration
	pauses []time.Duration // gaps between reads of 50 ms and more

	head   string
	status int
	pieces []string // the chunks of a chunked body
	whole  bool     // the body has its end
	events []string // data, with the time of creation taken out
}

// ends names the end of the connection.
func (r reply) ends() string {
	switch {
	case errors.Is(r.err, syscall.ECONNRESET):
		return "reset"
	case r.err != nil:
		return r.err.Error()
	case r.raw == "":
		return "nothing"
	case !r.whole:
		return "cut"
	}
	return "whole"
}

// silence is the longest wait of a client in these tests.
const silence = time.Minute

var creation = regexp.MustCompile(`"created":\d+`)

// ask sends one request for four tokens on a connection of its own and reads the whole reply.
func ask(t *testing.T, conn net.Conn, path, fault string) (r reply) {
	t.Helper()
	defer conn.Close()
	body := `{"prompt":` + ids(100) + `,"max_tokens":4,"ignore_eos":true,"stream":true,` +
		`"stream_options":{"include_usage":true}}`
	if path == "/v1/chat/completions" {
		body = `{"messages":[{"role":"user","content":"hello"}],"max_tokens":4,"ignore_eos":true,"stream":true,` +
			`"stream_options":{"include_usage":true}}`
	}
	start := time.Now()
	// The kernel reports an immediate reset once: to the write, if it is late, or else to the read.
	_, unwritten := fmt.Fprintf(conn,
		"POST %s HTTP/1.1\r\nHost: h\r\nX-Request-Id: q\r\n%s: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		path, FaultHeader, fault, len(body), body)
	var raw strings.Builder
	buffer := make([]byte, 4096)
	last := start
	for {
		if err := conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			t.Error(err)
			return r
		}
		n, err := conn.Read(buffer)
		raw.Write(buffer[:n])
		if gap := time.Since(last); n > 0 && gap >= 50*time.Millisecond {
			r.pauses = append(r.pauses, gap)
		}
		last = time.Now()
		if err != nil {
			if err != io.EOF {
				r.err = err
			} else if errors.Is(unwritten, syscall.ECONNRESET) {
				r.err = unwritten
			}
			break
		}
	}
	r.took, r.raw = last.Sub(start), raw.String()
	r.parse()
	return r
}

// parse takes an answer apart as far as it goes.
func (r *reply) parse() {
	head, body, ok := strings.Cut(r.raw, "\r\n\r\n")
	if !ok {
		return
	}
	r.head = head
	_, _ = fmt.Sscanf(head, "HTTP/1.1 %d", &r.status)
	if !strings.Contains(head, "Transfer-Encoding: chunked") {
		r.whole, r.pieces = true, []string{body}
		return
	}
	for {
		line, rest, ok := strings.Cut(body, "\r\n")
		size, err := strconv.ParseUint(line, 16, 32)
		if !ok || err != nil || len(rest) < int(size)+2 {
			break
		}
		if size == 0 {
			r.whole = true
			break
		}
		r.pieces = append(r.pieces, rest[:size])
		body = rest[size+2:]
	}
	for event := range strings.SplitSeq(strings.ReplaceAll(strings.Join(r.pieces, ""), "\r\n", "\n"), "\n\n") {
		if data, ok := strings.CutPrefix(event, "data: "); ok {
			r.events = append(r.events, creation.ReplaceAllString(data, `"created":0`))
		}
	}
}

// Every fault that one request can ask for, byte for byte, on sockets and on the network in memory.
func TestFaultsOnTheWire(t *testing.T) {
	first := func(n int) func([]string) []string { return func(plain []string) []string { return plain[:n] } }
	same := func(plain []string) []string { return plain }
	const wait = 300 * time.Millisecond
	tests := []struct {
		fault  string
		ends   string
		status int
		events func(plain []string) []string // nil if there is no stream
		also   func(r reply) string          // a further problem
		longer time.Duration                 // than without a fault
		// in the answer, in virtual time: a busy machine makes some and hides others
		pauses []time.Duration
	}{
		{fault: "reset-header", ends: "reset"},
		{fault: "close-header", ends: "nothing"},
		{fault: "not-http", ends: "cut", also: expectRaw("SSH-2.0-not_a_web_server\r\n")},
		{fault: "status=429", ends: "whole", status: 429, also: expectIn("\r\nRetry-After: 1\r\n",
			`{"error":{"message":"simulated fault: Too Many `+
				`Requests","type":"TooManyRequestsError","param":null,"code":429}}`)},
		{fault: "status=500", ends: "whole", status: 500, also: expectIn(`"type":"InternalServerError"`)},
		{fault: "status=503", ends: "whole", status: 503,
			also: expectIn("\r\nRetry-After: 1\r\n", `"type":"ServiceUnavailableError"`)},
		{fault: "status=599", ends: "whole", status: 599, also: expectIn(`"type":"UnknownError"`)},
		{fault: "slow-headers=300ms", ends: "whole", status: 200, events: same, longer: wait,
			pauses: []time.Duration{wait}},
		{fault: "empty", ends: "whole", status: 200, events: func([]string) []string { return []string{"[DONE]"} }},
		{fault: "reset", ends: "reset", status: 200, events: first(1)},
		{fault: "reset,after=0", ends: "reset", status: 200, events: first(0)},
		{fault: "reset,after=3", ends: "reset", status: 200, events: first(3)},
		{fault: "reset,after=1000", ends: "reset", status: 200, events: first(3)},
		{fault: "close,after=2", ends: "cut", status: 200, events: first(2)},
		{fault: "truncate,after=2", ends: "whole", status: 200, events: first(2)},
		{fault: "error-in-stream,after=2", ends: "whole", status: 200, events: func(plain []string) []string {
			return append(slices.Clone(plain[:2]),
				`{"error":{"message":"simulated fault: the engine `+
					`failed","type":"InternalServerError","param":null,"code":500}}`, "[DONE]")
		}},
		{fault: "malformed", ends: "whole", status: 200, events: func(plain []string) []string {
			return append(slices.Clone(plain[:1]), `{"id":"simulated fault","choices":[{"index":0,`, "[DONE]")
		}},
		{fault: "loop,after=2", ends: "whole", status: 200, events: func(plain []string) []string {
			text := regexp.MustCompile(`"text":"[^"]*"`)
			looped := slices.Clone(plain)
			for i := range looped[2:4] {
				looped[2+i] = text.ReplaceAllString(looped[2+i], text.FindString(plain[1]))
			}
			return looped
		}},
		{fault: "loop=2", ends: "whole", status: 200, events: same}, // there is one request
		{fault: "stall=300ms,after=3", ends: "whole", status: 200, events: same, pauses: []time.Duration{wait}},
		{fault: "slow-body=100ms", ends: "whole", status: 200, events: same,
			pauses: slices.Repeat([]time.Duration{100 * time.Millisecond}, 6), also: func(r reply) string {
				if len(r.pieces) != 12 {
					return fmt.Sprintf("%d pieces, want 12", len(r.pieces))
				}
				return ""
			}},
		{fault: "split-utf8", ends: "whole", status: 200,
			events: func(plain []string) []string {
				var wider []string
				for _, e := range plain {
					wider = append(wider, widenedText(e))
				}
				return wider
			},
			also: func(r reply) string {
				cut := 0
				for _, p := range r.pieces {
					if !utf8.ValidString(p) {
						cut++
					}
				}
				text := strings.Join(r.pieces, "")
				if n := len(text) - utf8.RuneCountInString(text); n == 0 || cut == 0 || !utf8.ValidString(text) {
					return fmt.Sprintf("%d pieces cut a character, %d bytes more than characters", cut, n)
				}
				return ""
			}},
		{fault: "crlf", ends: "whole", status: 200, events: same, also: func(r reply) string {
			if text := strings.Join(r.pieces, ""); strings.Count(text, "\n") != strings.Count(text, "\r\n\r\n")*2 {
				return fmt.Sprintf("line ends are mixed in %q", text)
			}
			return ""
		}},
		{fault: "comments", ends: "whole", status: 200, events: same, also: func(r reply) string {
			if n := strings.Count(r.raw, ": ping\n\n"); n != 6 {
				return fmt.Sprintf("%d comments, want 6", n)
			}
			return ""
		}},
		{fault: "coalesce=4", ends: "whole", status: 200, events: same,
			pauses: []time.Duration{53303 * time.Microsecond}, also: func(r reply) string {
				if len(r.pieces) != 2 || strings.Count(r.pieces[0], "data: ") != 4 {
					return fmt.Sprintf("pieces %q, want four events and two", r.pieces)
				}
				return ""
			}},
		{fault: "no-usage", ends: "whole", status: 200,
			events: func(plain []string) []string { return slices.Delete(slices.Clone(plain), 4, 5) }},
		{fault: "no-done", ends: "whole", status: 200, events: first(5)},
	}
	p := round()
	play := func(t *testing.T, dial func() net.Conn, exact bool) {
		plain := ask(t, dial(), "/v1/completions", "")
		if len(plain.events) != 6 || plain.ends() != "whole" {
			t.Fatalf("without a fault: %s, events %q", plain.ends(), plain.events)
		}
		for _, tt := range tests {
			r := ask(t, dial(), "/v1/completions", tt.fault)
			var want []string
			if tt.events != nil {
				want = tt.events(plain.events)
			}
			if r.ends() != tt.ends || r.status != tt.status || !slices.Equal(r.events, want) {
				t.Errorf("%s: ends %s, want %s; status %d, want %d; events\n%s\nwant\n%s", tt.fault, r.ends(), tt.ends,
					r.status, tt.status,
					strings.Join(r.events, "\n"), strings.Join(want, "\n"))
			}
			if longer := r.took - plain.took; exact && tt.longer > 0 && longer != tt.longer {
				t.Errorf("%s: took %v longer, want %v", tt.fault, longer, tt.longer)
			}
			if exact && !slices.Equal(r.pauses, tt.pauses) {
				t.Errorf("%s: pauses of %v, want %v", tt.fault, r.pauses, tt.pauses)
			}
			least := time.Duration(0)
			for _, p := range tt.pauses {
				least += p
			}
			if r.took < least {
				t.Errorf("%s: took %v, want %v or more", tt.fault, r.took, least)
			}
			if tt.also != nil {
				assert.Equal(t, tt.also(r), "", "%s", tt.fault)
			}
		}
	}
	t.Run("sockets", func(t *testing.T) {
		s := New(p)
		dial := onSockets(t, s)
		play(t, func() net.Conn { return mustDial(t, dial) }, false)
	})
	t.Run("pipe", func(t *testing.T) {
		bubble(t, p, func(c *client) {
			play(t, func() net.Conn { return mustDial(t, c.dial) }, true)
		})
	})
}

func expectRaw(want string) func(reply) string {
	return func(r reply) string {
		if r.raw != want {
			return fmt.Sprintf("got %q, want %q", r.raw, want)
		}
		return ""
	}
}

func expectIn(words ...string) func(reply) string {
	return func(r reply) string {
		for _, w := range words {
			if !strings.Contains(r.raw, w) {
				return fmt.Sprintf("%q is missing in %q", w, r.raw)
			}
		}
		return ""
	}
}

// widenedText widens the text of an event and nothing else.
func widenedText(event string) string {
	head, tail, ok := strings.Cut(event, `"text":"`)
	if !ok {
		return event
	}
	text, tail, _ := strings.Cut(tail, `"`)
	return head + `"text":"` + strings.NewReplacer("a", "ä", "e", "€", "i", "語", "o", "😀", "u", "ß").Replace(text) +
		`"` + tail
}

// onSockets serves s on a free port until the test ends.
func onSockets(t *testing.T, s *Server) func(context.Context) (net.Conn, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	t.Cleanup(serve(t, s, s.Listener(l)))
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	}
}

func mustDial(t *testing.T, dial func(context.Context) (net.Conn, error)) net.Conn {
	t.Helper()
	conn, err := dial(context.Background())
	assert.Fine(t, err)
	return conn
}

// A chat has one event more: the role, which comes with the first token.
func TestFaultInChat(t *testing.T) {
	bubble(t, round(), func(c *client) {
		for fault, want := range map[string]int{"truncate,after=0": 0, "truncate": 2, "truncate,after=3": 4,
			"no-done": 6} {
			if r := ask(t, mustDial(t, c.dial), "/v1/chat/completions", fault); len(r.events) != want {
				t.Errorf("%s: %d events, want %d: %q", fault, len(r.events), want, r.events)
			}
		}
	})
}

// A stall without a time lasts until the client leaves or the server stops, and holds neither up.
func TestStallForEver(t *testing.T) {
	bubble(t, round(), func(c *client) {
		r := ask(t, mustDial(t, c.dial), "/v1/completions", "stall,after=2") // leaves after a minute of silence
		if len(r.events) != 2 || !strings.Contains(r.ends(), "timeout") {
			t.Errorf("%d events, %s", len(r.events), r.ends())
		}
		synctest.Wait()
		if s := c.server.engine.snapshot(); s.running+s.waiting != 0 {
			t.Errorf("%d running and %d waiting after the client left", s.running, s.waiting)
		}
		stopped := make(chan reply)
		conn := mustDial(t, c.dial)
		go func() { stopped <- ask(t, conn, "/v1/completions", "stall,after=2") }()
		time.Sleep(time.Second)
		if err := c.server.Close(); err != nil {
			t.Error(err)
		}
		if r := <-stopped; len(r.events) != 4 || !strings.Contains(r.raw, errStopped.Error()) {
			t.Errorf("%d events when the server stopped: %q", len(r.events), r.raw)
		}
	})
}

// hitsOf sends requests one after the other, each on a connection of its own, and returns those hit by a status.
func hitsOf(t *testing.T, p Profile, requests int) (hits []string) {
	t.Helper()
	bubble(t, p, func(c *client) {
		for number := range requests {
			c.do("GET", "/v1/models", "") // does not count
			if r := ask(t, mustDial(t, c.dial), "/v1/completions", ""); r.status != 200 {
				hits = append(hits, fmt.Sprintf("%d:%d", number+1, r.status))
			}
		}
	})
	return hits
}

func TestFaultsHitExactlyTheirRequests(t *testing.T) {
	for _, tt := range []struct {
		faults string
		want   string
	}{
		{"status=500,every=3", "3:500 6:500 9:500"},
		{"status=500,from=4,every=3", "6:500 9:500"},
		{"status=500,from=8", "8:500 9:500 10:500 11:500"},
		{"status=500,from=3,to=5", "3:500 4:500 5:500"},
		{"status=500,to=2", "1:500 2:500"},
		{"status=500,every=4 status=429,every=2", "2:429 4:500 6:429 8:500 10:429"},
		{"status=500,share=1", "1:500 2:500 3:500 4:500 5:500 6:500 7:500 8:500 9:500 10:500 11:500"},
	} {
		assert.Equal(t, strings.Join(hitsOf(t, faulty(t, tt.faults), 11), " "), tt.want, "%s: hit", tt.faults)
	}
}

// A share is about that share, the same for one seed, another for another, and two faults draw apart.
func TestFaultShare(t *testing.T) {
	half := Fault{Kind: FaultReset, Share: 0.5, After: 1}
	hits := func(seed uint64, place int) (which []int) {
		s := Server{profile: Profile{Seed: seed}}
		for number := 1; number <= 1000; number++ {
			if half.hits(number, s.faultSeed(place)) {
				which = append(which, number)
			}
		}
		return which
	}
	first := hits(1, 0)
	if n := len(first); n < 450 || n > 550 {
		t.Errorf("%d of 1000 hit, want about 500", n)
	}
	assert.EqualAll(t, first, hits(1, 0), "the same seed gave another choice")
	if slices.Equal(first, hits(2, 0)) || slices.Equal(first, hits(1, 1)) {
		t.Error("another seed or another place gave the same choice")
	}
}

func TestFaultHeaderIsChecked(t *testing.T) {
	bubble(t, round(), func(c *client) {
		for fault, word := range map[string]string{
			"nonsense":       `unknown fault \"nonsense\"`,
			"reset,every=2":  "every, from, to and share are not allowed",
			"reset-accept":   "when the server starts",
			"refuse":         "needs a port", // this server does not own its listener
			"stall=tomorrow": "takes a time",
		} {
			r := ask(t, mustDial(t, c.dial), "/v1/completions", fault)
			if want := map[bool]int{true: 500, false: 400}[fault == "refuse"]; r.status != want ||
				!strings.Contains(r.raw, word) {
				t.Errorf("%s: status %d, want %d, and %q in %s", fault, r.status, want, word, r.raw)
			}
		}
	})
}

// faulty is the profile of round with faults, which blanks separate.
func faulty(t *testing.T, faults string) Profile {
	t.Helper()
	p := round()
	for text := range strings.FieldsSeq(faults) {
		f, err := ParseFault(text)
		assert.Fine(t, err)
		p.Faults = append(p.Faults, f)
	}
	return p
}

// Faults of the port: counted by connection, and shut for a while.
func TestPortFaults(t *testing.T) {
	resets := func(t *testing.T, dial func(context.Context) (net.Conn, error), _ func()) {
		t.Helper()
		for connection := 1; connection <= 7; connection++ {
			want := "whole"
			if connection%3 == 0 {
				want = "reset"
			}
			var r reply
			if conn, err := dial(context.Background()); err == nil {
				r = ask(t, conn, "/v1/completions", "")
			} else {
				r.err = err // the reset may overtake the end of the handshake
			}
			assert.Equal(t, r.ends(), want, "connection %d", connection)
		}
	}
	refuses := func(t *testing.T, dial func(context.Context) (net.Conn, error), reopen func()) {
		t.Helper()
		idle := mustDial(t, dial)
		defer idle.Close()
		get := func() string { // on the connection that was open before
			if _, err := io.WriteString(idle, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				return err.Error()
			}
			response, err := http.ReadResponse(bufio.NewReader(idle), nil)
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(response.StatusCode, " close=", response.Close)
		}
		assert.Equal(t, get(), "200 close=false", "before")
		if r := ask(t, mustDial(t, dial), "/v1/completions", ""); r.ends() != "whole" || len(r.events) != 6 {
			t.Errorf("the request that shuts the port: %s, %d events", r.ends(), len(r.events))
		}
		for range 3 {
			if conn, err := dial(context.Background()); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("while it is shut: %v, %v; want connection refused", conn, err)
			}
		}
		assert.Equal(t, get(), "200 close=true", "on an open connection")
		reopen()
		if r := ask(t, mustDial(t, dial), "/v1/completions", ""); r.ends() != "whole" {
			t.Errorf("afterwards: %s", r.ends())
		}
	}
	for _, tt := range []struct {
		name    string
		profile Profile
		play    func(*testing.T, func(context.Context) (net.Conn, error), func())
	}{
		{"reset-accept", faulty(t, "reset-accept,every=3"), resets},
		{"refuse", faulty(t, "refuse=1h,to=1"), refuses},
	} {
		t.Run(tt.name+" on sockets", func(t *testing.T) {
			s := New(tt.profile)
			// The timer does this after an hour.
			tt.play(t, onSockets(t, s), func() { s.port.Load().open() })
		})
		t.Run(tt.name+" on the pipe", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(tt.profile)
				l, dial := pipetest.Pipe()
				end := serve(t, s, s.Listener(l))
				tt.play(t, dial, func() { time.Sleep(time.Hour) })
				end()
			})
		})
	}
}

// A port that is shut for good can still be closed, and Serve returns.
func TestClosedWhileShut(t *testing.T) {
	s := New(round())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	p := s.Listener(l)
	done := make(chan error)
	go func() {
		_, err := p.Accept()
		done <- err
	}()
	s.port.Load().shut(0)
	time.Sleep(10 * time.Millisecond) // let Accept notice; either order must work
	assert.Fine(t, p.Close())
	assert.Is(t, <-done, net.ErrClosed)
}
