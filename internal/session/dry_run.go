package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/prompts"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// unknownModel stands for the model of a server that is not asked.
const unknownModel = "(the first model of the server)"

// mostBody bounds the body that a dry run shows, in characters.
const mostBody = 2000

// DryRun prints what is asked for, as a file for --config, and behind it as comments the load and the first request. It
// asks no server, so that lengths which only a server can count are those that are asked for.
func (e *Environment) DryRun(ctx context.Context, o *spec.Spec) error {
	if err := argv.WriteFile(e.Stdout, o.Settings()); err != nil {
		return err
	}
	say := func(name, words string) {
		fmt.Fprintf(e.Stdout, "# %-8s %s\n", name, text.Clean(o.Server.Target.Hide(secret.Hide(words))))
	}
	runs, err := o.Runs()
	if err != nil {
		return err
	}
	if len(runs) > 1 {
		say("runs", fmt.Sprintf("%d, of which this is the first", len(runs)))
	}
	o = runs[0]
	say("load", o.Load.Shape().Describe(o.Prompts.Prompts, metrics.RequestsPerSecond))
	streams := numpy.NewStreams(uint32(o.Load.Seed))
	client := o.Server.Target.Client()
	defer client.CloseIdleConnections()
	model := server.Model{ID: cmp.Or(o.Server.Model, unknownModel), Root: o.Server.Model, Named: o.Server.Model}
	drawing := prompts.Drawing{Options: &o.Prompts, Server: &o.Server, Client: client, Model: model, Draws: streams,
		IDPrefix: o.Request.IDPrefix, To: e}
	flow, tokenizing, err := drawing.Open(ctx)
	if err != nil {
		return err
	}
	if flow.Close != nil {
		defer flow.Close()
	}
	e.Warn(tokenizing.Notes)
	say("prompts", flow.About)
	first, err := flow.Next()
	if err == io.EOF {
		say("request", "none: the data set has no prompts")
		return nil
	}
	if err != nil {
		return prompts.DrawError(err)
	}
	turn := first.Turns[0]
	if turn.Prompt.Compose != nil {
		if err := turn.Prompt.Compose(&turn, make([]string, len(first.Turns))); err != nil {
			return err
		}
	}
	load := loadgen.Options{Model: model.ID}
	o.Server.Send(&load)
	o.Request.Send(&load, o.FullLength(), streams.Python)
	if load.ModelFor != nil {
		load.Model = load.ModelFor(0)
	}
	body, err := load.Body(&turn)
	if err != nil {
		return err
	}
	address, _, _ := strings.Cut(strings.TrimSuffix(o.Server.Target.URL(""), "/")+o.Server.Path(), "?")
	say("request", "POST "+address)
	shown := []rune(secret.Hide(string(body)))
	if len(shown) > mostBody {
		shown = append(shown[:mostBody:mostBody], []rune(fmt.Sprintf("… (%d characters)", len(shown)))...)
	}
	say("body", string(shown))
	return nil
}
