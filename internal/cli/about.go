package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"benchtop/docs"
	"benchtop/internal/argv"
	"benchtop/internal/session"
	"benchtop/internal/usage"
)

func runVersion(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "version [flags]", Text: "Prints the version of this program."}
	asJSON := flags.Group("Output").Bool("json", false, "print version, commit, date, Go and platform as JSON")
	rest, err := env.Parse(&flags, args)
	if err := errors.Join(err, noArguments("version", rest)); err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	build := session.BuildOf()
	if !*asJSON {
		fmt.Fprintf(env.Stdout, "benchtop %s\n", build.Version)
		return session.ExitFine
	}
	out := json.NewEncoder(env.Stdout)
	out.SetIndent("", "  ")
	return env.Failed(out.Encode(build))
}

const docsText = `
Prints a page of the documentation in Markdown, or lists the pages. The page grafana.json is the dashboard for Grafana.

  benchtop docs
  benchtop docs ci | less
  benchtop docs grafana.json > benchtop-dashboard.json`

// runDocs prints a page; the pages are part of the program, for machines without a network.
func runDocs(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "docs [PAGE]", Text: docsText}
	rest, err := env.Parse(&flags, args)
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	names, titles := docPages()
	if len(rest) == 0 {
		for i, name := range names {
			fmt.Fprintf(env.Stdout, "%-14s  %s\n", name, titles[i])
		}
		return session.ExitFine
	}
	name := strings.ToLower(rest[0])
	if !strings.HasSuffix(name, ".json") {
		name = strings.TrimSuffix(name, ".md") + ".md"
	}
	page, err := docs.Files.ReadFile(name)
	if err != nil || len(rest) > 1 {
		return env.Fail(session.ExitUsage, fmt.Errorf("docs has no page %s%s; its pages are %s",
			usage.Quote(strings.Join(rest, " ")), usage.DidYouMean(rest[0], names), strings.Join(names, ", ")))
	}
	_, err = env.Stdout.Write(page)
	return env.Failed(err)
}

// docPages are the names of the pages with their titles.
func docPages() (names, titles []string) {
	all, _ := fs.Glob(docs.Files, "*.md") // the pattern is right
	for _, file := range all {
		page, _ := docs.Files.ReadFile(file)
		title, _, _ := strings.Cut(strings.TrimPrefix(string(page), "# "), "\n")
		names, titles = append(names, strings.TrimSuffix(file, ".md")), append(titles, title)
	}
	return names, titles
}
