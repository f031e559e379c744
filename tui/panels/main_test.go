package panels

// axisWidth is what the vertical axis of a chart takes.
const axisWidth = 6
