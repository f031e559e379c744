package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// wire is a server without a network.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// at is a server behind a wire.
func at(w wire) *Server { return New(&http.Client{Transport: w}, "http://server/") }

// says is an answer.
func says(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body))}
}

type answer struct{ N int }

func TestAsks(t *testing.T) {
	var asked []string
	s := at(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type")+" "+string(body))
		return says(200, `{"n": 7}`), nil
	})
	var posted, got answer
	if err := s.Post(t.Context(), "/a", map[string]int{"x": 1}, &posted); err != nil || posted.N != 7 {
		t.Errorf("got %v, error %v", posted, err)
	}
	if err := s.Get(t.Context(), "/b", &got); err != nil || got.N != 7 {
		t.Errorf("got %v, error %v", got, err)
	}
	want := `POST http://server/a application/json {"x":1}|GET http://server/b application/json `
	assert.Equal(t, strings.Join(asked, "|"), want, "asked")
	assert.Equal(t, s.Base(), "http://server", "base")
	if err := s.Post(t.Context(), "/a", json.RawMessage("{"), &posted); err == nil ||
		!strings.Contains(err.Error(), "POST http://server/a: what is to be sent is not JSON") || len(asked) != 2 {
		t.Errorf("got error %v after %d requests", err, len(asked))
	}
}

// Each kind of failure is told and sorted, and asked for once.
func TestFailures(t *testing.T) {
	const none, unready = true, true
	for _, c := range []struct {
		name       string
		status     int
		body       string
		location   string
		none       bool
		unready    bool
		want       string // the error behind the address
		wantInside string
	}{
		{name: "not found", status: 404, body: "{\"detail\":\n \"no\"}", none: none,
			want: `: status Not Found: "{\"detail\": \"no\"}"`},
		{name: "not allowed", status: 405, none: none, want: ": status Method Not Allowed: an empty answer"},
		{name: "not made", status: 501, none: none, want: ": status Not Implemented: an empty answer"},
		{name: "bad request", status: 400, none: none, want: ": status Bad Request: an empty answer"},
		{name: "not this type", status: 415, none: none, want: ": status Unsupported Media Type: an empty answer"},
		{name: "not these fields", status: 422, none: none, want: ": status Unprocessable Entity: an empty answer"},
		{name: "no key", status: 401, want: ": status Unauthorized: an empty answer; does the server want an API key?"},
		{name: "wrong key", status: 403, want: ": status Forbidden: an empty answer; does the server want an API key?"},
		{name: "too large", status: 413, want: ": status Request Entity Too Large: an empty answer"},
		{name: "busy", status: 503, unready: unready,
			want: ": status Service Unavailable: an empty answer; the server is busy; try again later"},
		{name: "too many", status: 429, unready: unready,
			want: ": status Too Many Requests: an empty answer; the server is busy; try again later"},
		{name: "broken", status: 500, body: "Traceback", unready: unready,
			want: `: status Internal Server Error: "Traceback"; the server's log may say more`},
		{name: "a proxy", status: 502, unready: unready,
			want: ": status Bad Gateway: an empty answer; the server's log may say more"},
		{name: "moved", status: 307, location: "http://else/a",
			want: `: status Temporary Redirect: an empty answer; it points to "http://else/a": is the server there?`},
		{name: "moved, nobody knows where", status: 302, want: ": status Found: an empty answer"},
		{name: "a page", status: 200, body: "<html>", none: none,
			wantInside: `: the answer is not the JSON expected: invalid character '<' looking for beginning of ` +
				`value: ` +
				`"<html>"`},
		{name: "another type", status: 200, body: `{"n":"x"}`, none: none,
			wantInside: `: the answer is not the JSON expected: `},
		{name: "cut", status: 200, body: `{"n":`, none: none, wantInside: `unexpected end of JSON input: "{\"n\":"`},
		{name: "nothing", status: 200, none: none, wantInside: "an empty answer"},
		{name: "too long", status: 200, body: `{"n":7,"x":"` + strings.Repeat("x ", 5000) + `"}`, none: none,
			wantInside: ": the answer is longer than 9999 bytes and begins with "},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			s := at(func(*http.Request) (*http.Response, error) {
				asked++
				resp := says(c.status, c.body)
				if c.location != "" {
					resp.Header.Set("Location", c.location)
				}
				return resp, nil
			})
			s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			s.most = 9999
			err := s.Post(t.Context(), "/a", nil, new(answer))
			if err == nil {
				t.Fatal("got no error")
			}
			rest, ours := strings.CutPrefix(err.Error(), "POST http://server/a")
			if !ours || c.want != "" && rest != c.want || !strings.Contains(rest, c.wantInside) || len(rest) > 400 {
				t.Errorf("got error %v, want %q", err, c.want+c.wantInside)
			}
			if NotOffered(err) != c.none || Unready(err) != c.unready || asked != 1 {
				t.Errorf("not offered %v, unready %v, asked %d times: %v", NotOffered(err), Unready(err), asked, err)
			}
		})
	}
}

// An answer may be exactly as long as is allowed.
func TestLongestAnswer(t *testing.T) {
	const body = `{"n":7}`
	s := at(func(*http.Request) (*http.Response, error) { return says(200, body), nil })
	for most, fails := range map[int64]bool{int64(len(body)): false, int64(len(body) - 1): true} {
		s.most = most
		if err := s.Get(t.Context(), "/a", new(answer)); (err != nil) != fails {
			t.Errorf("%d bytes of at most %d: error %v", len(body), most, err)
		}
	}
}

func TestLacks(t *testing.T) {
	err := at(nil).Lacks("/a", "n")
	if want := `POST http://server/a: the answer holds no "n"`; err.Error() != want || !NotOffered(err) ||
		Unready(err) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A client that follows redirects is let do so, and sends the body along.
func TestRedirect(t *testing.T) {
	var asked []string
	s := at(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if body, _ := io.ReadAll(r.Body); r.URL.Path == "/b" {
			return says(200, string(body)), nil
		}
		resp := says(308, "")
		resp.Header.Set("Location", "/b")
		return resp, nil
	})
	var got answer
	if err := s.Post(t.Context(), "/a", answer{7}, &got); err != nil || got.N != 7 ||
		strings.Join(asked, " ") != "POST /a POST /b" {
		t.Errorf("got %v, error %v, asked %v", got, err, asked)
	}
}

func TestOutOfReach(t *testing.T) {
	web := httptest.NewServer(nil)
	web.Close()
	err := New(web.Client(), web.URL).Get(t.Context(), "/a", new(answer))
	if err == nil || !strings.HasPrefix(err.Error(), "cannot reach "+web.URL+"/a: ") ||
		!strings.HasSuffix(err.Error(), "; is the server up?") {
		t.Fatalf("got error %v", err)
	}
	assert.Equal(t, strings.Count(err.Error(), web.URL), 1, "the address is said more than once: %v", err)
	if !Unready(err) || NotOffered(err) {
		t.Errorf("unready %v, not offered %v: %v", Unready(err), NotOffered(err), err)
	}
	err = New(web.Client(), "http://bad host").Get(t.Context(), "/a", new(answer))
	if err == nil || !strings.Contains(err.Error(), "http://localhost:8000") || Unready(err) || NotOffered(err) {
		t.Errorf("got error %v", err)
	}
}

// brokenReader is an answer that ends before its end.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBrokenOffAnswer(t *testing.T) {
	err := at(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(brokenReader{})}, nil
	}).Get(t.Context(), "/a", new(answer))
	if !errors.Is(err, io.ErrUnexpectedEOF) ||
		!strings.Contains(err.Error(), "GET http://server/a: the answer broke off") || NotOffered(err) {
		t.Errorf("got error %v", err)
	}
}

// A patient server is asked again while it is busy, after pauses, but not for ever; one that refuses is not asked
// again.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name          string
		busy, status  int
		patient, fine bool
		asked         int
		took          time.Duration
	}{
		{"at once", 0, 503, true, true, 1, 0},
		{"busy once", 1, 503, true, true, 2, 250 * time.Millisecond},
		{"busy twice", 2, 429, true, true, 3, 1250 * time.Millisecond},
		{"broken", 3, 500, true, false, 3, 1250 * time.Millisecond},
		{"not there", 1, 404, true, false, 1, 0},
		{"no key", 1, 401, true, false, 1, 0},
		{"no patience", 1, 503, false, false, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, bodies := 0, map[string]bool{}
				s := at(func(r *http.Request) (*http.Response, error) {
					body, _ := io.ReadAll(r.Body)
					bodies[string(body)] = true
					if asked++; asked <= c.busy {
						return says(c.status, ""), nil
					}
					return says(200, `{"n":7}`), nil
				})
				ask := s
				if c.patient {
					ask = s.Patient()
				}
				var got answer
				began := time.Now()
				err := ask.Post(t.Context(), "/a", "same", &got)
				if (err == nil) != c.fine || c.fine && got.N != 7 || asked != c.asked || time.Since(began) != c.took {
					t.Errorf("got %v, error %v, asked %d times in %s", got, err, asked, time.Since(began))
				}
				assert.Equal(t, len(bodies), 1, "was asked %v", bodies)
			})
		})
	}
}

// The caller waits for a server that cannot be reached, and knows how long.
func TestPatienceEndsAtTheNetwork(t *testing.T) {
	asked := 0
	err := at(func(*http.Request) (*http.Response, error) { asked++; return nil, errors.New("gone") }).Patient().Get(
		t.Context(), "/a", nil)
	if asked != 1 || !Unready(err) {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}

// A question waits no longer than its context, for a server that hangs and in a pause; the error is the context's.
func TestContextEndsTheWait(t *testing.T) {
	hangs := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	isBusy := func(*http.Request) (*http.Response, error) { return says(503, ""), nil }
	const after = 100 * time.Millisecond
	for name, w := range map[string]wire{"hangs": hangs, "busy": isBusy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(after, cancel)
				began := time.Now()
				if err := at(w).Patient().Get(ctx, "/a", nil); err != context.Canceled || Unready(err) ||
					time.Since(began) != after {
					t.Errorf("cancelled: error %v after %s", err, time.Since(began))
				}
				ctx, cancel = context.WithTimeout(t.Context(), after)
				defer cancel()
				began = time.Now()
				if err := at(w).Patient().Get(ctx, "/a", nil); !Unready(err) ||
					!strings.Contains(err.Error(), "http://server/a: ") || time.Since(began) != after {
					t.Errorf("too late: error %v after %s", err, time.Since(began))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := at(hangs)
		s.client.Timeout = after
		if err := s.Get(t.Context(), "/a", nil); !Unready(err) || !strings.Contains(err.Error(), "no answer in time") {
			t.Errorf("got error %v", err)
		}
	})
}

// A server that has the endpoint and not the model says so in the words of OpenAI's API.
func TestUnknownModel(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   bool
	}{
		{404, `{"error":{"message":"The model nope does not ` +
			`exist.","type":"NotFoundError","param":"model","code":404}}`, true},
		{404, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, true},
		{404, `{"detail":"Not Found"}`, false},
		{404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`, false},
		{400, `{"error":{"message":"Field required","param":"body.prompt","code":400}}`, false},
		{503, `{"error":{"param":"model"}}`, false},
	} {
		s := at(func(*http.Request) (*http.Response, error) { return says(c.status, c.body), nil })
		err := s.Post(t.Context(), "/a", nil, new(answer))
		if UnknownModel(err) != c.want || NotOffered(err) != (c.status < 500) {
			t.Errorf("%s: unknown model %v, not offered %v", c.body, UnknownModel(err), NotOffered(err))
		}
	}
}
