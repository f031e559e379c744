package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// manualView is a view whose clock goes on by hand: each second of the run it gets a sample of the client, as in a run.
type manualView struct {
	*View
	at    time.Duration
	index int
}

func newPlayed() *manualView { return &manualView{View: NewView(time.Now(), &metrics.Plan{Rate: 5})} }

// to lets time pass until a moment.
func (p *manualView) to(at time.Duration) {
	for p.at < at {
		p.at = min(at, (p.at/second+1)*second)
		p.Take(&event.Event{At: p.at, Kind: event.Fact, Value: metrics.ClientSecond{At: p.at, Took: second}})
	}
}

// send sends a request now.
func (p *manualView) send() *metrics.Request {
	q := metrics.NewRequest(p.index)
	p.index++
	q.Scheduled, q.Due, q.Admitted, q.Sent = p.at, p.at, p.at, p.at
	p.Take(&event.Event{At: p.at, Kind: event.Due, Request: &q})
	p.Take(&event.Event{At: p.at, Kind: event.Sent, Request: &q})
	return &q
}

func (p *manualView) chunk(q *metrics.Request) {
	q.Add(metrics.Chunk{At: p.at, Tokens: 1, Answer: true})
	p.Take(&event.Event{At: p.at, Kind: event.Chunk, Request: q})
}

func (p *manualView) end(q *metrics.Request, kind metrics.Failure, words string) {
	q.Failure, q.Error, q.Done = kind, words, p.at
	p.Take(&event.Event{At: p.at, Kind: event.Done, Request: q})
}

// refuse fails a request that was never sent.
func (p *manualView) refuse() {
	q := metrics.NewRequest(p.index)
	p.index++
	q.Scheduled, q.Due, q.Admitted = p.at, p.at, p.at
	p.Take(&event.Event{At: p.at, Kind: event.Due, Request: &q})
	p.end(&q, metrics.FailedConnect, "dial tcp 127.0.0.1:8000: connect: connection refused")
}

// streams sends n requests, each of which gets a chunk every 100 ms until a moment.
func (p *manualView) streams(n int, until time.Duration) (all []*metrics.Request) {
	for range n {
		all = append(all, p.send())
	}
	for p.at < until {
		p.to(p.at + 100*ms)
		for _, q := range all {
			p.chunk(q)
		}
	}
	return all
}

// outage is what the snapshot of now says, "" for none.
func (p *manualView) outage() string {
	if o := p.SnapshotAt(p.at).Outage; o != nil {
		return fmt.Sprintf("%s %s", o.Since, o.Why)
	}
	return ""
}

func (p *manualView) log() string {
	var b strings.Builder
	for _, e := range p.SnapshotAt(p.at).Log {
		if strings.HasPrefix(e.Text, "server ") {
			fmt.Fprintf(&b, "%s %s %s\n", e.At, e.Level, e.Text)
		}
	}
	return b.String()
}

func TestOutage(t *testing.T) {
	for _, c := range []struct {
		name   string
		play   func(p *manualView)
		outage string
		log    string
	}{
		{"a killed server", func(p *manualView) {
			for _, q := range p.streams(3, 2*second) {
				p.end(q, metrics.FailedReset, "read: connection reset by peer")
			}
			for range 5 {
				p.to(p.at + second)
				p.refuse()
			}
		}, "2s connection refused", "5s error server not answering: connection refused\n"},
		{"a server that is back", func(p *manualView) {
			p.streams(1, second)
			p.refuse()
			p.to(9 * second)
			p.chunk(p.send())
			p.to(20 * second)
		}, "", "4s error server not answering: connection refused\n9s info server answers again after 8s\n"},
		{"a server that was never there", func(p *manualView) { p.to(second); p.refuse(); p.to(5 * second) },
			"1s connection refused", "4s error server not answering: connection refused\n"},
		{"two outages", func(p *manualView) {
			all := p.streams(5, second)
			for _, until := range []time.Duration{5 * second, 15 * second} {
				p.to(until)
				p.chunk(all[0])
			}
			p.to(16 * second)
		}, "", "4s error server not answering: no data on 5 open connections\n5s info server answers again after 4s\n" +
			// 2 x 4 s is the longest silence
			"13s error server not answering: no data on 5 open connections\n15s info server answers again after 10s\n"},
		{"a server that hangs", func(p *manualView) { p.streams(12, 2*second); p.to(5 * second) },
			"2s no data on 12 open connections", "5s error server not answering: no data on 12 open connections\n"},
		{"not long enough", func(p *manualView) { p.streams(12, 2*second); p.to(4900 * ms) }, "", ""},
		{"a slow server", func(p *manualView) { // its first chunk takes 4 s
			all := p.streams(0, 0)
			for range 8 {
				all = append(all, p.send())
			}
			p.to(4 * second)
			p.chunk(all[0])
			p.to(11 * second)
		}, "", ""},
		{"one long prompt", func(p *manualView) {
			q := p.streams(1, second)[0]
			p.end(q, "", "")
			p.to(2 * second)
			q = p.send()
			p.to(11 * second)
			p.chunk(q)
		}, "", ""},
		{"a single stream that hangs", func(p *manualView) { p.streams(1, second); p.to(11 * second) },
			"1s no data on the open connection", "11s error server not answering: no data on the open connection\n"},
		{"no request for long", func(p *manualView) {
			p.end(p.streams(1, second)[0], "", "")
			p.to(60 * second)
			p.send()
			p.to(69 * second)
		}, "", ""},
		{"no answer ever, and nothing is refused", func(p *manualView) {
			for range 9 {
				p.send()
			}
			p.to(60 * second)
		}, "", ""},
		{"one broken request", func(p *manualView) {
			p.end(p.streams(1, second)[0], metrics.FailedReset, "EOF")
			p.to(60 * second)
		}, "", ""},
		{"errors are answers", func(p *manualView) {
			for range 20 {
				q := p.send()
				p.to(p.at + second)
				p.end(q, metrics.FailedStatus, "503")
			}
		}, "", ""},
		{"requests that time out", func(p *manualView) {
			all := p.streams(2, second)
			p.to(9 * second)
			p.end(all[0], metrics.FailedStall, "no chunk came")
			p.end(all[1], metrics.FailedTimeout, "not complete")
			p.to(13 * second)
		}, "9s requests time out", "12s error server not answering: requests time out\n"},
		{"this client has no socket", func(p *manualView) {
			for range 9 {
				p.to(p.at + second)
				q := p.send()
				p.end(q, metrics.FailedNoSocket, "too many open files")
			}
		}, "", ""},
		{"cut by the user", func(p *manualView) {
			for _, q := range p.streams(9, 2*second) {
				p.end(q, metrics.Cancelled, "")
			}
			p.to(60 * second)
		}, "", ""},
		{"this client stood still", func(p *manualView) {
			all := p.streams(9, 2*second)
			p.at = 12 * second // what came meanwhile is read now
			p.Take(&event.Event{At: p.at, Kind: event.Fact, Value: metrics.ClientSecond{At: p.at, Took: 10 * second}})
			p.chunk(all[0])
			p.to(13 * second)
		}, "", ""},
	} {
		p := newPlayed()
		c.play(p)
		assert.Equal(t, p.outage(), c.outage, "%s: outage", c.name)
		assert.Equal(t, p.log(), c.log, "%s: log", c.name)
	}
}
