package text

import (
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestWordsAndNumbers(t *testing.T) {
	many := strings.Split("abcdefghijklmnopqrstuvwxy", "")
	for _, c := range []struct{ got, want string }{
		{Count(0, "row"), "0 rows"}, {Count(1, "row"), "1 row"}, {Count(2, "row"), "2 rows"},
		{Join(nil, " and "), ""}, {Join(many[:1], " and "), "a"}, {Join(many[:2], " and "), "a and b"},
		{Join(many[:3], " or "), "a, b or c"},
		{List(many[:20], 20), strings.Join(many[:20], ", ")},
		{List(many, 20), strings.Join(many[:20], ", ") + " and 5 more"},
		{Cut("äöü", 3), "äöü"}, {Cut("äöüß", 3), "äö…"}, {Cut("ab", 0), "…"},
		{Clip("äöü", 6), "äöü"}, {Clip("äöü", 5), "äö…"},
		{Grouped(0), "0"}, {Grouped(999), "999"}, {Grouped(1000), "1,000"}, {Grouped(1234567), "1,234,567"},
		{Grouped(-1234), "-1,234"}, {Grouped(-123), "-123"}, {Grouped(99.6), "100"},
		{Short(2.5), "2.5"}, {Short(980), "980"}, {Short(2200), "2.2k"}, {Short(999_999), "1M"}, {Short(9e15), "9P"},
		{Digits(0, 3), "0"}, {Digits(1.2345, 3), "1.23"}, {Digits(999.6, 3), "1000"}, {Digits(123456.7, 4), "123457"},
		{Digits(-999999999, 3), "-999999999"}, {Digits(1e9, 3), "1e+09"}, {Digits(-1e308, 4), "-1e+308"},
		{Change(0), "0%"}, {Change(0.0123), "+1.2%"}, {Change(-0.25), "-25%"},
	} {
		assert.Equal(t, c.got, c.want, "text")
	}
	for v, want := range map[float64]bool{0: true, math.MaxFloat64: true, math.Inf(1): false, math.Inf(-1): false,
		math.NaN(): false} {
		assert.Equal(t, Finite(v), want, "%v is finite: %v", v, !want)
	}
}
