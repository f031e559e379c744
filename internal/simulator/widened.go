package simulator

import "strings"

// wide stands in for vowels where text is to have characters of two, three and four bytes.
var wide = strings.NewReplacer("a", "ä", "e", "€", "i", "語", "o", "😀", "u", "ß")

// widened returns text with its vowels replaced, one character for one.
func widened(text string) string { return wide.Replace(text) }
