// Package screen is the screen in memory: cells with a glyph and a style, rectangles to draw on, and what a terminal of a
// theme, of so many colours and of ASCII makes of them. It knows neither panels nor data.
//
//	text ──Sanitize──> Canvas.Print ──> Surface: cells ──Render(palette)──> one string with few escape sequences
package screen
