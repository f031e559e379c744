package metrics

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
