// Package export turns the report of a run into files and text: the result file with vLLM's keys, the report as text with its
// remarks, plots and answer. Its figures come from metrics; only those of probes and of the server's counters, which are no
// figures of requests, are computed here. The journal of a run is written and read by the package journal.
//
//	journal ──events──▶ report.Of ──metrics.Report──▶ JSON, PyTorch, Text, Remarks, Plots, Answer
package export
