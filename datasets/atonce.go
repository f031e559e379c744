package datasets

import "context"

// atOnce is how many prompts are worked on at the same time, where the work may be to wait for a server.
const atOnce = 16

// eachAtOnce calls do for 0 … n-1, up to 16 at once. After a failure it begins nothing new; of several failures it returns
// that of the lowest number, and ctx's error if ctx ended first.
func eachAtOnce(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	inParallel(atOnce, n, func(i int) bool {
		if ctx.Err() != nil {
			return false
		}
		errs[i] = do(i)
		return errs[i] == nil
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
