package protocol

import (
	"bytes"
	"fmt"
	"sync"
	"unsafe"

	"github.com/valyala/fastjson"
)

const (
	// parsedValue is about what a value of JSON takes once it is parsed.
	parsedValue = int(unsafe.Sizeof(fastjson.Value{})) + 24
	// parsedMost is the most that the values of an event may take.
	parsedMost = 64 << 20
	// pooledMost is the largest event with a parser of its own.
	pooledMost = 64 << 10
)

// Parsers are those that the readers of a run lend for an event: one for each stream would be two kilobytes that do nothing
// between two tokens. The values of a large event take many times its bytes, so large events share one parser, which is kept.
// The zero value is ready.
type Parsers struct {
	pool        fastjson.ParserPool
	large       sync.Mutex      // held while a large event is read
	largeParser fastjson.Parser // for those, guarded by large
}

// borrow takes a parser for an event.
func (r *Reader) borrow(data []byte) error {
	if len(data) <= pooledMost {
		r.parser = r.parsers.pool.Get()
		return nil
	}
	values := 1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	if values*parsedValue > parsedMost {
		return fmt.Errorf("an event of the stream has more than %d values", parsedMost/parsedValue)
	}
	r.parsers.large.Lock()
	r.parser, r.large = &r.parsers.largeParser, true
	return nil
}

// Release gives the parser back once nothing of the last message is needed any more.
func (r *Reader) Release() {
	switch {
	case r.parser == nil:
		return
	case r.large:
		r.parsers.large.Unlock()
	default:
		r.parsers.pool.Put(r.parser)
	}
	r.parser, r.large = nil, false
}
