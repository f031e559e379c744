package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/calibration"
	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/conn"
	"benchtop/loadgen/pace"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// clientOptions say how exactly this client measures.
type clientOptions struct {
	timestamps string
	preconnect int
	pacer      string
	unstamped  bool // the server's packets have no stamps of the kernel
}

// asNeeded opens as many connections ahead as the load needs.
const asNeeded = math.MinInt32

func (o *clientOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.timestamps, "timestamps", "", "source of chunk arrival times: kernel (packet time stamps) or user (time of the read) (default: kernel where supported)")
	f.IntVar(&o.preconnect, "preconnect", asNeeded, "connections to open before the first request (default: one per user of a closed loop)")
	f.Lookup("preconnect").DefValue = "0" // the help would show asNeeded
	f.StringVar(&o.pacer, "pacer", "", "timer that waits for arrivals: "+strings.Join(pace.Kinds(), " or "))
}

func (o *clientOptions) check() error {
	var p usage.Problems
	if o.timestamps != "" {
		p.OneOf("timestamps", o.timestamps, metrics.KernelStamps, metrics.UserStamps)
	}
	p.BadIf(o.timestamps == metrics.KernelStamps && !conn.KernelStamps(), "--timestamps kernel: this system's kernel does not stamp packets; use user")
	p.BadIf(o.timestamps == metrics.KernelStamps && o.unstamped, "--timestamps kernel: the kernel does not stamp the packets of a unix socket; use user")
	p.BadIf(o.pacer != "" && !slices.Contains(pace.Kinds(), o.pacer), "--pacer %s: this system has %s", usage.Quote(o.pacer), strings.Join(pace.Kinds(), " and "))
	p.BadIf(o.preconnect < 0 && o.preconnect != asNeeded, "--preconnect %d: must be 0 or more", o.preconnect)
	if o.preconnect > 0 {
		p.Flag(fmt.Sprint("preconnect ", o.preconnect), telemetry.CheckSockets(o.preconnect))
	}
	return errors.Join(p...)
}

// source is how chunks will be timed.
func (o *clientOptions) source() string {
	if o.timestamps == "" && conn.KernelStamps() && !o.unstamped {
		return metrics.KernelStamps
	}
	return cmp.Or(o.timestamps, metrics.UserStamps)
}

// send sets how requests are sent and timed.
func (o *clientOptions) send(e *loadgen.Options) { e.Pacer, e.Timestamps = o.pacer, o.source() }

// plan writes into a plan how chunks are timed, and by which rules for answers of a protocol.
func (o *clientOptions) plan(p *metrics.Plan, of protocol.Protocol) {
	p.Timestamps, p.Definitions = o.source(), definitions(of, o.source())
}

// describeStamps is the definition of a time stamp in the result.
func describeStamps(source string) string {
	if source == metrics.KernelStamps {
		return "kernel: arrival of the packet that completed the chunk, by the kernel's time stamp; chunks read together share the newest"
	}
	return "user: return of the read from the socket"
}

// planned is the demand of a load on the client; output is the length of an answer in tokens, 0 if unknown.
func planned(d shape.Demand, output int) calibration.Planned {
	return calibration.Planned{
		Streams: float64(d.Streams), RequestsPerSecond: d.RequestsPerSecond, ChunksPerSecond: d.RequestsPerSecond * float64(output),
	}
}

// ahead is the number of connections opened before a load.
func (o *clientOptions) ahead(d shape.Demand) int {
	if o.preconnect != asNeeded {
		return o.preconnect
	}
	return d.Ahead
}

// checkLimits reports the limits of the system that a load exceeds.
func checkLimits(connections int) error {
	if connections == 0 {
		return nil
	}
	return errors.Join(telemetry.CheckSockets(connections), telemetry.CheckPorts(connections))
}

// connectMost limits the time for opening connections before the run.
const connectMost = 10 * time.Second

// connect opens connections ahead. A failure is a warning, since the run opens missing ones.
func connect(ctx context.Context, env *environment, load *loadgen.Options, n int) (connections conn.Pools, notes []string) {
	if n > 0 {
		env.Step(stepConnections)
		env.Show(fmt.Sprintf("%d ahead of need", n))
	}
	connections = conn.NewPools(append([]*target.Target{load.Target}, load.Others...), load.Timestamps)
	limited, cancel := context.WithTimeout(ctx, connectMost)
	defer cancel()
	if err := connections.Open(limited, n); err != nil && ctx.Err() == nil {
		notes = []string{fmt.Sprintf("connections ahead of need: %s; requests open the missing ones", text.Clean(load.Target.Hide(err.Error())))}
		env.warn(notes)
	}
	return connections, notes
}
