package metrics

import "strings"

// Users are the flags of what users do other than wait, "" for none.
func (p *Plan) Users() string {
	var all []string
	for _, of := range [][2]string{{"abandon", p.Abandon}, {"retry", p.Retry}, {"read-rate", p.ReadRate}} {
		if of[1] != "" {
			all = append(all, of[0]+" "+of[1])
		}
	}
	return strings.Join(all, ", ")
}

// LoopUsers is the number of users of a closed loop: as many as there may be at once, and no more than there are
// conversations, or requests, for them.
func (p *Plan) LoopUsers() int {
	users, work := p.MaxConcurrency, p.Requests
	if c := p.Conversations; c != nil {
		work = c.Count
		if c.Active > 0 {
			users = min(users, c.Active)
		}
	}
	if work > 0 {
		users = min(users, work)
	}
	return users
}
