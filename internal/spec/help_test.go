package spec

import "testing"

// The words of the help stand for flags that there are.
func TestHelpWords(t *testing.T) {
	all := New().Flags.All()
	for _, name := range most {
		if all.Lookup(name) == nil {
			t.Errorf("--%s: no such flag", name)
		}
	}
	for word, names := range synonyms {
		for _, name := range names {
			if all.Lookup(name) == nil {
				t.Errorf("%s: no flag --%s", word, name)
			}
		}
	}
}
