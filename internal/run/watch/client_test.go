package watch

import "testing"

// A verdict that goes to and fro is told when it turns bad, and when it has been fine for a while.
func TestVerdictInTheLog(t *testing.T) {
	for _, c := range []struct{ seconds, told string }{
		{"..........", ""},
		{"..#.", "#"},
		{"#.#.#.#.", "#"},
		{"#..........", "#."},
		{"#.........#.........", "#"},
		{"#..........#", "#.#"},
	} {
		var v hysteresis
		told := ""
		for _, second := range c.seconds {
			if v.turns(second == '#') {
				told += map[bool]string{true: "#", false: "."}[v.on]
			}
		}
		if told != c.told {
			t.Errorf("%s: told %q, want %q", c.seconds, told, c.told)
		}
	}
}
