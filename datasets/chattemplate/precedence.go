package chattemplate

import (
	"errors"
	"fmt"
	"slices"
)

// nothing is the word for the value of "x if false", an undefined variable.
const nothing = "__nothing"

// index returns where w first stands outside brackets, or -1.
func index(tag []string, of ...string) int {
	depth := 0
	for i, w := range tag {
		if depth == 0 && slices.Contains(of, w) {
			return i
		}
		depth += nesting(w)
	}
	return -1
}

func nesting(w string) int {
	switch w {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

// conditional writes "x if c else y", which gonja knows only as a whole tag, as ((c) and [x] or [y])[0]. Like the
// original it works out x or y, not both.
func conditional(e []string) ([]string, error) {
	i := index(e, "if")
	if i < 0 {
		return logical(e)
	}
	if endsInTest(e[:i]) { // whose argument Jinja2 takes the if for
		return nil, errors.New("a test before if needs parentheses")
	}
	rest, other := e[i+1:], []string{nothing}
	j := index(rest, "else")
	if j >= 0 {
		rest, other = rest[:j], rest[j+1:]
	}
	condition, err1 := logical(rest)
	then, err2 := logical(e[:i])
	other, err3 := conditional(other)
	return slices.Concat([]string{"(", "("}, condition, []string{")", "and", "["}, then, []string{"]", "or", "["}, other, []string{"]", ")", "[", "0", "]"}),
		errors.Join(err1, err2, err3)
}

// logical goes through the operands of and, or and not.
func logical(e []string) (out []string, err error) {
	for {
		i := boundary(e)
		if i > 0 && i < len(e) && e[i] == "not" {
			return nil, errors.New("unexpected \"not\" in a tag")
		}
		part, err := comparison(e[:i])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
		if i == len(e) {
			return out, nil
		}
		out, e = append(out, e[i]), e[i+1:]
	}
}

// boundary returns where the next and, or or not stands that is none of "is not" and "not in".
func boundary(e []string) int {
	depth := 0
	for i, w := range e {
		switch {
		case depth > 0:
		case w == "and", w == "or":
			return i
		case w == "not" && (i == 0 || e[i-1] != "is") && (i+1 == len(e) || e[i+1] != "in"):
			return i
		}
		depth += nesting(w)
	}
	return len(e)
}

// comparison puts brackets around the operands of "in", of which gonja takes too little.
func comparison(e []string) ([]string, error) {
	signs := []string{"==", "!=", "<", ">", "<=", ">=", "in"}
	i := index(e, signs...)
	if i < 0 {
		return test(e)
	}
	if index(e[i+1:], signs...) >= 0 {
		return nil, errors.New("a chain of comparisons is not supported")
	}
	left, op, right := e[:i], e[i:i+1], e[i+1:]
	if i > 0 && e[i-1] == "not" {
		left, op = e[:i-1], e[i-1:i+1]
	}
	if (op[0] == "in" || op[0] == "not") && endsInTest(left) {
		return nil, fmt.Errorf("a test before %s needs parentheses", op[0])
	}
	left, err1 := test(left)
	right, err2 := test(right)
	return slices.Concat([]string{"("}, left, []string{")"}, op, []string{"("}, right, []string{")"}), errors.Join(err1, err2)
}

// endsInTest tells whether the last words are a test without an argument.
func endsInTest(e []string) bool {
	i := index(e, "is")
	return i >= 0 && (i == len(e)-2 || i == len(e)-3 && e[i+1] == "not")
}

// test puts brackets around "x is y", which gonja lets run on into the next words. Arithmetic binds less than tests do.
func test(e []string) (out []string, err error) {
	if index(e, "is") < 0 {
		return brackets(e)
	}
	for from := 0; ; {
		to := from
		for to < len(e) && sign(e[to]) { // of the operand itself
			to++
		}
		n := index(e[to:], "+", "-", "*", "/", "//", "%", "~")
		end := to + n
		if n < 0 {
			end = len(e)
		}
		operand := e[from:end]
		i := index(operand, "is")
		if i >= 0 && index(operand[i+1:], "is", "|") >= 0 {
			return nil, errors.New("a test before a filter or another test is not supported")
		}
		part, err := brackets(operand)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, []string{"("}, part, []string{")"})
		if end == len(e) {
			return out, nil
		}
		out, from = append(out, e[end]), end+1
	}
}

func sign(w string) bool { return w == "+" || w == "-" }

// brackets goes into each pair of brackets.
func brackets(e []string) (out []string, err error) {
	for i := 0; i < len(e); i++ {
		out = append(out, e[i])
		if nesting(e[i]) <= 0 {
			continue
		}
		depth, from := 1, i+1
		for depth > 0 {
			i++
			if i == len(e) {
				return nil, errors.New("brackets do not match")
			}
			depth += nesting(e[i])
			if depth == 0 || depth == 1 && slices.Contains([]string{",", ":", "="}, e[i]) {
				part, err := conditional(e[from:i])
				if err != nil {
					return nil, err
				}
				out, from = append(append(out, part...), e[i]), i+1
			}
		}
	}
	return out, nil
}
