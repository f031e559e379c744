package imports

type spans struct{}
type batch struct{}

func newSpans(bool) *spans              { return nil }
func (*spans) take([]byte) error        { return nil }
func (*spans) sessions(*importer) error { return nil }
func newBatch(*importer) *batch         { return nil }
func (*batch) take([]byte) error        { return nil }
