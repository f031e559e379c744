package metrics

import "strconv"

// Unit is what a load is counted in.
type Unit uint8

const (
	// RequestsPerSecond and ConversationsPerSecond, of several requests each, are rates of arrivals. Users are a number
	// in flight at once, each followed by the next without pause.
	RequestsPerSecond Unit = iota
	ConversationsPerSecond
	Users
)

// String is the unit for a person, and in files.
func (u Unit) String() string { return [...]string{"req/s", "conversations/s", "users"}[u] }

// Of is a load in the unit.
func (u Unit) Of(value float64) Load { return Load{value, u} }

// Words is the number of a load, as written by the caller, with the unit.
func (u Unit) Words(number string) string {
	if u == Users && number == "1" {
		return "1 user"
	}
	return number + " " + u.String()
}

// Text is a load in the unit for a person, as "4.84 req/s" or "1 user".
func (u Unit) Text(value float64) string { return u.Words(LoadNumber(value)) }

// Load is a load in its unit.
type Load struct {
	Value float64
	Unit  Unit
}

// String is that of Unit.Text.
func (l Load) String() string { return l.Unit.Text(l.Value) }

// Rate is the load in arrivals per second; 0 for users.
func (l Load) Rate() float64 {
	if l.Unit == Users {
		return 0
	}
	return l.Value
}

// Users is the number of users; 0 for a rate.
func (l Load) Users() int {
	if l.Unit != Users {
		return 0
	}
	return int(l.Value)
}

// LoadNumber is a load with at most four digits below 1000.
func LoadNumber(v float64) string {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64); err == nil && v < 1000 {
		v = short
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Unit is what the load of the plan is counted in: a rate is one of conversations where requests are their turns.
func (p *Plan) Unit() Unit {
	unit := RequestsPerSecond
	switch {
	case p == nil:
		return unit
	case len(p.Stages) > 0:
		unit = p.Stages[0].Unit
	case p.Find != nil:
		unit = p.Find.Unit
	case p.ClosedLoop():
		unit = Users
	}
	if unit != Users && p.Conversations != nil {
		unit = ConversationsPerSecond
	}
	return unit
}
