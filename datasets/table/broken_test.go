package table

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestParquetRefused(t *testing.T) {
	hub := read(t, "testdata/hub_zstd_index.parquet")
	changed := func(at int, b ...byte) string {
		text := []byte(hub)
		if at < 0 {
			at += len(text)
		}
		copy(text[at:], b)
		return string(text)
	}
	page := strings.Index(hub, "\x28\xb5\x2f\xfd") // the first packed bytes
	footer := len(hub) - 8 - int(binary.LittleEndian.Uint32([]byte(hub[len(hub)-8:])))
	tests := []struct{ name, text, want string }{
		{"nothing", "", `the file is not Parquet: it begins with ""`},
		{"other text", "hello, world", `the file is not Parquet: it begins with "hell"`},
		{"the beginning", "PAR1", "the file breaks off: a Parquet file ends with a footer; is the download complete?"},
		{"half a download", hub[:len(hub)/2],
			"the file breaks off: a Parquet file ends with a footer; is the download complete?"},
		{"without its middle", hub[:100] + hub[len(hub)-100:], "the footer claims"},
		{"an encrypted footer", "PARE" + hub[4:], "the file is not Parquet: it begins with \"PARE\""},
		{"a footer of no length", changed(-8, 0, 0, 0, 0), "the footer is broken: it ends too early"},
		{"a footer of a large length", changed(-8, 0xff, 0xff, 0xff, 0xff), "the footer claims 4294967295 bytes"},
		{"a footer of zeros", changed(footer, make([]byte, 40)...), "the footer is broken"},
		{"a damaged page", changed(page+20, 0xff, 0xff),
			`row 0: column "image", row group 0: the page at byte 882: its dictionary: its checksum is wrong: the ` +
				`file is damaged`},
		{"a damaged head", changed(4, 0xff, 0xff),
			`row 0: column "image", row group 0: the page at byte 4: its head is broken`},
		{"an empty head", changed(4, 0, 0),
			`row 0: column "image", row group 0: the page at byte 4: its head is empty`},
		{"a codec", read(t, "testdata/codec.parquet"), `row 0: column "a", row group 0: it is packed with codec ` +
			`LZ4_RAW, which is not known here; write the file again with snappy or zstd`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := all(written(t, "a.parquet", test.text), nil, nil)
			assert.Complains(t, err, test.want)
		})
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b := assert.Must(os.ReadFile(path))(t)
	return string(b)
}
