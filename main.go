// Command benchtop loads an LLM server and shows, live in the terminal, what its users would feel.
package main

import (
	"os"

	"benchtop/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
