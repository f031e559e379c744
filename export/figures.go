package export

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Formats are those of [Write].
var Formats = []string{"csv", "md", "junit"}

// Ending is that of a file in one of the Formats.
func Ending(format string) string {
	if format == "junit" {
		return ".junit.xml"
	}
	return "." + format
}

// Write writes the figures of a report in one of the Formats, and for JUnit its gates.
func Write(w io.Writer, r metrics.Report, format string) (err error) {
	var page string
	switch format {
	case "csv":
		page, err = figuresCSV(&r)
	case "junit":
		page, err = gatesJUnit(&r)
	default:
		page = figuresMarkdown(&r)
	}
	_, problem := io.WriteString(w, page)
	return errors.Join(err, problem)
}

// TestSuite is a report in the form of JUnit, which programs of CI show: a test case for each condition.
type TestSuite struct {
	XMLName   xml.Name   `xml:"testsuite"`
	Name      string     `xml:"name,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Skipped   int        `xml:"skipped,attr,omitempty"`
	Time      float64    `xml:"time,attr"` // seconds
	Timestamp string     `xml:"timestamp,attr,omitempty"`
	Cases     []testCase `xml:"testcase"`
	Out       string     `xml:"system-out"`
}

type testCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Time    float64      `xml:"time,attr"`
	Failure *testMessage `xml:"failure"`
	Skipped *testMessage `xml:"skipped"`
}

type testMessage struct {
	Message string `xml:"message,attr"`
}

// Add adds a test case of a class: what failed, or why it was not tested, both "" where it passed.
func (s *TestSuite) Add(class, name, failure, untested string) {
	c := testCase{Name: text.Clean(name), Class: "benchtop." + text.Clean(class), Time: s.Time}
	switch {
	case failure != "":
		c.Failure = &testMessage{text.Clean(failure)}
		s.Failures++
	case untested != "":
		c.Skipped = &testMessage{text.Clean(untested)}
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
	s.Tests++
}

// XML is the suite as JUnit's XML.
func (s *TestSuite) XML() (string, error) {
	out, err := xml.MarshalIndent(s, "", "  ")
	return xml.Header + string(out) + "\n", err
}

// gatesJUnit is the run with a test case for itself, and one for each condition under which it fails.
func gatesJUnit(r *metrics.Report) (string, error) {
	s := TestSuite{Name: "benchtop", Time: r.Duration, Timestamp: r.Plan.Started.UTC().Format("2006-01-02T15:04:05"),
		Out: Answer(*r)}
	s.Add(r.Plan.ModelID, "run", r.Trouble, "")
	for i := range r.Gates {
		g, failure := &r.Gates[i], ""
		if g.Missed {
			failure = "it is " + gateValue(g)
		}
		s.Add(r.Plan.ModelID, "not "+g.Gate.String(), failure, "")
	}
	return s.XML()
}

// figuresCSV is a line for each key of the result that has a single value, as KEY,VALUE; an empty value is none. The
// counts of the object benchtop that not all runs have are among them.
func figuresCSV(r *metrics.Report) (string, error) {
	t := table.List("", "figure", "value")
	for _, f := range slices.Concat(vllmResult(r), rustKeys(r), counts(r)) {
		switch v := f.Value.(type) {
		case nil:
			t.Add(f.Name, "")
		case string:
			t.Add(f.Name, v)
		case list, object:
		default:
			var b strings.Builder
			if err := writePython(&b, v); err != nil {
				return "", err
			}
			t.Add(f.Name, b.String())
		}
	}
	return t.CSV(), nil
}

// figuresMarkdown is the headline, with the figures of the run and its latencies in tables.
func figuresMarkdown(r *metrics.Report) string {
	latencies := table.New("", "ms", "mean", "p50")
	for _, p := range r.Plan.Percentiles {
		latencies.Columns = append(latencies.Columns, table.Column{Name: "p" + pythonNumber(p)})
	}
	for _, l := range selected(r) {
		s := &r.Statistics[l]
		latencies.Add(l.Naming().Label, known(*s), percentileOf(s, 50), percentilesOf(s, r.Plan.Percentiles...))
	}
	return fmt.Sprintf("**%s**\n\n%s\n%s", table.Escape.Replace(Answer(*r)), totalTable(r).Markdown(table.Escape),
		latencies.Markdown(table.Escape))
}

// totalTable has the figures of the whole run.
func totalTable(r *metrics.Report) *table.Table {
	t := twoColumns("")
	for _, f := range totals(r) {
		t.Add(strings.TrimSuffix(f.label, ":"), f)
	}
	return t
}

// twoColumns is a table of names with a figure each.
func twoColumns(title string) *table.Table {
	t := table.List(title, "", "")
	t.Columns[1].Align = table.Right
	return t
}
