package cli

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

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

// quoted is a text fit for the line of an error: in quotes where it needs them, and not too long.
func quoted(v string) string {
	v = shortened(v)
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return strconv.Quote(v)
	}
	return v
}

// shortened cuts a text that would fill the screen.
func shortened(v string) string {
	const most = 100
	if len(v) <= most {
		return v
	}
	return strings.ToValidUTF8(v[:most], "") + "…"
}
