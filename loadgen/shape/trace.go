package shape

// Trace sends requests at the times of the data set.
type Trace struct{ Bounds }

// Peak is the limit, from the start on.
func (t Trace) Peak(requests int) Demand { return Users(t).Peak(requests) }

// Describe says where the times come from.
func (t Trace) Describe(int) string { return "at the times of the trace" + t.atMost() }
