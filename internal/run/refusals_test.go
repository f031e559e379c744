package run

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// A run ends early only where its first 20 requests were refused alike and no request had another outcome before.
func TestRefusals(t *testing.T) {
	type answer struct {
		index, status int
		failure       metrics.Failure // of those without a status; "" for a success
		text          string
	}
	refused := func(n, status int, text string) (all []answer) {
		for i := range n {
			all = append(all, answer{i, status, metrics.FailedStatus, text})
		}
		return all
	}
	with := func(all []answer, i int, a answer) []answer {
		a.index = i
		all[i] = a
		return all
	}
	numbered := refused(20, 400, "")
	for i := range numbered {
		numbered[i].text = fmt.Sprintf("you asked for %d tokens (req_%x)", 9000+i, 77*i)
	}
	late := refused(21, 404, "no such model")
	late[0], late[20] = answer{20, 404, metrics.FailedStatus, "no such model"}, answer{0, 0, "", ""}
	for _, c := range []struct {
		name    string
		answers []answer // in order of their ends; requests are sent in order of index
		want    string   // the reason, "" for a run that goes on
	}{
		{"401", refused(20, 401, `{"error":{"message":"no key"}}`),
			"the server refused the first 20 requests alike: HTTP 401: no key"},
		{"no words", refused(20, 405, ""), "the server refused the first 20 requests alike: HTTP 405"},
		{"403", refused(20, 403, "x"), "the server refused the first 20 requests alike: HTTP 403: x"},
		{"404", refused(20, 404, "x"), "the server refused the first 20 requests alike: HTTP 404: x"},
		{"422", refused(20, 422, "x"), "the server refused the first 20 requests alike: HTTP 422: x"},
		{"texts that differ in numbers", numbered,
			"the server refused the first 20 requests alike: HTTP 400: you asked for 9019 tokens (req_5b7)"},
		{"19", refused(19, 400, "x"), ""},
		{"429", refused(40, 429, "slow down"), ""},
		{"408", refused(40, 408, "x"), ""},
		{"413", refused(40, 413, "x"), ""},
		{"500", refused(40, 500, "x"), ""},
		{"503", refused(40, 503, "loading"), ""},
		{"a success among them", with(refused(40, 400, "x"), 7, answer{}), ""},
		{"a success first", with(refused(40, 400, "x"), 0, answer{}), ""},
		{"a timeout among them", with(refused(40, 400, "x"), 19, answer{failure: metrics.FailedTimeout}), ""},
		{"another text", with(refused(40, 400, "x"), 12, answer{status: 400, failure: metrics.FailedStatus, text: "y"}),
			""},
		{"another status", with(refused(40, 400, "x"), 12,
			answer{status: 404, failure: metrics.FailedStatus, text: "x"}), ""},
		{"the first is answered after 20 others were refused", late, ""},
		{"connections", with(refused(40, 400, "x"), 3, answer{failure: metrics.FailedConnect}), ""},
	} {
		var got []string
		s := &refusals{stop: func(reason string) { got = append(got, reason) }}
		for i := range c.answers {
			s.Take(&event.Event{Kind: event.Sent, Request: &metrics.Request{Index: i}})
		}
		for _, a := range c.answers {
			s.Take(&event.Event{Kind: event.Done, Request: &metrics.Request{Index: a.index, Status: a.status,
				Failure: a.failure, Error: a.text}})
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A run that the server refuses has its reason in journal and report, and --keep-going sends all.
func TestRunEndsWhenRefused(t *testing.T) {
	for _, going := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := simulated(t, metrics.Plan{Rate: 10, Requests: 100}, 1)
			var offsets []time.Duration
			for i := range 100 {
				offsets = append(offsets, time.Duration(i)*100*time.Millisecond)
			}
			c.Load.Schedule, c.Load.Model, c.KeepGoing = shape.At(offsets), "another", going
			r := assert.Must(New(*c))(t)
			o := r.Do()
			r.Close()
			rep := &o.Report
			if o.Err != nil || rep.Conclusion != metrics.RunFailed || rep.Completed != 0 {
				t.Fatalf("error %v, conclusion %d, %d succeeded", o.Err, rep.Conclusion, rep.Completed)
			}
			if going {
				if rep.Failed != 100 || rep.Interrupted != nil {
					t.Errorf("%d failed, %v", rep.Failed, rep.Interrupted)
				}
				return
			}
			if rep.Failed < 20 || rep.Failed > 21 || rep.Interrupted == nil ||
				rep.Interrupted.Unsent != 100-rep.Failed {
				t.Fatalf("%d failed, %+v", rep.Failed, rep.Interrupted)
			}
			if want := "the server refused the first 20 requests alike: HTTP 404: "; !strings.HasPrefix(
				rep.Interrupted.Reason, want) || rep.Trouble != rep.Interrupted.Reason {
				t.Errorf("reason %q, trouble %q, want %q", rep.Interrupted.Reason, rep.Trouble, want)
			}
		})
	}
}
