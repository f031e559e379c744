// Package export turns a run into files and text: the journal that is written while the run goes on, the result file
// with vLLM's keys, the report as text. It computes no figure of its own; all of them come from metrics.
//
// The journal is the only source of a report, live or years later:
//
//	requests ──> Journal ──> Records or ReadJournal ──> metrics.Summarize ──> Report ──> JSON, Text, Remarks
package export
