package queuetest

// Kind is a server with objectives, in seconds, 0 for none, and what is known of it: the border of 95 % of requests as
// Server.Border has it, and the capacity.
type Kind struct {
	Name string
	Server
	TTFT, TPOT       float64
	Late             float64 // how late the client is
	Border, Capacity float64
}

// Kinds are those on which claims are counted.
var Kinds = []Kind{
	{"fifo-det", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04}, .5, 0, 0, 17.153, 20},
	{"fifo-exp", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04, Spread: 1}, .5, 0, 0, 14.785, 19.672},
	{"single", Server{Discipline: FIFO, Servers: 1, Service: .05, First: .02}, .5, 0, 0, 17.153, 20},
	{"sharing", Server{Discipline: Sharing, Servers: 4, Service: .2, First: .04, Spread: 1}, .5, 0, 0, 18.356, 19.672},
	{"batches", Server{Discipline: Batches, Servers: 8, Service: .4, First: .04}, .5, 0, 0, 14.94, 20},
	{"limiter", Server{Discipline: Limiter, Servers: 5, Limit: 15, Service: .2, First: .04}, .5, 0, 0, 12.883, 15},
	{"speed", Server{Discipline: Sharing, Servers: 16, Service: 1.2, First: .05}, .5, .6, 0, 10.865, 13.333},
	{"late client", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04, Spread: 1}, .5, 0, .03, 14.785,
		19.672},
	{"slow start", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04, Slow: 3, SlowFor: 10}, .5, 0, 0,
		17.153, 20},
	{"log-normal", Server{Discipline: FIFO, Servers: 8, Service: .4, First: .1, Spread: 1.5}, .8, 0, 0, 15.329, 19.67},
	{"tail 3 %", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04, Spread: .5, Tail: .03, TailBy: 2}, .5, 0,
		0, 15.639, 20.001},
	{"pause", Server{Discipline: FIFO, Servers: 4, Service: .2, First: .04, Spread: .5, Pause: .8, PauseEvery: 15}, .5,
		0, 0, 13.194, 20.001},
	{"long", Server{Discipline: Sharing, Servers: 40, Service: 2, First: .1, Spread: .5}, 1, 0, 0, 19.87, 20.009},
}

// Known are the kinds of these names.
func Known(names ...string) (all []Kind) {
	for _, name := range names {
		for _, k := range Kinds {
			if k.Name == name {
				all = append(all, k)
			}
		}
	}
	return all
}
