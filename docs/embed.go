// Package docs holds the documentation that the program prints.
package docs

import "embed"

// Files are the pages in Markdown.
//
//go:embed *.md
var Files embed.FS
