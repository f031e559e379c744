// Package export turns a run into files and text: the journal that is written while the run goes on, the result file
// with vLLM's keys, the report as text with its remarks, plots and answer. Its figures come from metrics; only those of
// probes and of the server's counters, which are no figures of requests, are computed here.
//
// The journal is the only source of a report, live or years later:
//
//	requests ──> Journal ──> Records or ReadJournal ──> metrics.Summarize ──> Report ──> JSON, PyTorch,
//	                                                                                     Text, Remarks, Plots, Answer
package export
