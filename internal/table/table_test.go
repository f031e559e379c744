package table

import (
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func sample() *Table {
	t := New("Foreign\x1b[31m title", "name", "n").Optional("s", "share", "ratio")
	t.Add("日本", 12, math.NaN(), 0.5, Cell{"1.00", Ratio})
	t.Add("  <b>|x", 7, math.NaN(), math.NaN(), Cell{"2.00", Good})
	return t
}

func TestTable(t *testing.T) {
	two := Table{Columns: make([]Column, 2), Rows: [][]Cell{{{Text: "a"}, {Text: "b"}}}, Gap: 1, Indent: 3}
	keys := List("", "a", "b")
	keys.Keys = 2
	keys.Add("x", "yy")
	early := New("", "a", "b", "c", "d")
	early.Add("x", "reaches over")
	early.Add("y", 1, 2, 3)
	lists := New("", "a", "b", "c", "d")
	lists.Add("x", []any{0.5, []any{nil}}, 1)
	for name, c := range map[string]struct{ got, want string }{
		"text": {sample().String(), `
Foreign title
name      n  share  ratio
日本     12   0.50   1.00
  <b>|x   7      -   2.00
`},
		"parted": {sample().Text(19, false), `
Foreign title
name      n  share
日本     12   0.50
  <b>|x   7      -

name     ratio
日本      1.00
  <b>|x   2.00
`},
		"coloured": {(&Table{Columns: make([]Column, 2), Rows: [][]Cell{{{"1", Ratio}, {"2", Good}}}}).Text(80, true),
			"\n\x1b[36m1\x1b[0m  \x1b[32m2\x1b[0m\n"},
		"Markdown": {sample().Markdown(strings.NewReplacer("|", `\|`, "<", "&lt;")), `| name | n | share | ratio |
| :-- | --: | --: | --: |
| 日本 | 12 | 0.50 | 1.00 |
| &lt;b>\|x | 7 | - | 2.00 |
`},
		"HTML": {sample().HTML(), `<table><tr><th class="k">name</th><th>n</th><th>share</th><th>ratio</th></tr>
<tr><td class="k">日本</td><td>12</td><td>0.50</td><td class="ratio">1.00</td></tr>
<tr><td class="k">&lt;b&gt;|x</td><td>7</td><td>-</td><td class="good">2.00</td></tr>
</table>`},
		"CSV": {sample().CSV([2]string{"of", "=x"}),
			"of,name,n,share,ratio\n'=x,日本,12,0.50,1.00\n'=x,\"  <b>|x\",7,-,2.00\n"},
		"no head":             {two.String(), "\n   a b\n"},
		"no head in HTML":     {two.HTML(), "<table><tr><td>a</td><td>b</td></tr>\n</table>"},
		"no head in CSV":      {two.CSV([2]string{"of", "x"}), "x,a,b\n"},
		"no head in Markdown": {two.Markdown(strings.NewReplacer()), "|  |  |\n| --: | --: |\n| a | b |\n"},
		"early":               {early.String(), "\na  b  c  d\nx  reaches over\ny  1  2  3\n"},
		"no rows":             {New("title", "a").String(), ""},
		"lists":               {lists.String(), "\na     b  c  d\nx  0.50  -  1\n"},
		"all keys":            {keys.String(), "\na  b\nx  yy\n"},
	} {
		assert.Equal(t, c.got, c.want, "%s", name)
	}
}

// No cell of CSV is a formula; numbers stay numbers.
func TestInert(t *testing.T) {
	assert.Equal(t, inert("a\x1b[31mb\u009b2J"), "a[31mb2J", "commands a terminal")
	for _, s := range []string{"", "a", "-", "-1.5", "+2e3", "-inf", "a=1", "'=1", "1-2"} {
		assert.Equal(t, inert(s), s, "inert")
	}
	for _, s := range []string{"=1+2", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1"} {
		assert.Equal(t, inert(s), "'"+s, "inert(%q)", s)
	}
}
