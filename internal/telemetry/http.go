package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"benchtop/internal/parallel"
)

// Page is a server's Prometheus page at a complete URL. The client brings headers and TLS.
type Page struct {
	Client *http.Client
	URL    string
	// Server is its place among the servers of the run.
	Server int
}

// together is how many pages are fetched at a time, so that those of many servers come within a second.
const together = 8

// fetchAll passes the lines of pages to take, page by page, and returns their length in bytes. It ends with the first
// error.
func fetchAll(ctx context.Context, pages []Page, take func(server int, line []byte)) (length int64, err error) {
	for some := range slices.Chunk(pages, together) {
		texts, lengths, errs := make([]bytes.Buffer, len(some)), make([]int64, len(some)), make([]error, len(some))
		parallel.Do(together, len(some), func(i int) bool {
			lengths[i], errs[i] = fetch(ctx, some[i].Client, some[i].URL, func(line []byte) {
				texts[i].Write(line)
				texts[i].WriteByte('\n')
			})
			return errs[i] == nil
		})
		for i, p := range some {
			if length += lengths[i]; errs[i] != nil {
				return length, errs[i]
			}
			for line := range bytes.Lines(texts[i].Bytes()) {
				take(p.Server, bytes.TrimSuffix(line, []byte{'\n'}))
			}
		}
	}
	return length, nil
}

// fetch passes the lines of a page to take and returns the length of the page in bytes. The error begins with the place
// of failure.
func fetch(ctx context.Context, client *http.Client, page string, take func(line []byte)) (length int64, err error) {
	began := time.Now()
	resp, err := do(ctx, client, http.MethodGet, page)
	if err != nil {
		return 0, fmt.Errorf(": %w", err)
	}
	defer resp.Body.Close()
	text, err := plain(resp)
	if err == nil {
		page := limited(text)
		err = eachLine(page, take)
		length = longestPage + 1 - page.N
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return length,
			timeoutError{fmt.Sprintf(" at %s: its end did not come within %s", resp.Request.URL.Redacted(),
				limit(ctx, began))}
	case err != nil:
		return length, fmt.Errorf(" at %s: %w", resp.Request.URL.Redacted(), err)
	}
	return length, nil
}

// plain is the text of a page, unpacked.
func plain(resp *http.Response) (io.Reader, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return nil, errWebPage
	}
	// The transport unpacks answers that it asked to be packed; some servers and proxies pack unasked.
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return gzip.NewReader(io.LimitReader(resp.Body, longestPage))
	}
	return resp.Body, nil
}

// Profiler asks the server at a base URL to "start" or "stop" its profiler. The client brings headers and TLS, ctx the
// time-out; stopping can take the server minutes, while it writes its trace. An error need not stop a run.
func Profiler(ctx context.Context, client *http.Client, base, action string) error {
	resp, err := do(ctx, client, http.MethodPost, strings.TrimRight(base, "/")+"/"+action+"_profile")
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		err = refusal(resp)
		if resp.StatusCode == http.StatusNotFound {
			err = fmt.Errorf("%w; a server offers its profiler only if it was started with one", err)
		}
	}
	return fmt.Errorf("asking the server to %s its profiler: %w", action, err)
}

// do sends a request without a body.
func do(ctx context.Context, client *http.Client, method, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		// The error would repeat the whole address, which may contain a password.
		if bad := new(url.Error); errors.As(err, &bad) {
			err = errors.New("invalid URL")
		}
		return nil, err
	}
	began := time.Now()
	resp, err := client.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		err = timeoutError{fmt.Sprintf("no answer from %s within %s", redacted(address), limit(ctx, began))}
	}
	return resp, err
}

// timeoutError is context.DeadlineExceeded with a message for users.
type timeoutError struct{ words string }

func (l timeoutError) Error() string { return l.words }
func (l timeoutError) Unwrap() error { return context.DeadlineExceeded }

// limit is the time that ctx allowed after began.
func limit(ctx context.Context, began time.Time) time.Duration {
	deadline, _ := ctx.Deadline()
	return deadline.Sub(began).Round(10 * time.Millisecond)
}

// refusal is an answer other than 200 as an error, with the beginning of its body.
func refusal(resp *http.Response) error {
	const most = 200
	said, _ := io.ReadAll(io.LimitReader(resp.Body, most))
	text := printable(said)
	switch {
	case strings.HasPrefix(text, "<"): // a web page adds nothing to the status
		text = ""
	case text != "":
		text = ": " + text
	}
	return &statusError{resp.StatusCode, resp.Status + text}
}

// statusError is an answer other than 200.
type statusError struct {
	status int
	words  string
}

func (r *statusError) Error() string { return r.words }

// printable is foreign text as one line without control characters.
func printable(said []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(bytes.ToValidUTF8(said, nil)))
	return strings.Join(strings.Fields(text), " ")
}

// redacted is an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Redacted()
}
