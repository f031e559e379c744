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
func flagsOfVLLM(synopsis string) []string {
	for part := range strings.SplitSeq(vllmFlags, "\n\n") {
		if name, flags, _ := strings.Cut(part, ":"); strings.HasPrefix(synopsis+" ", name+" ") {
			return strings.Fields(flags)
		}
	}
	return nil
}
