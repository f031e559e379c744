package compare

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/dashboard"
	"benchtop/internal/table"
	"benchtop/metrics"
)

func defaults() Options {
	return Options{X: Concurrency, TTFTMax: 3000, TPOTMax: 100, TTFTSlack: 5, TPOTSlack: 5}
}

func named(label string, rows []dashboard.Row) Configuration {
	return Configuration{Label: label, Rows: rows}
}

func configurations(t *testing.T, names ...string) (all []Configuration) {
	t.Helper()
	for _, name := range names {
		rows, _, err := dashboard.Read("testdata/" + name)
		assert.Fine(t, err)
		all = append(all, named(name, rows))
	}
	return all
}

// cells reads what vLLM's script wrote of the rows in testdata.
func cells(t *testing.T, name string) [][]string {
	t.Helper()
	f := assert.Must(os.Open("testdata/" + name))(t)
	defer f.Close()
	rows := assert.Must(csv.NewReader(f).ReadAll())(t)
	return rows[1:]
}

// same reports whether a figure is that of a cell, which is empty for none.
func same(got float64, cell string) bool {
	if cell == "" {
		return math.IsNaN(got)
	}
	want, err := strconv.ParseFloat(cell, 64)
	return err == nil && (got == want || math.Abs(got-want) <= 1e-12*math.Abs(want))
}

// The comparison of three configurations, with gaps and a measurement made twice, has the numbers of vLLM's script.
// That does not look at parallel sizes, so the last one is without them.
func TestLikeVLLM(t *testing.T) {
	all := configurations(t, "a", "b", "c")
	for _, row := range all[2].Rows {
		delete(row, "TP Size")
	}
	c := assert.Must(Of(all, defaults()))(t)
	assert.Need(t, len(c.Groups), 2, "groups")
	for i, name := range []string{"one_128x64", "one_1024x128"} {
		g := c.Groups[i]
		for k, metric := range []string{"Output_Tput__tok_s_", "P99_TTFT__ms_", "P99"} {
			want := cells(t, name+"__"+metric+".csv")
			if len(want) != len(g.Metrics[k].Lines) {
				t.Fatalf("%s %s: %d loads, want %d", name, metric, len(g.Metrics[k].Lines), len(want))
			}
			for r, line := range g.Metrics[k].Lines {
				v := line.Values
				got := []float64{line.X, math.Inf(1), v[0].Mean, v[1].Mean, line.Ratios[0], v[2].Mean, line.Ratios[1]}
				for x, v := range got {
					if !same(v, want[r][4+x]) {
						t.Errorf("%s %s, load %v, column %d: %v, want %s", name, metric, line.X, x, v, want[r][4+x])
					}
				}
			}
		}
		for r, want := range cells(t, name+"__Valid_Max_Concurrency_Summary.csv") {
			h := g.Highest[r]
			for x, v := range []float64{h.TTFT, h.TPOT, h.Both, h.Output.Mean, h.AtTTFT, h.AtTPOT} {
				if !same(v, want[1+x]) {
					t.Errorf("%s, %s, column %d: %v, want %s", name, h.Label, x, v, want[1+x])
				}
			}
		}
	}
	if len(c.Offline) != 2 || math.Abs(c.Offline[0].Lines[0].Ratios[0]-1/1.2) > 1e-12 {
		t.Errorf("throughput: %+v", c.Offline)
	}
}

// The rows of one file are parted by parallel sizes.
func TestSplit(t *testing.T) {
	parts := Split(configurations(t, "c")[0].Rows)
	labels := metrics.Each(parts, func(p Configuration) string { return fmt.Sprintf("%s %d", p.Label, len(p.Rows)) })
	assert.Equal(t, strings.Join(labels, ", "), "tp1_pp1 7, tp2_pp1 6", "parts")
}

// Rows of servers with other settings make groups of their own, where one configuration has several; their mean would
// be that of no server.
func TestSettings(t *testing.T) {
	row := func(tp any, dtype string, output float64) dashboard.Row {
		r := dashboard.Row{Concurrency: 8.0, "Model": "m", "dtype": dtype, "Output Tput (tok/s)": output,
			"P99 TTFT (ms)": 1.0, "P99": 1.0}
		if tp != nil {
			r["TP Size"] = tp
		}
		return r
	}
	for _, c := range []struct {
		name string
		a, b []dashboard.Row
		want string
	}{
		{"two sizes in both", []dashboard.Row{row(1.0, "", 100), row("2", "", 200)},
			[]dashboard.Row{row(2.0, "", 250), row(1.0, "", 120)}, "TP Size 1: 100 120; TP Size 2: 200 250"},
		{"none is 1", []dashboard.Row{row(nil, "", 100), row(2.0, "", 200)}, []dashboard.Row{row(1.0, "", 120)},
			"TP Size 1: 100 120; TP Size 2: 200 NaN"},
		{"one size each", []dashboard.Row{row(1.0, "", 100)}, []dashboard.Row{row(2.0, "", 250), row(2.0, "", 350)},
			"100 300"},
		{"types", []dashboard.Row{row(1.0, "fp8", 100), row(1.0, "half", 50)}, []dashboard.Row{row(1.0, "half", 60)},
			"dtype fp8: 100 NaN; dtype half: 50 60"},
	} {
		got := assert.Must(Of([]Configuration{named("a", c.a), named("b", c.b)}, defaults()))(t)
		var groups []string
		for _, g := range got.Groups {
			text := ""
			for _, k := range g.Keys[1:] { // the first is the model
				text += k.Title + " " + k.Value + ": "
			}
			assert.Equal(t, len(g.Metrics[0].Lines), 1, "%s: loads", c.name)
			means := metrics.Each(g.Metrics[0].Lines[0].Values, func(v Value) float64 { return v.Mean })
			groups = append(groups, text+strings.Trim(fmt.Sprint(means), "[]"))
		}
		assert.Equal(t, strings.Join(groups, "; "), c.want, "%s", c.name)
	}
}

// A load below the highest one that misses a limit is named.
func TestMissedBelow(t *testing.T) {
	row := func(x, ttft float64) dashboard.Row {
		return dashboard.Row{Concurrency: x, "P99 TTFT (ms)": ttft, "P99": 10.0, "Output Tput (tok/s)": x}
	}
	c, err := Of([]Configuration{named("a", []dashboard.Row{row(1, 10), row(2, 9000), row(4, 20), row(8, 8000)})},
		defaults())
	assert.Fine(t, err)
	if h := c.Groups[0].Highest[0]; h.Both != 4 || h.Broken != 2 || h.Output.Mean != 4 {
		t.Errorf("highest %v with %v tok/s, missed at %v; want 4, 4, 2", h.Both, h.Output.Mean, h.Broken)
	}
}

// The output at the highest load says of how many runs it is.
func TestOutputRuns(t *testing.T) {
	row := func(x, output float64) dashboard.Row {
		return dashboard.Row{Concurrency: x, "P99 TTFT (ms)": 10.0, "P99": 10.0, "Output Tput (tok/s)": output}
	}
	c := assert.Must(Of([]Configuration{named("a", []dashboard.Row{row(1, 5), row(2, 30), row(2, 10), row(2, 20)}),
		named("b", []dashboard.Row{row(2, 7)}), named("c", []dashboard.Row{row(8, 7)})}, defaults()))(t)
	want := []string{"10.00 to 30.00 in 3 runs", "single run", "single run"}
	for i, h := range c.Groups[0].Highest {
		assert.Equal(t, h.Output.runs(), want[i], "%s", h.Label)
	}
}

// Single runs prove no difference: the comparison says so where both sides of a ratio have one.
func TestCaution(t *testing.T) {
	runs := func(loads ...float64) []dashboard.Row {
		return metrics.Each(loads, func(x float64) dashboard.Row {
			return dashboard.Row{Concurrency: x, "P99 TTFT (ms)": 10.0, "P99": 10.0, "Output Tput (tok/s)": x}
		})
	}
	const single = "ne run each: two single runs do not prove a difference."
	for name, c := range map[string]struct {
		all  [][]dashboard.Row
		want string
	}{
		"one run each":    {[][]dashboard.Row{runs(1, 2), runs(1, 2)}, "O" + single},
		"other loads":     {[][]dashboard.Row{runs(1), runs(2)}, ""},
		"two runs each":   {[][]dashboard.Row{runs(1, 1), runs(1, 1)}, ""},
		"two runs of one": {[][]dashboard.Row{runs(1, 1), runs(1)}, ""},
		"two runs of one load": {[][]dashboard.Row{runs(1, 2, 2), runs(1, 2, 2)},
			"Where each side has one run: two single runs do not prove a difference."},
		"a third with two": {[][]dashboard.Row{runs(1), runs(1), runs(1, 1)},
			"Where each side has one run: two single runs do not prove a difference."},
		"a single configuration": {[][]dashboard.Row{runs(1, 2)}, ""},
	} {
		var all []Configuration
		for i, rows := range c.all {
			all = append(all, named(fmt.Sprint(i), rows))
		}
		got := assert.Must(Of(all, defaults()))(t)
		assert.Equal(t, got.Caution(), c.want, "%s", name)
		tables := got.Tables()
		text, md, page := Terminal(tables, c.want, 80, false), Markdown(tables, c.want), HTML(tables, c.want)
		for _, s := range []string{text, md, page} {
			assert.Equal(t, strings.Contains(s, "do not prove"), c.want != "", "%s: %s", name, s)
		}
	}
}

// Foreign text is data in every format.
func TestForeignText(t *testing.T) {
	evil := "=1+1<script>|\x1b[31m"
	rows := []dashboard.Row{{"Model": evil, Concurrency: 1.0, "P99 TTFT (ms)": "many", "P99": math.Inf(1),
		"Output Tput (tok/s)": "inf"}}
	c := assert.Must(Of([]Configuration{named(evil, rows), named("b", nil)}, defaults()))(t)
	tables := c.Tables()
	text, md := Terminal(tables, c.Caution(), 40, true), Markdown(tables, c.Caution())
	sheet, page := CSV(tables, ""), HTML(tables, c.Caution())
	if strings.Contains(text, "\x1b[31m") || strings.Contains(page, "1<script>") ||
		strings.Contains(md, "<script>") ||
		strings.Contains(md, " =1+1<") || strings.Contains(sheet, ",=1") {
		t.Errorf("text of rows is a command:\n%s\n%s\n%s", text, md, sheet)
	}
	if !strings.HasPrefix(sheet, "Group,Table,") {
		t.Errorf("CSV without its head:\n%s", sheet)
	}
	if _, err := Of([]Configuration{named("a", nil)}, defaults()); err == nil {
		t.Error("nothing is compared without an error")
	}
}

// A configuration with the name of another column hides nothing in JSON.
func TestNamesInJSON(t *testing.T) {
	c := table.New("t", "qps", "qps")
	c.Add(4, 128)
	got := JSON([]Table{{Table: *c}}, "")
	if !strings.Contains(got, `"qps": 4`) || !strings.Contains(got, `"qps (2)": 128`) {
		t.Error(got)
	}
}

// A value above the limit but within the slack has a mark of its own; the table of the highest loads is named by the
// axis.
func TestMarks(t *testing.T) {
	row := func(rate, ttft float64) dashboard.Row {
		return dashboard.Row{"qps": rate, Concurrency: 1.0, "P99 TTFT (ms)": ttft, "P99": 10.0,
			"Output Tput (tok/s)": rate}
	}
	o := defaults()
	o.X = "qps"
	c, err := Of([]Configuration{named("a", []dashboard.Row{row(1, 3200), row(2, 2900), row(3, 3100)})}, o)
	assert.Fine(t, err)
	tables := c.Tables()
	marks := metrics.Each(tables[1].Rows, func(r []table.Cell) table.Mark { return r[2].Mark })
	assert.EqualAll(t, marks, []table.Mark{"", table.Good, table.Slack}, "marks")
	if last := tables[len(tables)-1]; last.Title != "Highest qps within the limits" {
		t.Errorf("title %q", last.Title)
	}
	o.X, o.Median = Concurrency, true // a title that other tables have
	other := dashboard.Row{"Max Concurrency": "8", "Median TTFT (ms)": 1.0, "Median": 1.0, "Output Tput (tok/s)": 5.0}
	c, err = Of([]Configuration{named("a", []dashboard.Row{other})}, o)
	if err != nil || c.Groups[0].Highest[0].Both != 8 {
		t.Errorf("highest %+v, %v", c, err)
	}
	o.X = "no column"
	if _, err := Of([]Configuration{named("a", []dashboard.Row{row(1, 1)})}, o); err == nil {
		t.Error("an axis that no row has is taken")
	}
}
