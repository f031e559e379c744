package spec

import (
	"testing"

	"benchtop/internal/assert"
)

// A scheduler that counts from 0 gives parts from 1, if it is asked to.
func TestPartOfScheduler(t *testing.T) {
	for _, c := range []struct{ name, value, part, want string }{
		{"JOB_COMPLETION_INDEX", "2", "auto/4", "3/4"},
		{"SLURM_PROCID", "0", "auto/4", "1/4"},
		{"SLURM_PROCID", "4", "auto/4", "the parts of 4 are 1 to 4"},
		{"SLURM_PROCID", "x", "auto/4", "SLURM_PROCID is x"},
		{"SLURM_PROCID", "-1", "auto/4", "SLURM_PROCID is -1"},
		{"OTHER", "1", "auto/4", "neither JOB_COMPLETION_INDEX nor SLURM_PROCID is set"},
		{"SLURM_PROCID", "3", "2/4", "2/4"},
		{"OTHER", "1", "5/4", "the parts of 4 are 1 to 4"},
		{"OTHER", "1", "0/4", "the parts of 4 are 1 to 4"},
		{"OTHER", "1", "1/0", "a run has 1 to 10000 parts"},
		{"OTHER", "1", "2", "expected K/N"},
		{"OTHER", "1", "a/4", "expected K/N"},
	} {
		t.Run(c.part+" "+c.name+" "+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			var f partFlag
			got := ""
			if err := f.Set(c.part); err != nil {
				got = err.Error()
			} else {
				got = f.String()
			}
			assert.Has(t, got, c.want)
		})
	}
}
