package imports

import (
	"errors"
	"fmt"

	"benchtop/internal/jsonscan"
)

const (
	// mostSpans bounds the spans of an import, and with them memory.
	mostSpans = 1 << 20
	// mostBeginnings bounds the texts that are compared, to 1 GiB.
	mostBeginnings = 1 << 24
	// mostTexts bounds the texts that are kept, in bytes.
	mostTexts = 512 << 20
)

// spans are those of all files: those of a trace may stand anywhere.
type spans struct {
	m          *importer
	all        []span
	at         map[spanID]int
	beginnings int
	texts      int
	prefixes   *prefixes
}

// spanID names a span in all traces.
type spanID struct{ trace, id string }

// take reads an object: spans by their resources, or one span.
func (t *spans) take(object []byte) error {
	fields := jsonscan.Fields(object, "resourceSpans", "resource_spans")
	resources := fields[0]
	if absent(resources) {
		resources = fields[1]
	}
	if absent(resources) {
		return t.span(object)
	}
	if resources[0] != '[' {
		return inKey("resourceSpans", fmt.Errorf("expected an array: got %s", jsonscan.Kind(resources)))
	}
	for resource := range jsonscan.Elements(resources) {
		for _, scopes := range jsonscan.Fields(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans") {
			if absent(scopes) {
				continue
			}
			if err := t.scopes(scopes); err != nil {
				return err
			}
		}
	}
	return nil
}

// scopes reads the spans of the parts of a program.
func (t *spans) scopes(scopes []byte) error {
	for scope := range jsonscan.Elements(scopes) {
		for object := range jsonscan.Elements(jsonscan.Fields(scope, "spans")[0]) {
			if err := t.span(object); err != nil {
				return err
			}
		}
	}
	return nil
}

// span adds a span.
func (t *spans) span(object []byte) error {
	if len(object) == 0 || object[0] != '{' {
		return fmt.Errorf("a span: expected an object: got %s", jsonscan.Kind(object))
	}
	s, err := t.parse(object)
	if err != nil {
		return err
	}
	if s.id == "" || s.trace == "" {
		t.m.summary.skip("objects other than spans")
		return nil
	}
	id := spanID{s.trace, s.id}
	if _, there := t.at[id]; there {
		t.m.summary.skip("spans that were there twice")
		return nil
	}
	if len(t.all) == mostSpans {
		return fmt.Errorf("more than %d spans; import fewer files at a time", mostSpans)
	}
	if t.texts > mostTexts {
		return errors.New("more than 512 MiB of texts; import fewer files at a time, or leave --keep-text out")
	}
	t.at[id] = len(t.all)
	t.all = append(t.all, s)
	return nil
}
