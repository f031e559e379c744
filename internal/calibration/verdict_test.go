package calibration

import (
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestBeyond(t *testing.T) {
	when := time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	usual := Figures{RequestsPerSecond: 8000, OpenStreams: 10000, ChunksPerSecond: 60000, MoreStreams: true}
	weak := Figures{WithoutPause: 8000, Rates: []RateStep{{Asked: 2000}, {Asked: 125}},
		Streams: []Step{{Streams: 1000}, {Streams: 62}}, Chunks: []Step{{ChunksPerSecond: 10000}}}
	for _, c := range []struct {
		name string
		f    Figures
		l    PlannedLoad
		want []string
	}{
		{"nothing known of the load", usual, PlannedLoad{}, nil},
		{"within", usual, PlannedLoad{8000, 10000, 60000}, nil},
		{"nothing measured", Figures{}, PlannedLoad{1e9, 1e9, 1e9}, nil},
		{"as fast as it goes is no plan", usual, PlannedLoad{math.Inf(1), math.NaN(), math.Inf(1)}, nil},
		{"requests", usual, PlannedLoad{RequestsPerSecond: 12000}, []string{
			"this load plans 12,000 requests/s, but this machine measured exactly only up to 8,000 (calibrated " +
				"2026-03-04): requests may be sent late; use more cores, or spread the load over several machines",
		}},
		{"untried streams", usual, PlannedLoad{Streams: 15000}, []string{
			"this load plans 15,000 open streams; the calibration of 2026-03-04 stopped at 10,000: beyond that, " +
				"chunks may be read late, or requests fail",
		}},
		{"chunks", usual, PlannedLoad{ChunksPerSecond: 60001, Streams: 5}, []string{
			"this load plans 60,001 chunks/s, but this machine measured exactly only up to 60,000 (calibrated " +
				"2026-03-04): chunks may be read late, so that gaps between them are wrong; use more cores, or " +
				"spread the load over several machines",
		}},
		{"a rate that comes, but late", weak, PlannedLoad{RequestsPerSecond: 125}, []string{
			"this load plans 125 requests/s, but this machine could not measure even 125 exactly (calibrated " +
				"2026-03-04): requests may be sent late; use more cores, or spread the load over several machines",
		}},
		{"a machine too weak for a figure", weak, PlannedLoad{Streams: 62, ChunksPerSecond: 9999}, []string{
			"this load plans 62 open streams, but this machine could not measure even 62 exactly (calibrated " +
				"2026-03-04): chunks may be read late, or requests fail; use more cores, or spread the load over " +
				"several machines",
		}},
	} {
		got := (&Calibration{When: when, Figures: c.f}).Beyond(c.l)
		assert.EqualAll(t, got, c.want, "%s", c.name)
	}
}
