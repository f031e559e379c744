package datasets

import (
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// flagNames writes down what is defined, in order.
type flagNames struct{ all *[]string }

func (f flagNames) add(name string)                                         { *f.all = append(*f.all, name) }
func (f flagNames) BoolVar(_ *bool, name string, _ bool, _ string)          { f.add(name) }
func (f flagNames) IntVar(_ *int, name string, _ int, _ string)             { f.add(name) }
func (f flagNames) Float64Var(_ *float64, name string, _ float64, _ string) { f.add(name) }
func (f flagNames) StringVar(_ *string, name, _, _ string)                  { f.add(name) }
func (f flagNames) DurationVar(_ *time.Duration, name string, _ time.Duration, _ string) {
	f.add(name)
}
func (f flagNames) CountVar(_ *int, name, _ string) { f.add(name) }

// The help has its flags in the order in which they are defined: sonnet's behind those of the custom family.
func TestKindsDefineTheirFlagsOnce(t *testing.T) {
	var names []string
	headings := map[string]bool{}
	Define(Kinds(&Common{}), func(heading string) Flags {
		headings[heading] = true
		return flagNames{&names}
	})
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Errorf("a flag is defined twice: %v", names)
	}
	sonnet := slices.Index(names, "sonnet-input-len")
	if sonnet < 1 || names[sonnet-1] != "custom-ensure-client-side-data" || names[sonnet+3] != "spec-bench-output-len" {
		t.Errorf("flags in the order %v", names)
	}
	for heading := range headings {
		if !strings.HasPrefix(heading, "Data set") {
			t.Errorf("flags below %q", heading)
		}
	}
}

// A data set that no backend, or not every one, can send says why.
func TestKindsSayWhy(t *testing.T) {
	kinds := Kinds(&Common{})
	names := Names(kinds)
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Errorf("a name is there twice: %v", names)
	}
	for _, k := range kinds {
		n := k.Needs(Common{Path: BFCLRepository})
		assert.Equal(t, n.Why == "", n.Forms.Overlap(AsText), "%s: forms %b, why %q", k.Name(), n.Forms, n.Why)
		if Named(kinds, k.Name()) != k {
			t.Errorf("%s: another kind has its name", k.Name())
		}
	}
	if k := Named(kinds, "none"); k != nil {
		t.Errorf("none: %s", k.Name())
	}
}
