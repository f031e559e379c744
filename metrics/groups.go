package metrics

import (
	"cmp"
	"math"
	"slices"
)

// MostEndpoints bounds the endpoints of a run: the last one, of OtherModels, counts all others and is listed last.
const (
	MostEndpoints  = 64
	OtherModels    = "others"
	severalServers = math.MaxInt
)

// Kinds of groups. The latencies of an endpoint count from their moments on, those of other groups with the success.
const (
	ByClass = iota
	ByTurn
	ByServer
	ByAxis     // the first of the plan's; the others follow
	ByEndpoint = ByAxis + MostAxes
	GroupKinds = ByEndpoint + 1
)

// Groups count the requests of a run by class, by turn, by endpoint, by the axes of the plan and, where there are
// several, by server. Requests of the warm-up count only as in flight.
type Groups struct {
	names     Classes
	axes      [MostAxes]Classes
	endpoints numbering[endpoint]
	all       [GroupKinds][]*Group
}

// endpoint is a model, or an engine, at a server.
type endpoint struct {
	server int
	model  string
}

// Places are the numbers of the groups of a request by kind, from 1; 0 for none.
type Places [GroupKinds]uint16

// Places are those of the request, as far as it was counted.
func (r *Request) Places() Places { return r.progress.in }

// Classes numbers the classes.
func (g *Groups) Classes() *Classes { return &g.names }

// place finds the groups of a request when it is sent, or when it ends without that. Those by headers are known with
// the first chunk of an answer that has some, or at its end.
func (g *Groups) place(p *Plan, r *Request, answered bool) {
	if len(p.Axes) > 0 {
		g.placeOnAxes(p, r, answered)
	}
	if r.progress.in[ByEndpoint] > 0 {
		return
	}
	server := 0
	if n := len(p.Servers); n > 1 && r.Server >= 0 && r.Server < n {
		server = r.Server + 1
	}
	g.put(r, ByClass, g.names.Place(r.Class))
	g.put(r, ByTurn, TurnPlace(r))
	g.put(r, ByServer, server)
	g.put(r, ByEndpoint, g.endpoints.place(endpoint{r.Server, r.Model}, MostEndpoints,
		endpoint{severalServers, OtherModels}))
}

// placeOnAxes finds the groups of the axes.
func (g *Groups) placeOnAxes(p *Plan, r *Request, answered bool) {
	header := 0
	for i, a := range p.Axes[:min(len(p.Axes), MostAxes)] {
		name := ""
		switch a.By {
		case AxisServer:
			name = p.ServerURL(r.Server)
		case AxisAdapter:
			name = r.Model
		case AxisHeader:
			if answered {
				name = NoPlace
				if header < len(r.Served) {
					name = cmp.Or(r.Served[header], NoPlace)
				}
			}
			header++
		}
		if r.progress.in[ByAxis+i] == 0 {
			g.put(r, ByAxis+i, g.axes[i].Place(name))
		}
	}
}

// put puts a request into the group of a kind with a place.
func (g *Groups) put(r *Request, kind, place int) {
	r.progress.in[kind] = uint16(place)
	for n := len(g.all[kind]); n < place; n++ {
		g.all[kind] = append(g.all[kind], g.new(kind, n+1))
	}
}

// new is the group of a kind with a place.
func (g *Groups) new(kind, place int) *Group {
	if kind >= ByAxis && kind < ByEndpoint {
		return &Group{Place: g.axes[kind-ByAxis].Name(place)}
	}
	switch kind {
	case ByClass:
		return &Group{Class: g.names.Name(place)}
	case ByTurn:
		first, last := TurnsAt(place)
		return &Group{First: first, Last: last}
	case ByEndpoint:
		e := g.endpoints.keys[place-1]
		return &Group{Server: e.server, Model: e.model}
	}
	return &Group{Server: place - 1}
}

// Of are the groups of a request that was placed, nil for none.
func (g *Groups) Of(r *Request) (all [GroupKinds]*Group) {
	for kind, place := range r.progress.in {
		if place > 0 {
			all[kind] = g.all[kind][place-1]
		}
	}
	return all
}

// SetMet replaces the objectives that were met in the groups of a kind, by their places.
func (g *Groups) SetMet(kind int, met []MetCount) {
	for i, of := range g.all[kind] {
		of.MetCount = met[i+1]
	}
}

// Ended returns the classes, in the order of their names, in which numbers count as such, and the turns in their order,
// of which requests ended. A reader may keep them.
func (g *Groups) Ended() (classes, turns []Group) {
	none := func(of Group) bool { return of.Ended() == 0 }
	classes, turns = slices.DeleteFunc(g.share(ByClass), none), slices.DeleteFunc(g.share(ByTurn), none)
	slices.SortFunc(classes, func(a, b Group) int { return natural(a.Class, b.Class) })
	return classes, turns
}

// Endpoints returns the endpoints in the order of the servers, and there of their first requests.
func (g *Groups) Endpoints() []Group {
	out := g.share(ByEndpoint)
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(a.Server, b.Server) })
	return out
}

// Axes returns the groups by each axis of a plan, in the order of their names and those without a place last; nil
// without axes.
func (g *Groups) Axes(p *Plan) (all [][]Group) {
	for i := range p.Axes[:min(len(p.Axes), MostAxes)] {
		some := g.share(ByAxis + i)
		slices.SortFunc(some, func(a, b Group) int {
			return cmp.Or(cmp.Compare(one(joins(a.Place)), one(joins(b.Place))), natural(a.Place, b.Place))
		})
		all = append(all, some)
	}
	return all
}

// joins reports whether a place is none, or many.
func joins(place string) bool { return place == NoPlace || place == OtherClasses }

// Servers returns all servers of a plan with several in its order; nil for one.
func (g *Groups) Servers(p *Plan) []Group {
	for n := len(g.all[ByServer]); n < len(p.Servers) && len(p.Servers) > 1; n++ {
		g.all[ByServer] = append(g.all[ByServer], g.new(ByServer, n+1))
	}
	return g.share(ByServer)
}

// share copies the groups of a kind for a reader.
func (g *Groups) share(kind int) []Group {
	return Each(g.all[kind], func(of *Group) Group {
		out := *of
		for l := range out.Histograms {
			out.Histograms[l] = of.Histograms[l].Share()
		}
		return out
	})
}
