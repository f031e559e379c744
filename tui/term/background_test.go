package term

import (
	"bytes"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestLightBackground(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "15;0": false, "0;15": true, "0;default;15": true, "7;8": false, "0;7": true, "15;default": false,
		"0;16": false, ";": false, "x": false,
	} {
		assert.Equal(t, LightBackground(func(string) string { return value }), want, "%q", value)
	}
}

func TestIsLight(t *testing.T) {
	for colour, want := range map[string]bool{
		"rgb:ffff/ffff/ffff": true, "rgb:0000/0000/0000": false, "rgb:fd/f6/e3": true, "rgb:1e1e/1e1e/1e1e": false,
		"rgba:ffff/ffff/ffff/ffff": true,
		"rgb:f/f/f":                true, "rgb:0000/0000/ffff": false, "": false, "rgb:": false, "rgb:x/y/z": false,
		"#ffffff":       false,
		"rgb:12345/0/0": false,
	} {
		assert.Equal(t, isLight(colour), want, "%q", colour)
	}
}

// Keys before, behind and between the pieces of an answer arrive, and nothing of the answer does.
func TestAnswerIsNoText(t *testing.T) {
	for _, end := range []string{"\a", "\x1b\\"} {
		all := "q\x1b[A" + "\x1b]11;rgb:ffff/fefe/0000" + end + "]1\x1b"
		for cut := range len(all) {
			for cut2 := cut; cut2 < len(all); cut2++ {
				var f answerFilter
				var keys, colour string
				for _, piece := range []string{all[:cut], all[cut:cut2], all[cut2:]} {
					k, c := f.take([]byte(piece))
					keys, colour = keys+string(k), colour+c
				}
				want := "q\x1b[A]1\x1b"
				if colour != "rgb:ffff/fefe/0000" {
					if cut2-cut > 0 && cut2-cut < 5 && cut == 5 {
						continue // ESC in a piece and less than the start in the next: no terminal does it
					}
					t.Fatalf("%q, %q, %q: colour %q", all[:cut], all[cut:cut2], all[cut2:], colour)
				}
				if keys != want && keys != "q\x1b[A\x1b]1\x1b" {
					t.Fatalf("%q, %q, %q: keys %q", all[:cut], all[cut:cut2], all[cut2:], keys)
				}
			}
		}
	}
}

// Keys that look like the beginning of an answer are not lost, and none waits but those.
func TestKeysBesideTheAnswer(t *testing.T) {
	for _, c := range []struct{ first, want, second, then string }{
		{"\x1b", "\x1b", "]", "]"}, // Esc is seen at once, and so are the keys behind it
		{"\x1b]", "", "x", "\x1b]x"},
		{"\x1b]12;x\a", "\x1b]12;x\a", "", ""},
		{"a\x1b]11;", "a", strings.Repeat("x", 70), "\x1b]11;" + strings.Repeat("x", 70)},
		{"\x1b[1;5A", "\x1b[1;5A", "漢", "漢"},
	} {
		var f answerFilter
		if got, _ := f.take([]byte(c.first)); string(got) != c.want {
			t.Errorf("%q: %q, want %q", c.first, got, c.want)
		}
		if got, _ := f.take([]byte(c.second)); string(got) != c.then {
			t.Errorf("%q, %q: %q, want %q", c.first, c.second, got, c.then)
		}
	}
}

// FuzzAnswerFilter: whatever a terminal sends, what goes on is no more than that, and what is held back is short.
func FuzzAnswerFilter(f *testing.F) {
	f.Add([]byte("q\x1b]11;rgb:ffff/ffff/ffff\x1b\\x"), uint8(3))
	f.Add([]byte("\x1b\x1b]\x1b]11;\x1b]11;\a\a"), uint8(1))
	f.Fuzz(func(t *testing.T, sent []byte, step uint8) {
		var filter answerFilter
		var keys []byte
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), max(1, int(step)))
			k, _ := filter.take(bytes.Clone(rest[:n]))
			keys, rest = append(keys, k...), rest[n:]
			if len(filter.held) > answerMost {
				t.Fatalf("%d bytes are held back", len(filter.held))
			}
		}
		if !filter.found && string(keys)+string(filter.held) != string(sent) &&
			!bytes.Contains(sent, []byte(answerStart)) {
			t.Fatalf("%q became %q and %q", sent, keys, filter.held)
		}
	})
}
