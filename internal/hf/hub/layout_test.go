package hub

import (
	"benchtop/internal/assert"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenLayout is a repository, and what the datasets library finds in it.
type goldenLayout struct {
	Name, README, Default string
	Files                 []string
	Subsets               []struct {
		Name   string
		Splits []struct {
			Name  string
			Files []string
		}
	}
}

func goldenLayouts(t testing.TB) []goldenLayout {
	t.Helper()
	return assert.Golden[struct{ Cases []goldenLayout }](t, "testdata/layouts.json")[0].Cases
}

// TestLayoutsGolden compares with the datasets library, by which testdata/layouts.json was made.
func TestLayoutsGolden(t *testing.T) {
	compared := 0
	for _, c := range goldenLayouts(t) {
		var err error
		l := layout{files: slices.Sorted(slices.Values(c.Files))}
		if l.subsets, err = readCard([]byte(c.README)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, s := range c.Subsets {
			for _, part := range s.Splits {
				formats := map[string]bool{}
				for _, file := range part.Files {
					of, _ := format(file)
					formats[of] = true
				}
				if len(formats) != 1 {
					continue // the library finds them, but cannot read them
				}
				compared++
				got, err := l.find(s.Name, part.Name)
				if diff := cmp.Diff(part.Files, got); diff != "" || err != nil {
					t.Errorf("%s, subset %s, split %s: error %v\n%s", c.Name, s.Name, part.Name, err, diff)
				}
			}
		}
		if s, err := l.subset(""); c.Default != "" && (err != nil || s.name != c.Default) {
			t.Errorf("%s: got the default subset %s, error %v, want %s", c.Name, s.name, err, c.Default)
		}
	}
	if compared < 150 {
		t.Errorf("only %d splits were compared", compared)
	}
}

func TestLayoutChoices(t *testing.T) {
	const two = "---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: a.json\n  - split: " +
		"test\n    path: gone.json\n" +
		"- config_name: other\n  data_files:\n  - split: x\n    path: b.json\n  - split: y\n    path: " +
		"https://example.com/b.json\n---\n"
	tests := []struct {
		name, card    string
		files         string
		subset, split string
		want          string // files, or a part of the error behind "!"
		choice        bool
	}{
		{"subset missing", two, "a.json b.json", "", "", "!several subsets; give --hf-subset one of: main, other",
			true},
		{"unknown subset", two, "a.json b.json", "nope", "",
			`!unknown subset "nope"; use --hf-subset with one of: main, other`, true},
		{"unknown split", two, "a.json b.json", "main", "dev",
			`!unknown split "dev"; use --hf-split with one of: train, test`, true},
		{"split missing", two, "a.json b.json", "other", "", `!several splits; give --hf-split one of: x, y`, true},
		{"train where no split is given", two, "a.json b.json", "main", "", "a.json", false},
		{"file missing", two, "a.json b.json", "main", "test", `!split "test": gone.json is not there`, false},
		{"elsewhere", two, "a.json b.json", "other", "y", "!its files are elsewhere", false},
		{"only one split", "", "dev.json", "", "", "dev.json", false},
		{"default by name", "", "train.json", "default", "train", "train.json", false},
		{"unknown subset without a card", "", "train.json", "main", "",
			`!unknown subset "main"; use --hf-subset with one of: default`, true},
		{"a folder stands for a subset", "", "main/train.json other/train.json", "main", "", "main/train.json", false},
		{"no rows", "", "a.txt LICENSE", "", "", "!no file of rows", false},
		{"nothing", "", "README.md", "", "", "!no file of rows", false},
		{"rows by the endings", "", "a.tar.parquet.gz b.JSONL c.jsonl.zst", "", "", "b.JSONL c.jsonl.zst", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			subsets := assert.Must(readCard([]byte(test.card)))(t)
			l := layout{files: strings.Fields(test.files), subsets: subsets}
			files, err := l.find(test.subset, test.split)
			if want, fails := strings.CutPrefix(test.want, "!"); fails {
				complains(t, err, want)
			} else if got := strings.Join(files, " "); err != nil || got != want {
				t.Errorf("got %s, error %v, want %s", got, err, want)
			}
			assert.Equal(t, errors.As(err, new(choiceError)), test.choice, "another choice helps")
		})
	}
}

func TestConverted(t *testing.T) {
	l := converted([]string{".gitattributes", "en/partial-train/0000.parquet", "en/partial-train/0001.parquet",
		"en/test/0000.parquet", "en/test/index.duckdb", "fr/train/0000.parquet"})
	got := map[string]string{}
	for _, s := range l.subsets {
		for _, part := range s.splits {
			files, err := l.find(s.name, part.name)
			got[s.name+" "+part.name] = strings.Join(files, " ")
			if err != nil {
				t.Error(err)
			}
		}
	}
	want := map[string]string{"en train": "en/partial-train/0000.parquet en/partial-train/0001.parquet",
		"en test": "en/test/0000.parquet", "fr train": "fr/train/0000.parquet"}
	if !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestReadCard(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "", ""},
		{"no front matter", "# Title\n---\nconfigs: x\n---\n", ""},
		{"not closed", "---\nconfigs: [", ""},
		{"closed at once", "---\n---\n", ""},
		{"carriage returns and a mark", "\ufeff\r\n---\r\nconfigs:\r\n- config_name: a\r\n  data_files: x\r\n---\r\n",
			"a: train[x]"},
		{"numbers and words", "---\nconfigs:\n- config_name: 2021\n  data_files: 5\n- config_name: no\n---\n",
			"2021: train[5]; no:"},
		{"patterns by split", "---\nconfigs:\n- config_name: a\n  data_files:\n    - split: test\n      path: [x, " +
			"y]\n---\n", "a: test[x y]"},
		{"no data_files", "---\nconfigs:\n- config_name: a\n  data_files:\n---\n", "a:"},
		{"an anchor", "---\nx: &x [p, q]\nconfigs:\n- config_name: a\n  data_files: *x\n---\n", "a: train[p q]"},
		{"no YAML", "---\nconfigs: [\n---\n", "!invalid front matter: line "},
		{"no list", "---\nconfigs: 5\n---\n",
			"!invalid front matter: line 1: configs must be a list of mappings with a config_name"},
		{"no name", "---\nconfigs:\n- data_files: x\n---\n", "!item 1 of its configs has no config_name"},
		{"a name twice", "---\nconfigs:\n- config_name: a\n- config_name: a\n---\n",
			`!two of its configs have the config_name "a"`},
		{"a split twice", "---\nconfigs:\n- config_name: a\n  data_files: [{split: x, path: y}, {split: x, path: " +
			"z}]\n---\n", `!config "a": its data_files have the split "x" twice`},
		{"a split without files", "---\nconfigs:\n- config_name: a\n  data_files: [{split: x}]\n---\n",
			"!neither names nor a list of {split, path}"},
		{"files of no kind", "---\nconfigs:\n- config_name: a\n  data_files: {a: [{}]}\n---\n",
			"!neither names nor a list of {split, path}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			subsets, err := readCard([]byte(test.text))
			var all []string
			for _, s := range subsets {
				line := s.name + ":"
				for _, part := range s.splits {
					line += " " + part.name + "[" + strings.Join(part.patterns, " ") + "]"
				}
				all = append(all, line)
			}
			if want, fails := strings.CutPrefix(test.want, "!"); fails {
				complains(t, err, want)
			} else if got := strings.Join(all, "; "); err != nil || got != want {
				t.Errorf("got %q, error %v, want %q", got, err, want)
			}
		})
	}
}

func TestGlob(t *testing.T) {
	tests := []struct{ pattern, matched, others string }{
		{"**", "a a/b a/b/c", ""},
		{"*", "a .a", "a/b"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "a/xb ab x/a/b"},
		{"**/a*", "a ab x/ab x/y/a", "xa x/ya"},
		{"a?.json", "ab.json aé.json", "a.json a/.json abc.json"},
		{"[!a-c]x", "dx", "ax bx x"},
		{"[]-]x", "]x -x", "ax"},
		{"[c-a]x", "", "ax bx"},
		{"[!c-a]x", "ax", "x"},
		{"[a", "[a", "a"},
		{"[[:alpha:]]", "a] :]", "a"},
		{`[\d]`, `d \`, "5"},
		{"a.(b)+$", "a.(b)+$", "axbb"},
		{"-[-._ 0-9]", "-- -_ -5", "-a"},
	}
	for _, test := range tests {
		re, err := glob(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, name := range strings.Fields(test.matched) {
			if !re.MatchString(name) {
				t.Errorf("%s does not match %s: %v", test.pattern, name, re)
			}
		}
		for _, name := range strings.Fields(test.others) {
			if re.MatchString(name) {
				t.Errorf("%s matches %s: %v", test.pattern, name, re)
			}
		}
	}
	_, err := glob("a**/b")
	complains(t, err, "** stands for whole folders")
}
