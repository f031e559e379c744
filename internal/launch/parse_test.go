package launch

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

func TestAddressOf(t *testing.T) {
	for command, want := range map[string]string{
		"vllm serve M":                       "http://127.0.0.1:8000",
		"vllm serve M --port 9000":           "http://127.0.0.1:9000",
		"vllm serve --port=1 M --port=9000":  "http://127.0.0.1:9000",
		"x --host 0.0.0.0 -p 81":             "http://127.0.0.1:81",
		"x --host=::1 --port 81":             "http://[::1]:81",
		"x --host [::] --port 81":            "http://[::1]:81",
		"x --host box.example":               "http://box.example:8000",
		"x --ssl-keyfile k --ssl_certfile=c": "https://127.0.0.1:8000",
		"docker run -p 80:8000 i --port 80":  "http://127.0.0.1:80",
		"port --portable 3":                  "http://127.0.0.1:8000",
		"x --uds /tmp/s":                     "--uds /tmp/s: a Unix socket cannot be loaded",
		"x --port":                           `--port "": give a number from 1 to 65535`,
		"x --port 0":                         "--port 0: give a number",
		"x --port http":                      "--port http: give a number",
		"x --host http://a":                  "--host http://a: this is not the name of a host",
		"":                                   "is empty",
	} {
		got, err := AddressOf(strings.Fields(command))
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

func FuzzAddressOf(f *testing.F) {
	f.Add("x --host [::1]%eth0 --port=+7 -p")
	f.Fuzz(func(t *testing.T, line string) {
		if address, err := AddressOf(strings.Fields(line)); err == nil && dialed(address) == "" {
			t.Errorf("%s: %q cannot be dialed", line, address)
		}
	})
}

// The values of keys, and users of URLs, are hidden in a command and in the lines of its server.
func TestHide(t *testing.T) {
	t.Setenv("HF_TOKEN", "hf_canary_token")
	command := strings.Fields(
		"vllm serve M --api-key canary-one canary-two --port 1 --api_key=canary-three --chat http://me:pass@host/")
	safe := strings.Join(Hide(command), " ")
	assert.Equal(t, safe, "vllm serve M --api-key *** *** --port 1 --api_key=*** --chat http://***@host/", "safe")
	var lines []string
	l := newLog(Options{Command: command, Env: []string{"MY_PASSWORD=canary-four", "PORT=8000"},
		Log: func(line string) { lines = append(lines, line) }})
	_, _ = l.Write([]byte("args canary-one,canary-two 'canary-three' canary-four hf_canary_token 8000\n"))
	assert.EqualAll(t, lines, []string{"args ***,*** '***' *** *** 8000"}, "lines")
}

// A progress bar is a line a second at most, and its last step; a line without end is cut.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		l := newLog(Options{Log: func(line string) { lines = append(lines, line) }})
		for _, piece := range []string{"plain\r\n", "a\n\n", "\x1b[31mred\x1b[0m\n", "\r 1%", "\r 2%", "\r 3%", "+",
			"\r 4%", "\r 5%\n", strings.Repeat("x", longestLine+1) + "\n", "end"} {
			if piece == "+" {
				time.Sleep(time.Second)
				continue
			}
			_, _ = l.Write([]byte(piece))
		}
		l.finish()
		want := []string{"plain", "a", "red", "1%", "3%", "5%", strings.Repeat("x", longestLine), "x", "end"}
		assert.EqualAll(t, lines, want, "lines")
	})
}

// Lines do not depend on where the bytes are split, hold no control characters, and lose no text that ends in a line
// feed.
func FuzzLog(f *testing.F) {
	f.Add("a\rb\r\nc\n\r\r\nd", 2)
	f.Fuzz(func(t *testing.T, text string, at int) {
		read := func(pieces ...string) (lines []string) {
			l := newLog(Options{Log: func(line string) { lines = append(lines, line) }})
			l.hide = strings.NewReplacer()
			l.shown = time.Now().Add(time.Hour) // no step of a progress bar but the last
			for _, p := range pieces {
				_, _ = l.Write([]byte(p))
			}
			l.finish()
			return lines
		}
		whole := read(text)
		if at = min(max(at, 0), len(text)); !slices.Equal(whole, read(text[:at], text[at:])) {
			t.Errorf("%q: the lines depend on the split at %d", text, at)
		}
		for _, line := range whole {
			if strings.ContainsAny(line, "\r\n\x1b\x00") || line == "" {
				t.Errorf("%q: line %q", text, line)
			}
		}
	})
}
