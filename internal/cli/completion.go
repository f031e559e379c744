package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/session"
)

// shells are the scripts that ask for completions, by shell.
var shells = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}

//go:embed completion/benchtop.bash
var bashScript string

//go:embed completion/benchtop.zsh
var zshScript string

//go:embed completion/benchtop.fish
var fishScript string

const completionText = `
Prints a script that completes commands, flags, their values and files. To install it:

  bash   benchtop completion bash >~/.local/share/bash-completion/completions/benchtop
  zsh    benchtop completion zsh >~/.zfunc/_benchtop    # with fpath+=~/.zfunc before compinit in ~/.zshrc
  fish   benchtop completion fish >~/.config/fish/completions/benchtop.fish`

func runCompletion(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "completion bash|zsh|fish", Text: completionText}
	rest, err := env.Parse(&flags, args)
	if err == nil && (len(rest) != 1 || shells[rest[0]] == "") {
		err = fmt.Errorf("completion takes the name of a shell, bash, zsh or fish, got %q", rest)
	}
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	fmt.Fprint(env.Stdout, shells[rest[0]])
	return session.ExitFine
}

// completeCommand is what the scripts of shells run, with the words of a command line behind the program's name; the
// last one, which may be empty, is to be completed.
const completeCommand = "__complete"

// complete prints what the last of some words may become, a line each, with a description behind a tab. It prints
// nothing where files or free values belong.
func complete(env *session.Environment, words []string) int {
	if len(words) > 1 && words[0] == "bench" {
		words = words[1:]
	}
	if len(words) == 0 {
		return session.ExitFine
	}
	at, rest := commands(), words
	var path []string
	for len(rest) > 1 && at != nil {
		i := slices.IndexFunc(at, func(c command) bool { return argv.Dashes(c.name) == argv.Dashes(rest[0]) })
		if i < 0 {
			break
		}
		path, rest, at = append(path, at[i].name), rest[1:], at[i].under()
	}
	if !strings.HasPrefix(rest[0], "-") && len(rest) == 1 {
		for _, c := range at {
			if strings.HasPrefix(c.name, rest[0]) {
				fmt.Fprintf(env.Stdout, "%s\t%s\n", c.name, c.summary)
			}
		}
	}
	if f := flagsOf(path); f != nil {
		for _, line := range f.Completions(rest) {
			fmt.Fprintln(env.Stdout, line)
		}
	}
	return session.ExitFine
}

// flagsOf are the flags of a command, nil for one that has none of its own. A command defines its flags when it runs,
// so it is run for its help, for which it does nothing else.
func flagsOf(path []string) (of *argv.Flags) {
	if len(path) == 0 {
		return nil
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == path[0] })
	all[i].run(&session.Environment{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Asked: func(f *argv.Flags) { of = f }}, append(path[1:len(path):len(path)], "--help"))
	return of
}

const manText = `
Prints the manual page, with all commands and all their flags. To read it: benchtop man | man -l -`

func runMan(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "man", Text: manText}
	rest, err := env.Parse(&flags, args)
	if err := errors.Join(err, noArguments("man", rest)); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	_, err = io.WriteString(env.Stdout, manPage())
	return env.Failed(err)
}

// manPage is the manual page, in the form of roff's man macros.
func manPage() string {
	var b strings.Builder
	fmt.Fprintf(&b,
		".TH BENCHTOP 1 \"\" \"benchtop %s\" \"User Commands\"\n.SH NAME\nbenchtop \\- load\\-test an LLM server "+
			"and watch the latency of its users live\n.SH SYNOPSIS\n.B benchtop\n.I COMMAND\n[\\fIflags\\fR]\n",
		session.Version())
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s.fi\n.SH COMMANDS\n", roff(overview()))
	eachCommand(commands(), nil, func(path []string) {
		if f := flagsOf(path); f != nil {
			manCommand(&b, f)
		}
	})
	return b.String()
}

// eachCommand calls a function with the words of each command, those under others behind them.
func eachCommand(at []command, above []string, visit func(path []string)) {
	for _, c := range at {
		path := append(above[:len(above):len(above)], c.name)
		visit(path)
		eachCommand(c.under(), path, visit)
	}
}

// manCommand writes the part of a command.
func manCommand(b *strings.Builder, f *argv.Flags) {
	fmt.Fprintf(b, ".SS benchtop %s\n.nf\n%s.fi\n", roff(f.Synopsis),
		roff(strings.TrimSpace(f.Text+"\n"+f.Details)+"\n"))
	f.Headings(func(title string, flags []*pflag.Flag) {
		fmt.Fprintf(b, ".PP\n.B %s\n", roff(title))
		for _, x := range flags {
			value, about := pflag.UnquoteUsage(x)
			name := "\\-\\-" + roff(x.Name)
			if x.Shorthand != "" {
				name = "\\-" + x.Shorthand + ", " + name
			}
			if x.NoOptDefVal == "" && x.DefValue != "" && x.DefValue != "0" && x.DefValue != "0s" &&
				x.DefValue != "[]" {
				about += " (default: " + x.DefValue + ")"
			}
			fmt.Fprintf(b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", name, roff(value), roff(about))
		}
	})
}

var (
	roffEscape  = strings.NewReplacer(`\`, `\e`, "-", `\-`)
	roffRequest = regexp.MustCompile(`(?m)^[.']`)
)

// roff is text as roff prints it: no line begins a request.
func roff(s string) string { return roffRequest.ReplaceAllString(roffEscape.Replace(s), `\&$0`) }
