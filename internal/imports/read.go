package imports

import (
	"errors"
	"fmt"
	"io"

	"benchtop/internal/jsonscan"
)

// read reads the objects of a file. A file that is optional may be of another format.
func (m *importer) read(r io.Reader, optional bool) error {
	err := m.objects(r)
	if foreign := (foreignError{}); optional && errors.As(err, &foreign) {
		m.summary.skip("files of other formats")
		return nil
	}
	return err
}

// objects reads the objects of a file. The error is a foreignError where the first one is of no format.
func (m *importer) objects(r io.Reader) error {
	v, err := newValues(r)
	if err != nil {
		return err
	}
	format := m.Format
	for n := 0; ; n++ {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		object, err := v.next()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return foreignError{errors.New("the file is empty; " + expected)}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && n > 0:
			return plainly(err)
		case err != nil:
			return err
		}
		if n == 0 && (format == Auto || format == "") {
			if format, err = detect(object); err != nil {
				return foreignError{err}
			}
		}
		if err := m.take(format, object); err != nil {
			return v.fail(err)
		}
	}
}

// plainly is an error behind the first object of a file, which had a format.
func plainly(err error) error {
	if foreign, ok := errors.AsType[foreignError](err); ok {
		return foreign.error
	}
	return err
}

// take has an object read in its format.
func (m *importer) take(format Format, object []byte) error {
	switch format {
	case AgentX:
		return m.agentx(object)
	case OTel:
		if m.spans == nil {
			m.spans = &spans{m: m, at: map[spanID]int{}, prefixes: newPrefixes()}
		}
		return m.spans.take(object)
	case OpenAIBatch:
		if m.batch == nil {
			m.batch = newBatch(m)
		}
		return m.batch.take(object)
	}
	return fmt.Errorf("unknown format %s", format)
}

// detect is the format of an object.
func detect(object []byte) (Format, error) {
	has := map[string]bool{}
	n := 0
	for name := range jsonscan.Members(object) {
		if n++; n > 1000 {
			break
		}
		has[jsonscan.Text(name)] = true
	}
	switch {
	case has["resourceSpans"], has["resource_spans"], has["traceId"] && has["spanId"],
		has["trace_id"] && has["span_id"],
		has["context"] && has["start_time"]:
		return OTel, nil
	case has["custom_id"]:
		return OpenAIBatch, nil
	case has["session"] && has["block_size"]:
		return "", errors.New("this is a file of sessions already")
	case has["requests"] && (has["hash_id_scope"] || has["block_size"]):
		return AgentX, nil
	}
	return "", errors.New("the format is not known; " + expected + ", or name the format with --format")
}
