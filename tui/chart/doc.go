// Package chart draws data: lines over time, histograms, heat maps, bands of percentiles, gauges. A chart takes plain data
// (values, moments, styles, a scale) and a rectangle of the screen. It knows neither snapshots nor pages nor keys: panels turn
// a snapshot into that data.
//
//	values ──axis──> 0 to 1 ──> dots, eighths, halves of cells ──> Raster: a canvas of ntcharts ──> cells of the screen
//	                               │                                 ┊
//	    0.42 ──log──> 0.61 ──┬──> line:   dot (2x, 4y)  ⠤⠒⠉           ┊ one raster serves all charts,
//	                         ├──> column: eighths       ▂▅█          ┊ one after the other, and is kept
//	                         └──> pixel:  upper, lower  ▀▄           ┊ from frame to frame
//
//	╭ canvas ───────────╮  Axes, limits, marks and (without colours) the names of lines are written on the screen itself.
//	│10k│        ⢀⣀     │  Limits and marks go behind the data: a cell with a dot of a line is taken.
//	│  0│⠤⠤⠤⠔⠒⠊⠉        │
//	│   ╰┴-60s─────now  │
package chart
