package cli

import (
	"testing"

	"benchtop/internal/session"
)

// Flags that do not go with a search are refused at once.
func TestFindUsage(t *testing.T) {
	t.Parallel()
	benchtop("serve", "--find", "--num-prompts", "5", "--request-rate", "3", "--find-from", "0", "--find-step", "1ms",
		"--find-hold", "0s").expect(t, session.ExitUsage,
		"--find: give the objectives with --goodput", "--find and --num-prompts", "--find and --request-rate",
		"--find-from 0", "--find-step 1ms", "--find-hold 0s")
	benchtop("serve", "--find-users", "--goodput", "ttft:500", "--max-concurrency", "3", "--find-from", "1.5",
		"--stages", "1:5s").expect(t, session.ExitUsage,
		"--find-users and --max-concurrency", "--find-from 1.5: users are whole", "--find and --stages")
	benchtop("serve", "--find-step", "5s").expect(t, session.ExitUsage, "--find-step: needs --find")
	benchtop("serve", "--find", "--goodput", "ttft:500", "--find-from", "50", "--find-most", "5").expect(t,
		session.ExitUsage, "must not be more than --find-most 5")
	benchtop("serve", "--find-users", "--goodput", "ttft:500", "--find-most", "900000").expect(t, session.ExitUsage,
		"--find-most 900000: ")
}
