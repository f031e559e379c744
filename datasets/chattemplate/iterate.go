package chattemplate

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2/exec"
)

// iterate lists what a Python loop over a value would see.
func (r *run) iterate(v any) ([]any, error) {
	var items []any
	switch v := v.(type) {
	case undefined:
	case string:
		for _, c := range v {
			items = append(items, string(c))
		}
	case *list:
		items = v.items
	case *stream:
		items, v.items = v.items, nil
	case *dict:
		items = v.keys
	default:
		return nil, fmt.Errorf("cannot loop over %s", typeName(v))
	}
	return items, r.spend(len(items))
}

// loopAttribute is what a template sees under the name loop, as far as gonja and Jinja2 agree about it.
func loopAttribute(l exec.AttributeGetter, name string) (any, error) {
	switch name {
	case "index", "index0", "revindex", "revindex0", "first", "last", "length":
		v, _ := l.GetAttribute(name)
		return plain(v), nil
	case "previtem", "nextitem":
		end := map[string]string{"previtem": "first", "nextitem": "last"}[name]
		if none, _ := l.GetAttribute(end); none.Bool() {
			return undefined{"item"}, nil
		}
		neighbour, _ := l.GetAttribute(name)
		v := plain(neighbour)
		if _, pair := v.([2]*exec.Value); !pair { // of which it is lost what it was
			return v, nil
		}
	}
	return nil, fmt.Errorf("loop.%s is not supported", name)
}
