package cli

import (
	"errors"

	"github.com/spf13/pflag"
)

// kind says in words what a flag's value looks like.
func kind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 500ms, 30s or 2m"
	case "string":
		return "a text"
	}
	return f.Value.Type()
}

// explain turns a parser's error into one for a person. Types of our own explain themselves.
func explain(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "int", "int64", "float64", "bool", "duration":
		return "expected " + kind(f)
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = invalid.Unwrap()
	}
	return err.Error()
}
