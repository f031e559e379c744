// Package docs holds the documentation that the program prints.
package docs

import "embed"

// Files are the pages in Markdown, and the dashboard for Grafana.
//
//go:embed *.md grafana.json
var Files embed.FS
