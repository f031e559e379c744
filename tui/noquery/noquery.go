// Package noquery keeps Bubble Tea from asking the terminal for its background colour before main runs. A terminal that
// does not answer, such as a bare pseudo-terminal in CI or a serial line, would delay every command by five seconds,
// even --help.
//
// It works because Go initialises packages in the order of their import paths once their dependencies are ready, and
// "benchtop" sorts before "github.com/charmbracelet/bubbletea". So it must import nothing but lipgloss. The package
// term asks without waiting, once a program is on the terminal.
package noquery

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
