package panels

import (
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// Where a run is known by the minute alone, no column is of less.
func TestSharingOfMinutes(t *testing.T) {
	s := metrics.Snapshot{}
	for k := range 3 {
		s.Windows = append(s.Windows, &metrics.Window{Start: time.Duration(k) * time.Minute, Seconds: 60})
	}
	for k := range 120 {
		s.Windows = append(s.Windows, &metrics.Window{Start: 3*time.Minute + time.Duration(k)*time.Second})
	}
	s.Minutes = metrics.Minutes{}.Follow(&s, 0)
	v, columns := &View{Snapshot: &s}, 0
	for ws := range v.sharing(s.Windows, 7) {
		assert.Equal(t, ws[0].Start, time.Duration(columns)*time.Minute, "column %d begins at", columns)
		columns++
	}
	assert.Equal(t, columns, 5, "columns")
}
