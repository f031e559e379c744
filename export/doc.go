// Package export turns the report of a run into files and text: the result file with vLLM's keys, the report as text with its
// remarks, plots and answer. Its figures come from metrics, except those of decoding counters, which are computed
// here. The package journal writes and reads the journal of a run.
//
//	journal ──events──▶ report.Of ──metrics.Report──▶ JSON, PyTorch, Text, Telemetry, Remarks, Plots, Answer
package export
