package loadgen

import "benchtop/datasets/numpy"

// RoundRobinModels gives the requests the modules in turn, for Options.ModelFor. modules must not be empty.
func RoundRobinModels(modules []string) func(index int) string {
	return func(index int) string { return modules[index%len(modules)] }
}

// RandomModels draws a module for each request, for Options.ModelFor, as vLLM does: one choice of Python's generator a
// request, whatever its index. The generator is the function's from then on. modules must not be empty.
func RandomModels(modules []string, draws *numpy.Python) func(index int) string {
	return func(int) string { return modules[draws.Choice(len(modules))] }
}
