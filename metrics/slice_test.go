package metrics

import (
	"reflect"
	"testing"

	"benchtop/internal/assert"
)

// numbers are the numbers in a struct, those of inner structs and arrays too.
func numbers(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, numbers(v.Field(i))...)
		}
	case reflect.Array:
		for i := range v.Len() {
			all = append(all, numbers(v.Index(i))...)
		}
	default:
		all = append(all, v)
	}
	return all
}

// Merge adds every count.
func TestMergeOfCounts(t *testing.T) {
	var a, b Counts
	for i, v := range numbers(reflect.ValueOf(&a).Elem()) {
		v.SetInt(int64(i + 1))
	}
	b = a
	a.Merge(&b)
	for i, v := range numbers(reflect.ValueOf(&a).Elem()) {
		assert.Equal(t, v.Int(), int64(2*(i+1)), "number %d is %d after a merge: %+v", i, v.Int(), a)
	}
}
