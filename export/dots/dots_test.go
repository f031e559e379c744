package dots

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func picture(g *Grid) string {
	var rows []string
	for i := range g.Rows {
		rows = append(rows, strings.TrimRight(g.Row(i), " "))
	}
	return strings.Join(rows, "/")
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name  string
		ascii bool
		draw  func(*Grid)
		want  string
	}{
		{"empty", false, func(*Grid) {}, "/"},
		{"dot", false, func(g *Grid) { g.Dot(0, 0, 0); g.Dot(3, 7, 0) }, " ⠈/⡀"},
		{"line", false, func(g *Grid) { g.Line(0, 0, 7, 7) }, "  ⡠⠊/⡠⠊"},
		{"line in ASCII", true, func(g *Grid) { g.Line(0, 0, 3, 1) }, "  ../.."},
		{"step", true, func(g *Grid) { g.Step(1, 0, 1) }, " */ |"},
		{"a letter stays", false, func(g *Grid) { g.Put(2, 5, 'a'); g.Line(0, 4, 7, 4) }, "⣀a⣀⣀/"},
		{"outside", false, func(g *Grid) { g.Dot(-1, 0, 0); g.Dot(8, 0, 0); g.Put(0, 8, 'a'); g.Line(-5, -5, -1, -1) },
			"/"},
	} {
		g := New(4, 2, c.ascii)
		c.draw(g)
		assert.Equal(t, picture(g), c.want, "%s", c.name)
	}
}
