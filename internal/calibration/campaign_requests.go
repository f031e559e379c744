package calibration

import (
	"context"
	"fmt"
)

// requests measures how many requests a second this client can send and read at most.
func (c *campaign) requests(ctx context.Context) {
	var rates []float64
	for i := range c.Rounds {
		c.tell(fmt.Sprintf("requests/s: %d users without pause, round %d of %d", c.Users, i+1, c.Rounds))
		r, err := c.sound(ctx, Load{Streams: c.Users, Closed: true, Chunks: 1, Duration: c.RoundTime, Preconnect: true})
		if err != nil {
			c.problem(ctx, "requests/s", err)
			return
		}
		rates = append(rates, r.RequestsPerSecond)
		c.out.Rounds = append(c.out.Rounds, RequestRound{Users: c.Users, RequestsPerSecond: rounded(r.RequestsPerSecond, 1)})
		c.out.RequestsPerSecond = rounded(median(rates), 0)
	}
}
