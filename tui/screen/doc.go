// Package screen holds the screen in memory: cells with a glyph and a style, and rectangles to draw on. It renders them for a
// terminal with a theme, a number of colours, and UTF-8 or ASCII. It knows neither panels nor data.
//
//	text ──Sanitize──> Canvas.Print ──> Surface: cells ──Render(palette)──> one string with few escape sequences
package screen
