// Package charts draws two pictures of a run: the timeline of all requests as a self-contained HTML page, and the lengths of
// prompts and answers as a PNG. It computes no figures of the report.
//
// Foreign text in the page (model names, request ids, error texts) is data, never markup.
package charts
