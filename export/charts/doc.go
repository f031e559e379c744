// Package charts draws pictures: of a run the timeline of all requests as a self-contained HTML page, and the lengths
// of prompts and answers as a PNG; of a sweep its figures as a page, PNG, SVG or text. It computes no figures of the
// report.
//
//	Figure ──axes──┬──> Drawing: lines, areas, circles, texts ──> SVG, or pixels of a PNG
//	               ├──> page: the data, and a script around ECharts
//	               └──> text: braille dots and letters
//
// Foreign text (model names, request ids, error texts, parameters) is data, never markup or a command of the terminal.
package charts
