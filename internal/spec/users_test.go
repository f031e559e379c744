package spec

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// What the flags say of users is what the engine gets and the plan says. Without them there is nothing.
func TestUsers(t *testing.T) {
	for args, want := range map[string]loadgen.Users{
		"":                                   {},
		"--abandon 5%":                       {Seed: 7, Leaving: .05},
		"--abandon ttft>10s":                 {Seed: 7, Patience: 10 * time.Second},
		"--abandon 2.5%,ttft>500ms":          {Seed: 7, Leaving: .025, Patience: 500 * time.Millisecond},
		"--retry backoff":                    {Seed: 7, Tries: 5, Trying: 30 * time.Second},
		"--retry backoff,most=2m,tries=3":    {Seed: 7, Tries: 3, Trying: 2 * time.Minute},
		"--read-rate 20tok/s":                {Seed: 7, TokenRate: 20},
		"--read-rate 4KB/s":                  {Seed: 7, ByteRate: 4000},
		"--read-rate 1.5MB/s --abandon 1%":   {Seed: 7, ByteRate: 1.5e6, Leaving: .01},
		"--read-rate 500B/s --retry backoff": {Seed: 7, ByteRate: 500, Tries: 5, Trying: 30 * time.Second},
	} {
		o, plan := New(), metrics.Plan{}
		assert.Fails(t, args, o.Parse(strings.Fields("http://model.test --seed 7 "+args)), "")
		var e loadgen.Options
		o.Load.Users.send(&e, o.Load.Seed)
		o.Load.Users.plan(&plan)
		said := strings.TrimSpace(plan.Abandon + plan.Retry + plan.ReadRate)
		if e.Users != want || (said == "") != (args == "") {
			t.Errorf("%s: %+v, plan %q; want %+v", args, e.Users, said, want)
		}
		if user := o.Client.source() == metrics.UserStamps; o.Load.Users.slow() && !user {
			t.Errorf("%s: timed by %s", args, o.Client.source())
		}
	}
}
