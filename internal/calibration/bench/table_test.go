package main

import (
	"context"
	"errors"
	"testing"

	"benchtop/internal/assert"
)

// scripted is a row with a given figure for each round.
func scripted(name, key string, values ...float64) row {
	return row{name, func(_ context.Context, _ *harness, round int) (sample, error) {
		s := sample{Figures: map[string]float64{key: values[round]}}
		if values[round] > 100 {
			s.Remarks = append(s.Remarks, remark{"it was slow", describe(values[round:round+1], 0)})
		}
		return s, nil
	}}
}

func TestTable(t *testing.T) {
	tab := table{
		name: "test", rounds: 3,
		rows:    []row{scripted("yardstick", "a", 10, 20, 40), scripted("own", "a", 15, 10, 400)},
		columns: []column{{"a", "A", 1}, {"b", "B", 0}},
		limits: []limit{
			{text: "own ≤ 15", row: "own", column: "a", most: 15, unit: " µs"},
			{text: "own ≤ 1.4 × yardstick", row: "own", column: "a", over: "yardstick", most: 1.4, unit: " ×",
				decimals: 2},
			{text: "nothing", row: "own", column: "b", most: 1},
			{text: "every ≤ 20", row: everyRow, column: "a", most: 20},
			{text: "every nothing", row: everyRow, column: "b", most: 20},
		},
	}
	m := assert.Must(tab.measure(t.Context(), nil))(t)
	want := `|  | A | B |
| --- | ---: | ---: |
| yardstick | 20.0 (10.0 to 40.0) | – |
| own | 15.0 (10.0 to 400.0) | – |

| Bar | Measured |  |
| --- | ---: | --- |
| own ≤ 15 | 15 (10 to 400) µs | met |
| own ≤ 1.4 × yardstick | 1.50 (0.50 to 10.00) × | **not met** |
| nothing | – | not measured |
| every ≤ 20 | 20 (15 to 400) | met |
| every nothing | – | not measured |

own: it was slow in 1 of 3 rounds, such as: 400.

3 rounds, commit abc, 2026-01-02, 8 cores of a CPU, linux/amd64, go1, nothing pinned to cores.
`
	here := machine{System: "linux/amd64", CPU: "a CPU", Cores: 8, Go: "go1", Commit: "abc", Date: "2026-01-02"}
	assert.Equal(t, tab.markdown(m, here), want, "table")
}

func TestTableTellsWhichRowFailed(t *testing.T) {
	tab := table{rounds: 1, rows: []row{{"broken", func(context.Context, *harness, int) (sample, error) {
		return sample{}, errors.New("no")
	}}}}
	assert.Complains(t, assert.Failure(tab.measure(t.Context(), nil)), "broken: no")
}

// Every limit is about a row and a column of the table, and every table has a place on the page.
func TestTablesAreConsistent(t *testing.T) {
	for _, quick := range []bool{false, true} {
		for _, tab := range tables(quick) {
			rows, columns := map[string]bool{}, map[string]bool{}
			for _, r := range tab.rows {
				if rows[r.name] {
					t.Errorf("%s has two rows %q", tab.name, r.name)
				}
				rows[r.name] = true
			}
			for _, c := range tab.columns {
				columns[c.key] = true
			}
			for _, b := range tab.limits {
				// A system without stamps of the kernel has no such row.
				if !rows[b.row] && b.row != kernel && b.row != everyRow || !columns[b.column] ||
					b.over != "" && !rows[b.over] {
					t.Errorf("%s: the bar %q is about nothing", tab.name, b.text)
				}
			}
			if tab.rounds < 1 || quick && tab.rounds > 1 {
				t.Errorf("%s has %d rounds", tab.name, tab.rounds)
			}
		}
	}
	t.Chdir("../../..")
	for _, tab := range tables(false) {
		if _, err := withTable(tab.name, ""); err != nil {
			t.Error(err)
		}
	}
}
