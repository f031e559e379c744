package loadgen

import (
	"encoding/json"
	"os"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	assert.Fine(t, err)
	assert.Fine(t, json.Unmarshal(data, into))
}

// The models of the requests are those that Python's generator chooses.
func TestGoldenModels(t *testing.T) {
	var golden struct {
		Cases []struct {
			Seed       int64
			Modules    []string
			Assignment string
			Chosen     []string
		}
	}
	readGolden(t, "lora.json", &golden)
	if len(golden.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range golden.Cases {
		modelFor := RoundRobinModels(c.Modules, nil)
		if c.Assignment == "random" {
			modelFor = RandomModels(c.Modules, nil, numpy.NewPython(c.Seed))
		}
		var got []string
		for i := range c.Chosen {
			got = append(got, modelFor(i))
		}
		assert.EqualAll(t, got, c.Chosen, "seed %d, %v, %s", c.Seed, c.Modules, c.Assignment)
	}
}
