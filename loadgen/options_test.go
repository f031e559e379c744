package loadgen

import (
	"math"
	"testing"

	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics/event"
)

// Options that make no load are refused, every problem at once and by its name.
func TestValidate(t *testing.T) {
	g := targetOf(t, target.Options{})
	for _, c := range []struct {
		name   string
		change func(*Options)
		words  []string // none: good
	}{
		{"good", func(*Options) {}, nil},
		{"good in every field", func(o *Options) {
			o.Endpoint, o.Protocol, o.Limit, o.ProbeRate, o.Pacer = "/x/chat/completions", protocol.Chat{}, 1,
				math.Inf(1), "timer"
			o.Extra = []protocol.Field{{Name: "a", JSON: "{}"}}
		}, nil},
		{"nothing set", func(o *Options) { *o = Options{} },
			[]string{"no target", "no protocol", "no schedule", "time-outs must be positive"}},
		{"endpoint of another backend", func(o *Options) { o.Endpoint = "/v1/rerank" },
			[]string{"it must end in completions"}},
		{"endpoint without a slash", func(o *Options) { o.Endpoint = "v1/completions" },
			[]string{`endpoint "v1/completions": expected a path such as`}},
		{"endpoint with a line break", func(o *Options) { o.Endpoint = "/x HTTP/1.1\r\nX: y\r\n/v1/completions" },
			[]string{"expected a path such as"}},
		{"extra field", func(o *Options) {
			o.Extra = []protocol.Field{{Name: "a", JSON: "1"}, {Name: "b", JSON: "{"}, {Name: "c"}}
		},
			[]string{`request field "b": its value is not valid JSON`, `request field "c"`}},
		{"limit", func(o *Options) { o.Limit = -1 }, []string{"limit -1"}},
		{"closed loop", func(o *Options) { o.ClosedLoop = true }, []string{"a closed loop needs a limit"}},
		{"probe rate", func(o *Options) { o.ProbeRate = -1 }, []string{"probe rate -1"}},
		{"probe rate that is no number", func(o *Options) { o.ProbeRate = math.NaN() }, []string{"probe rate NaN"}},
		{"drain", func(o *Options) { o.Drain = -1 }, []string{"time-outs must be positive"}},
		{"pacer", func(o *Options) { o.Pacer = "sundial" }, []string{`pacer "sundial": this system has`}},
	} {
		o := Defaults()
		o.Target, o.Schedule = g, shape.Immediately()
		c.change(&o)
		_, err := New(o, event.Discard)
		if c.words != nil {
			assert.Complains(t, err, c.words...)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Each protocol has an endpoint that it would accept itself.
	for _, p := range protocol.All() {
		if b := p.Traits(); b.CheckEndpoint(b.Path) != nil || b.CheckEndpoint(b.Path+"?api-version=1") != nil ||
			!isEndpoint(b.Path) {
			t.Errorf("backend %s: endpoint %s", b.Name, b.Path)
		}
	}
}
