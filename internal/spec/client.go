package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/telemetry"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/pace"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Client say how exactly this client measures.
type Client struct {
	timestamps string
	preconnect int
	pacer      string
	unstamped  bool // the server's packets have no stamps of the kernel
	slow       bool // users read at a rate, which sets the times
}

// asNeeded opens as many connections ahead as the load needs.
const asNeeded = math.MinInt32

func (o *Client) Define(f *pflag.FlagSet) {
	f.StringVar(&o.timestamps, "timestamps", "", "source of chunk arrival times: kernel (packet time stamps) or user "+
		"(time of the read) (default: kernel where supported)")
	argv.Words(f, "timestamps", metrics.KernelStamps, metrics.UserStamps)
	f.IntVar(&o.preconnect, "preconnect", asNeeded,
		"connections to open before the first request (default: one per user of a closed loop)")
	f.Lookup("preconnect").DefValue = "0" // the help would show asNeeded
	f.StringVar(&o.pacer, "pacer", "", "timer that waits for arrivals: "+strings.Join(pace.Kinds(), " or "))
	argv.Words(f, "pacer", pace.Kinds()...)
}

func (o *Client) Check() error {
	var p usage.Problems
	if o.timestamps != "" {
		p.OneOf("timestamps", o.timestamps, metrics.KernelStamps, metrics.UserStamps)
	}
	p.BadIf(!conn.KernelStamps() && o.timestamps == metrics.KernelStamps, // asked always: it begins to stamp
		"--timestamps kernel: this system's kernel does not stamp packets; use user")
	p.BadIf(o.timestamps == metrics.KernelStamps && o.unstamped,
		"--timestamps kernel: the kernel does not stamp the packets of a unix socket; use user")
	p.BadIf(o.timestamps == metrics.KernelStamps && o.slow,
		"--timestamps kernel and --read-rate: times are of what users read; use user")
	p.BadIf(o.pacer != "" && !slices.Contains(pace.Kinds(), o.pacer), "--pacer %s: this system has %s",
		usage.Quote(o.pacer), strings.Join(pace.Kinds(), " and "))
	p.BadIf(o.preconnect < 0 && o.preconnect != asNeeded, "--preconnect %d: must be 0 or more", o.preconnect)
	if o.preconnect > 0 {
		p.Flag(fmt.Sprint("preconnect ", o.preconnect), telemetry.CheckSockets(o.preconnect))
	}
	return errors.Join(p...)
}

// source is how chunks will be timed.
func (o *Client) source() string {
	if o.timestamps == "" && conn.KernelStamps() && !o.unstamped && !o.slow {
		return metrics.KernelStamps
	}
	return cmp.Or(o.timestamps, metrics.UserStamps)
}

// Send sets how requests are sent and timed.
func (o *Client) Send(e *loadgen.Options) { e.Pacer, e.Timestamps = o.pacer, o.source() }

// Plan writes into a plan how chunks are timed, and by which rules for answers of a protocol.
func (o *Client) Plan(p *metrics.Plan, of protocol.Protocol) {
	p.Timestamps, p.Definitions = o.source(), definitions(of, o.source())
}

// describeStamps is the definition of a time stamp in the result.
func describeStamps(source string) string {
	if source == metrics.KernelStamps {
		return "kernel: arrival of the packet that completed the chunk, by the kernel's time stamp; chunks read " +
			"together share the newest"
	}
	return "user: return of the read from the socket"
}

// Ahead is the number of connections opened before a load.
func (o *Client) Ahead(d shape.Demand) int {
	if o.preconnect != asNeeded {
		return o.preconnect
	}
	return d.Ahead
}

// CheckLimits reports the limits of the system that a load exceeds, whose connections come from so many addresses.
func CheckLimits(connections, sources int) error {
	if connections == 0 {
		return nil
	}
	return errors.Join(telemetry.CheckSockets(connections), telemetry.CheckPorts(connections, sources))
}
