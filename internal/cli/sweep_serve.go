package cli

import "errors"

func runSweepServe(env *environment, args []string) int {
	return env.fail(exitFailed, errors.New("sweep serve is not there yet"))
}
