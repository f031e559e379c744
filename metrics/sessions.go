package metrics

// OfConversation reports whether the request is a turn of a conversation of several turns. A request of its own is not,
// nor one that is alone in a conversation with a name, as mixtures have them. By this rule alone requests count by turn
// and by session.
func (r *Request) OfConversation() bool { return r.Turns > 1 }

// TurnCounts count the turns of one conversation that ended: Planned by the plan, Done with success, Failed, and Cut
// when the run ended or the user left.
type TurnCounts struct{ Planned, Done, Failed, Cut int }

// Count counts a turn that ended.
func (c *TurnCounts) Count(q *Request) {
	c.Planned = max(c.Planned, q.Turns)
	switch {
	case q.OK():
		c.Done++
	case q.Failure == Cancelled, q.Failure == Abandoned:
		c.Cut++
	default:
		c.Failed++
	}
}

// Completed: all turns succeeded.
func (c *TurnCounts) Completed() bool { return c.Failed == 0 && c.Done >= c.Planned }

// NotSent are the turns that were not sent because an earlier one failed.
func (c *TurnCounts) NotSent() int {
	if c.Failed == 0 {
		return 0
	}
	return max(0, c.Planned-c.Done-c.Failed-c.Cut)
}

// Sessions sum up the conversations of several turns of a run. Conversations that began in the warm-up are left out.
type Sessions struct {
	// Conversations of which a turn ended: Completed with all turns, Failed where a turn failed, else Unfinished when
	// the run ended or the user left.
	Conversations, Completed, Failed, Unfinished int
	// Turns are the mean number of turns of a conversation that succeeded, Planned the mean number that the plan has.
	Turns, Planned float64
	// NotSent turns were not sent because an earlier one of their conversation failed.
	NotSent int
	// Makespan of a completed conversation is the time from the slot of its first turn to its last end. Waiting is the
	// part of it in which a turn had a slot, several at once counted once; the rest are pauses and waits for a slot.
	// Both are in milliseconds.
	Makespan, Waiting Statistic
	// CachedShare of a completed conversation is the share of its prompts' tokens that came from the prefix cache, of
	// 1, by the usage of its turns.
	CachedShare Statistic
}

// LiveSessions are the conversations of several turns while the run is on.
type LiveSessions struct {
	// Active conversations have begun and are not over. Thinking ones of them are between turns: no request is under
	// way. Both are levels, the warm-up included.
	Active, Thinking int
	// Completed and Failed as in Sessions.
	Completed, Failed int
}
