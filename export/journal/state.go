package journal

import "benchtop/metrics"

// appendLoad appends the load in force. A rate may be unlimited.
func appendLoad(b []byte, s *metrics.Steering) []byte {
	b = appendSetting(b, &s.LoadSetting)
	b = appendTruth(b, "steerable", s.Steerable)
	b = appendTruth(b, "in_users", s.InUsers)
	b = appendText(b, "why", s.Why)
	b = appendNatural(b, "changes", s.Changes)
	return appendText(b, "search", s.Search)
}

// load reads what appendLoad wrote.
func (f *fields) load() metrics.Steering {
	return metrics.Steering{
		LoadSetting: f.setting(), Steerable: f.truth("steerable"), InUsers: f.truth("in_users"), Why: f.text("why"),
		Changes: f.natural("changes"), Search: f.text("search"),
	}
}

func appendPhase(b []byte, p *metrics.Phase) []byte {
	return appendMoment(appendText(b, "state", string(p.State)), "drain_by_us", p.DrainBy)
}

// phase reads what appendPhase wrote.
func (f *fields) phase() metrics.Phase {
	return metrics.Phase{State: metrics.State(f.text("state")), DrainBy: f.moment("drain_by_us")}
}

func appendSource(b []byte, s *metrics.Source) []byte {
	b = appendText(b, "name", string(s.Name))
	b = appendText(b, "kind", s.Kind)
	return appendText(b, "absent", s.Absent)
}

// source reads what appendSource wrote.
func (f *fields) source() metrics.Source {
	return metrics.Source{Name: metrics.SourceName(f.text("name")), Kind: f.text("kind"), Absent: f.text("absent")}
}

func appendSaving(b []byte, s *metrics.Saving) []byte {
	return appendText(appendText(b, "path", s.Path), "problem", s.Problem)
}

// saving reads what appendSaving wrote.
func (f *fields) saving() metrics.Saving {
	return metrics.Saving{Path: f.text("path"), Problem: f.text("problem")}
}

func appendRecount(b []byte, r *metrics.Recount) []byte {
	b = appendCount(b, "index", r.Index)
	b = appendCount(b, "output_tokens", r.Tokens)
	return appendText(b, "output_source", string(r.Source))
}

// recount reads what appendRecount wrote.
func (f *fields) recount() metrics.Recount {
	return metrics.Recount{Index: f.count("index"), Tokens: f.count("output_tokens"), Source: metrics.TokenSource(f.text("output_source"))}
}
