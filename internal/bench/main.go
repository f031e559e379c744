// Command bench measures benchtop itself: the accuracy of its times and their cost, against a server that does no work and compared
// with a client that does the least possible. It prints tables and writes them into docs/accuracy.md and docs/accuracy.json. Run it
// from the root of the repository, best by make bench.
//
// The server and every measured client have a process and, on Linux, cores of their own.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == childRole {
		return child(ctx)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := f.Int("rounds", 0, "rounds of every table; 0 for the table's own number")
	only := f.String("only", "", "measure one table, or those whose names begin with a word: "+strings.Join(names(tables(false)), ", "))
	quick := f.Bool("quick", false, "one short round of smaller loads, for trying: prints, and writes nothing")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || *rounds < 0 {
		return fmt.Errorf("%s: rounds must not be negative, and there is nothing but flags", strings.Join(args, " "))
	}
	chosen := tables(*quick)
	if *only != "" {
		if chosen = named(chosen, *only); len(chosen) == 0 {
			return fmt.Errorf("no table %q: there are %s", *only, strings.Join(names(tables(false)), ", "))
		}
	}
	return bench(ctx, chosen, *rounds, !*quick)
}

// bench measures tables and, if keep is true, saves each as soon as it is complete.
func bench(ctx context.Context, chosen []table, rounds int, keep bool) error {
	if err := inRepository(); err != nil {
		return err
	}
	here := thisMachine(ctx)
	fmt.Printf("%s\n\n", here)
	for _, t := range chosen {
		if _, err := withTable(t.name, ""); keep && err != nil {
			return err
		}
	}
	h, err := newHarness(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	for _, t := range chosen {
		if rounds > 0 {
			t.rounds = rounds
		}
		began := time.Now()
		m, err := t.measure(ctx, h)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		text := t.markdown(m, here)
		fmt.Printf("## %s (%s)\n\n%s\n", t.name, time.Since(began).Round(time.Second), text)
		if keep {
			if err := save(t, m, here, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// named are the tables with a name, or with a name that begins with it as a word.
func named(all []table, name string) []table {
	return slices.DeleteFunc(all, func(t table) bool { return t.name != name && !strings.HasPrefix(t.name, name+"-") })
}

func names(all []table) []string {
	var list []string
	for _, t := range all {
		list = append(list, t.name)
	}
	return list
}
