package panels

// axisWidth is the width of the vertical axis of a chart.
const axisWidth = 6
