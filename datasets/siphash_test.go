package datasets

import (
	"strconv"
	"testing"
)

// The vectors are those of the authors: the key is 00 01 … 0f, the data 00 01 … without end.
func TestSipHash(t *testing.T) {
	data := make([]byte, 15)
	for i := range data {
		data[i] = byte(i)
	}
	for _, c := range []struct {
		rounds, finalRounds, length int
		want                        uint64
	}{
		{2, 4, 0, 0x726fdb47dd0e0e31},
		{2, 4, 15, 0xa129ca6149be45e5},
		{1, 3, 0, 0xabac0158050fc4dc},
	} {
		if got := sipHash(0x0706050403020100, 0x0f0e0d0c0b0a0908, c.rounds, c.finalRounds, data[:c.length]); got !=
			c.want {
			t.Errorf("%+v: got %x", c, got)
		}
	}
}

// The hashes are those of CPython 3.11 under PYTHONHASHSEED=0.
func TestPythonHash(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", 0},
		{"mtahovcjqxelszgnubipwdkryfmtahovcjqxelszgnubipwdkryfmtahovcjqxel", -2883195869247071785},
		{"-1:16", 1934718867862367089},
		{"123456789012345678901234567890:512", -3232616891069390902},
		{"ÿ", 3476900567878811119},
		{"日本語:8", -3044779317215287042},
		{"😀:8", 8133672002044312428},
		{"a😀é", -8497194953991201300},
	} {
		same(t, "hash of "+c.text, pythonHash(c.text), c.want)
	}
}

func TestPythonHashGolden(t *testing.T) {
	var file struct {
		Hashes []struct {
			Key  string `json:"key"`
			Hash string `json:"hash_int64"`
			Seed uint32 `json:"seed_low32"`
		} `json:"hashes"`
	}
	golden(t, "timed_trace.json", &file)
	if len(file.Hashes) == 0 {
		t.Fatal("the golden file is empty")
	}
	for _, c := range file.Hashes {
		got := pythonHash(c.Key)
		same(t, "hash of "+c.Key, strconv.FormatInt(got, 10), c.Hash)
		same(t, "seed from "+c.Key, uint32(got), c.Seed)
	}
}
