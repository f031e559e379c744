package loadgen

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/datasets"
	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// answerWith is answer(0) with further lines in its header.
func answerWith(lines ...string) script {
	head := strings.Replace(streamHead, "\r\n", "\r\n"+strings.Join(lines, "\r\n")+"\r\n", 1)
	return pieces(true, 0, head, chunk(sseEvent(finish))+lastChunk)
}

// A request has the values of the headers by which the run has places, cut where they are long; also of a refusal, and
// none where the answer has none.
func TestServed(t *testing.T) {
	long := strings.Repeat("é", 30<<10) // of 60 KB
	for name, c := range map[string]struct {
		do   script
		want []string
	}{
		"both":    {answerWith("x-served-by: a", "X-Decode: b c "), []string{"a", "b c"}},
		"one":     {answerWith("X-DECODE: b"), []string{"", "b"}},
		"neither": {answer(0), nil},
		"long":    {answerWith("x-served-by: " + long), []string{long[:metrics.MostPlaceName], ""}},
		"refusal": {pieces(true, 0, strings.Replace(plainAnswer("503 No", "text/plain", "no"), "\r\n",
			"\r\nx-served-by: a\r\n", 1)), []string{"a", ""}},
	} {
		bubble(t, name, func(t *testing.T) {
			q := load(t, newScripted(t, c.do), 1, func(o *Options) {
				o.GroupHeaders = []string{"X-Served-By", "x-decode"}
			})[0]
			if !slices.Equal(q.Served, c.want) {
				t.Errorf("served by %.200q, want %.200q; %s", q.Served, c.want, q.FailureText())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		q := load(t, newScripted(t, answerWith("x-served-by: a")), 1, nil)[0]
		if q.Served != nil {
			t.Errorf("served by %q, and no header was asked for", q.Served)
		}
	})
}

// Each turn has the header of the last answer before it that had one, and no other conversation has it.
func TestEcho(t *testing.T) {
	turns := make([]datasets.Turn, 4)
	got := map[string][]string{}
	do := func(conn net.Conn, r *http.Request, body []byte) bool {
		id := r.Header.Get("X-Request-Id")
		got[id[:1]] = append(got[id[:1]], r.Header.Get("X-Token"))
		if strings.HasSuffix(id, "1") {
			return answer(0)(conn, r, body)
		}
		return answerWith("x-token: "+id)(conn, r, body)
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := talk(turns...), talk(turns...)
		a.ID, b.ID = "a", "b"
		var book logbook
		perform(t, newScripted(t, do), &talks{a, b}, &book, func(o *Options) { o.EchoHeader, o.Limit = "x-token", 1 },
			nil)
		for _, id := range []string{"a", "b"} {
			var sent []string
			for i := range book.all {
				if q := &book.all[i]; strings.HasPrefix(q.ID, id) {
					sent = append(sent, q.ID)
				}
			}
			want := []string{"", sent[0], sent[0], sent[2]}
			if !slices.Equal(got[id], want) {
				t.Errorf("conversation %s sent %q, want %q", id, got[id], want)
			}
		}
	})
}

// A header that cannot be sent back fails the request that got it, and so ends the conversation.
func TestOddEcho(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"too long": {strings.Repeat("x", EchoMost+1),
			"the header x-token has 8193 bytes, and at most 8192 are sent back"},
		"as long":      {strings.Repeat("x", EchoMost), ""},
		"no header":    {"a\x01b", "the answer is not HTTP"},
		"beyond ASCII": {"é", ""},
	} {
		bubble(t, name, func(t *testing.T) {
			var book logbook
			perform(t, newScripted(t, answerWith("x-token: "+c.value)), &talks{talk(datasets.Turn{}, datasets.Turn{})},
				&book, func(o *Options) { o.EchoHeader = "x-token" }, nil)
			failure, n := metrics.FailedMalformed, 1
			if c.want == "" {
				failure, n = "", 2
			}
			if ends(t, &book.all[0], failure, c.want); len(book.all) != n {
				t.Errorf("%d requests, want %d", len(book.all), n)
			}
		})
	}
}

// Modules come as often as their shares say: exactly in turn, nearly at random.
func TestSharedModels(t *testing.T) {
	modules, shares := []string{"a", "b", "c"}, []float64{7, 2, 1}
	count := func(of func(int) string, n int) string {
		all := map[string]int{}
		for i := range n {
			all[of(i)]++
		}
		return fmt.Sprint(all["a"], all["b"], all["c"])
	}
	if got := count(RoundRobinModels(modules, shares), 10); got != "7 2 1" {
		t.Errorf("in turn %s of 10", got)
	}
	if got := count(RoundRobinModels(modules, shares), 1000); got != "700 200 100" {
		t.Errorf("in turn %s of 1000", got)
	}
	var a, b, c int
	_, _ = fmt.Sscan(count(RandomModels(modules, shares, numpy.NewPython(1)), 10_000), &a, &b, &c)
	if a < 6800 || a > 7200 || b < 1850 || b > 2150 || a+b+c != 10_000 {
		t.Errorf("at random %d, %d, %d", a, b, c)
	}
}
