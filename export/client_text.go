package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// clientVerdict reports whether the client limited the measurement, with the reasons if they fit into width columns. In older
// journals, without data on the client, it reports the lateness of requests.
func clientVerdict(r *metrics.Report, width int) string {
	v := &r.Client.Verdict
	switch {
	case v.Limited():
		const words = "client LIMITED"
		if text := words + " (" + joinFitting(v.Why, width-len(words+" ()")) + ")"; len(text) <= width {
			return text
		}
		return words
	case r.Completed == 0: // no figures to distort
		return ""
	case monitored(&r.Client):
		return "client ok"
	case !r.Plan.Paced() || p99OfSlotWait(r) > 0: // lateness has no meaning or is reported as the wait for a slot
		return ""
	}
	late, known := p99(&r.Statistics[metrics.Lateness])
	switch {
	case !known:
		return ""
	case late < 10:
		return fmt.Sprintf("client p99 %.1f ms late", late)
	}
	return fmt.Sprintf("client p99 %s late", latency(late))
}

// joinFitting joins as many items as fit into width columns, at least one, and counts the rest.
func joinFitting(items []string, width int) string {
	const more = " and %d more"
	list, left := "", 0
	for i, item := range items {
		available := width
		if i < len(items)-1 {
			available -= len(more)
		}
		switch {
		case i == 0:
			list = item
		case left > 0 || len(list)+len(", ")+len(item) > available:
			left++
		default:
			list += ", " + item
		}
	}
	if left > 0 {
		list += fmt.Sprintf(more, left)
	}
	return list
}

// client reports limits and oddities of the client. A healthy client gets no remark.
func (t *remarks) client() {
	c := &t.r.Client
	if why := strings.Join(c.Verdict.Why, "; "); c.Verdict.Limited() {
		noSocket := func(f metrics.FailureCount) bool { return f.Kind == metrics.FailedNoSocket }
		if slices.ContainsFunc(t.r.Failures, noSocket) {
			t.add("Client LIMITED: %s. Its system had no more of what the failures above say, open files or"+
				" local ports: raise that limit, lower the load, or spread it over several machines.", why)
		} else {
			t.add("Client LIMITED: %s. The figures may be the client's rather than the server's: give the client cores of its"+
				" own, run it on another machine, or lower the load; `benchtop calibrate` shows what this machine can measure.", why)
		}
	}
	if c.StoodStill > 0 {
		var longest metrics.ClientSecond
		for _, s := range c.Seconds {
			if s.Stall > longest.Stall {
				longest = s
			}
		}
		rounded := func(d time.Duration) string { return metrics.Duration(d.Round(time.Millisecond)) }
		t.add("Stood still: the client did nothing for %s, %s of it at a stretch around second %.0f. Something stopped it, or"+
			" the whole machine. Requests due meanwhile may have gone out late, and chunks that came meanwhile may share one time.",
			rounded(c.StoodStill), rounded(longest.Stall), longest.At.Seconds())
	}
	if c.ClockSteps != 0 && c.Source == metrics.KernelStamps { // other stamps come from a monotonic clock
		t.add("Clock: the system's clock was set in %s of the run; chunks that came around that moment got the time of their"+
			" read.", count(c.ClockSteps, "second"))
	}
	t.stamps(c)
}

// maxOddStamps is the share of chunks with odd stamps that needs no remark.
const maxOddStamps = metrics.SharedMost

// stamps reports chunks without a stamp of their own. If the client was limited, its verdict covers chunks that arrived
// together; if there are too few chunks for a verdict, its read delay decides.
func (t *remarks) stamps(c *metrics.Client) {
	chunks := float64(max(c.Stamps.Chunks, 1))
	if share := float64(c.Stamps.Unstamped) / chunks; c.Source == metrics.KernelStamps && share > maxOddStamps {
		t.add("Stamps: %s of the chunks came without a stamp of the kernel and got the time of their read, which is later."+
			" Unix sockets have none.", percent(share))
	}
	share := float64(c.Stamps.Shared) / chunks
	switch {
	case !monitored(c) || c.Verdict.Limited() || share <= maxOddStamps:
	case c.ReadLate:
		t.add("Stamps: %s of the chunks came together with the one before. The client read late now and then, so that this may"+
			" be its own doing or the server's. The gaps between those are 0.", percent(share))
	default:
		t.add("Stamps: %s of the chunks came together with the one before, though the client read in time: the server or"+
			" a proxy sends several at once, or the network held them. The gaps between those are 0.", percent(share))
	}
}
