package argv

import (
	_ "embed"
	"strings"
)

// vllmFlags are the flags of vLLM's commands: the name of each command before a colon, its flags after it.
//
//go:embed vllm_flags.txt
var vllmFlags string

// flagsOfVLLM are the names of the flags that the command of a synopsis has with vLLM, none for a command of our own.
func flagsOfVLLM(synopsis string) (names []string) {
	own := false
	for line := range strings.Lines(vllmFlags) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), ":"); ok {
			own = strings.HasPrefix(synopsis+" ", name+" ")
		} else if own {
			names = append(names, strings.Fields(line)...)
		}
	}
	return names
}
