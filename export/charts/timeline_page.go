package charts

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"benchtop/metrics"
)

var (
	//go:embed echarts.min.js.gz
	echartsGzip []byte
	//go:embed page.js
	pageScript string
	//go:embed page.css
	pageStyle string
)

// echarts is the library of the pages.
var echarts = sync.OnceValue(func() string {
	z, err := gzip.NewReader(bytes.NewReader(echartsGzip))
	if err != nil {
		panic(err) // the file is a part of the program
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// colours are those of the classes, in order.
var colours = [classes]string{"#636EFA", "#109618", "#FF7F0E", "#D62728", "#E377C2", "#9AA0A6"}

// pageData is the data of the page's script. Times are in microseconds from the earliest start.
type pageData struct {
	About   [][2]string `json:"about"`
	Classes []pageClass `json:"classes"`
	Rows    pageRows    `json:"rows"`
	End     int64       `json:"end"`
	// Segments is their number; the segments are in a block of their own, row by row.
	Segments int   `json:"segments"`
	Joined   bool  `json:"joined"`
	Least    int64 `json:"least"`
	Unsent   int   `json:"unsent"`
	// Marks are the annotated events in order of time.
	Marks []pageMark `json:"marks,omitempty"`
}

type pageMark struct {
	At   int64  `json:"at"`
	Name string `json:"name"`
}

type pageClass struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
	Used   bool   `json:"used"`
}

// pageRows has the requests by column, half the size of objects. Failures are by row number; ids and models are omitted
// if no request has any.
type pageRows struct {
	Index    []int          `json:"index"`
	Start    []int64        `json:"start"`
	Finish   []int64        `json:"finish"`
	Input    []int          `json:"input"`
	Output   []int          `json:"output"`
	TPOT     []int64        `json:"tpot"`
	TokenITL []int64        `json:"tokenITL"`
	Count    []int          `json:"count"`
	IDs      []string       `json:"ids,omitempty"`
	Models   []string       `json:"models,omitempty"`
	Failures map[int]string `json:"failures"`
}

// newPageData converts the rows to columns. There is at least one row.
func newPageData(g *gantt, plan *metrics.Plan, events []metrics.LogEntry) pageData {
	d := pageData{About: about(plan), Segments: g.segments, Joined: g.joined, Least: g.joinBelow, Unsent: g.unsent}
	for i, name := range g.thresholds.legend(plan.FirstWait()) {
		gap := class(i) > classWait && class(i) < classFailed
		used := class(i) == classWait || gap && plan.Measures(metrics.ITL)
		d.Classes = append(d.Classes, pageClass{Name: name, Colour: colours[i], Used: used})
	}
	earliest := slices.MinFunc(g.rows, func(a, b row) int { return cmp.Compare(a.start, b.start) }).start
	d.Rows.Failures = map[int]string{}
	for i := range g.rows {
		r := &g.rows[i]
		at := r.start.Microseconds() - earliest.Microseconds()
		d.Rows.Index = append(d.Rows.Index, r.index)
		d.Rows.Start = append(d.Rows.Start, at)
		d.Rows.Finish = append(d.Rows.Finish, r.finish.Microseconds()-earliest.Microseconds())
		d.Rows.Input = append(d.Rows.Input, r.inputTokens)
		d.Rows.Output = append(d.Rows.Output, r.outputTokens)
		d.Rows.TPOT = append(d.Rows.TPOT, r.tpot.Microseconds())
		d.Rows.TokenITL = append(d.Rows.TokenITL, r.tokenITL.Microseconds())
		d.Rows.Count = append(d.Rows.Count, r.count)
		d.Rows.IDs, d.Rows.Models = append(d.Rows.IDs, r.id), append(d.Rows.Models, r.model)
		if r.failure != "" {
			d.Rows.Failures[i] = r.failure
		}
		for s := range segments(r.segments) {
			d.Classes[s.class].Used = true
			at += s.micros
		}
		d.End = max(d.End, at)
	}
	if !slices.ContainsFunc(d.Rows.IDs, named) {
		d.Rows.IDs = nil
	}
	if !slices.ContainsFunc(d.Rows.Models, named) {
		d.Rows.Models = nil
	}
	d.Marks = marks(events, earliest.Microseconds(), d.End)
	return d
}

func named(s string) bool { return s != "" }

// marks are the annotated events up to the end; those before the earliest start are at 0.
func marks(events []metrics.LogEntry, earliest, end int64) (all []pageMark) {
	for i := range events {
		e := &events[i]
		if at := max(0, e.At.Microseconds()-earliest); e.Mark != "" && at <= end {
			all = append(all, pageMark{at, e.Mark})
		}
	}
	slices.SortStableFunc(all, func(a, b pageMark) int { return cmp.Compare(a.At, b.At) })
	return all
}

// about identifies the run.
func about(plan *metrics.Plan) [][2]string {
	started := ""
	if !plan.Started.IsZero() {
		started = plan.Started.Format(time.RFC3339)
	}
	lines := [][2]string{
		{"Model", plan.ModelID}, {"Server", plan.Address()}, {"Backend", plan.Backend}, {"Data set", plan.Dataset},
		{"Load", plan.Load},
		{"Label", plan.Label}, {"Started", started},
	}
	return slices.DeleteFunc(lines, func(line [2]string) bool { return line[1] == "" })
}

// safeJSON encodes data so that no text in it can end its HTML element: <, >, &, U+2028 and U+2029 are escaped, and
// invalid UTF-8 becomes U+FFFD, as encoding/json does.
func safeJSON(data any) ([]byte, error) { return json.Marshal(data) }

// htmlPage is a self-contained page around a chart of the embedded library.
type htmlPage struct {
	title, style, script string
	// body is what stands above the chart; data is JSON by safeJSON, which the script reads.
	body string
	data []byte
}

// write writes the page; more, if it is not nil, writes further blocks of data. The content security policy allows only
// the two scripts of the page, by their hashes, and no requests.
func (p htmlPage) write(w io.Writer, more func(*bufio.Writer)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for _, part := range []string{
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data: blob:; ",
		"style-src 'unsafe-inline'; script-src ", scriptHash(echarts()), " ", scriptHash(p.script), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>", p.title, "</title>\n",
		"<style>\n", pageStyle, p.style, "</style>\n</head>\n<body>\n", p.body,
		"<noscript><p>Enable JavaScript to see the chart; the script is part of this file.</p></noscript>\n",
		"<div id=\"chart\"></div>\n<div id=\"hover\" hidden></div>\n",
		"<script type=\"application/json\" id=\"data\">", string(p.data), "</script>\n",
	} {
		out.WriteString(part) // the writer keeps its error for Flush
	}
	if more != nil {
		more(out)
	}
	for _, part := range []string{"<script>", echarts(), "</script>\n<script>", p.script,
		"</script>\n</body>\n</html>\n"} {
		out.WriteString(part)
	}
	return out.Flush()
}

// writeTimeline writes the page of the timeline.
func writeTimeline(w io.Writer, g *gantt, plan *metrics.Plan, events []metrics.LogEntry) error {
	data, err := safeJSON(newPageData(g, plan, events))
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return htmlPage{
		title: "Request timeline", script: pageScript, data: data,
		body: "<h1>Request timeline</h1>\n<dl id=\"about\"></dl>\n<p id=\"notes\"></p>\n",
	}.write(w, func(out *bufio.Writer) {
		out.WriteString("<script type=\"text/plain\" id=\"segments\">")
		encoder := base64.NewEncoder(base64.StdEncoding, out)
		for i := range g.rows {
			encoder.Write(g.rows[i].segments)
		}
		encoder.Close()
		out.WriteString("</script>\n")
	})
}

func scriptHash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
