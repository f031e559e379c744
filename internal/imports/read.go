package imports

import (
	"errors"
	"fmt"
	"io"

	"benchtop/datasets/jsonscan"
)

// read reads the objects of a file. A file that is optional may be of another format.
func (m *importer) read(r io.Reader, optional bool) error {
	v, err := newValues(r)
	if err != nil && optional {
		m.summary.skip("files of another format")
		return nil
	}
	if err != nil {
		return err
	}
	format := m.Format
	for n := 0; ; n++ {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		object, err := v.next()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil || n == 0 && (format == Auto || format == "") {
			if err == nil {
				format, err = detect(object)
			} else if errors.Is(err, io.EOF) {
				err = errors.New("the file is empty; " + expected)
			}
			if err != nil && optional && n == 0 && foreign(object) {
				m.summary.skip("files of another format")
				return nil
			}
			if err != nil {
				return err
			}
		}
		if err := m.take(format, object); err != nil {
			return v.fail(err)
		}
	}
}

// foreign reports whether an object, nil for none, is of no format at all rather than a broken one.
func foreign(object []byte) bool {
	_, err := detect(object)
	return err != nil
}

// take has an object read in its format.
func (m *importer) take(format Format, object []byte) error {
	switch format {
	case AgentX:
		return m.agentx(object)
	case OTel:
		if m.spans == nil {
			m.spans = newSpans(m.KeepText)
		}
		return m.spans.take(object)
	case OpenAIBatch:
		if m.batch == nil {
			m.batch = newBatch(m)
		}
		return m.batch.take(object)
	}
	return fmt.Errorf("%s is no format", format)
}

// detect is the format of an object.
func detect(object []byte) (Format, error) {
	if len(object) == 0 {
		return "", errors.New("it has no object; " + expected)
	}
	has := map[string]bool{}
	n := 0
	for name := range jsonscan.Members(object) {
		if n++; n > 1000 {
			break
		}
		has[jsonscan.Text(name)] = true
	}
	switch {
	case has["resourceSpans"], has["resource_spans"], has["traceId"] && has["spanId"], has["trace_id"] && has["span_id"],
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
