package link

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// fake is a wire in this process whose messages are lost, doubled and late by chance, and lost altogether during a cut.
// It is meant for virtual time.
type fake struct {
	mu             sync.Mutex
	rand           *rand.Rand
	takers         map[string]func(string, []byte) []byte
	loss, twice    float64
	delay          func(r *rand.Rand) time.Duration
	from, until    time.Time // a cut
	rate           int       // of answers in bytes a second, if it is not 0
	most           int
	lost, requests int
}

func newFake(seed uint64) *fake {
	return &fake{rand: rand.New(rand.NewPCG(seed, seed)), most: 1 << 20,
		takers: map[string]func(string, []byte) []byte{},
		delay:  func(*rand.Rand) time.Duration { return 0 }}
}

// fates is when each copy of a message arrives; none where it is lost.
func (f *fake) fates() (all []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.rand.Float64() < f.loss || now.After(f.from) && now.Before(f.until) {
		f.lost++
		return nil
	}
	all = append(all, f.delay(f.rand))
	if f.rand.Float64() < f.twice {
		all = append(all, f.delay(f.rand))
	}
	return all
}

func (f *fake) taker(subject string) func(string, []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takers[subject]
}

func (f *fake) Publish(subject string, data []byte) error {
	data = append([]byte{}, data...)
	for _, after := range f.fates() {
		time.AfterFunc(after, func() {
			if take := f.taker(subject); take != nil {
				take(subject, data)
			}
		})
	}
	return nil
}

func (f *fake) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	f.mu.Lock()
	f.requests++
	f.mu.Unlock()
	if f.taker(subject) == nil {
		return nil, ErrNobody
	}
	answers := make(chan []byte, 4)
	for _, after := range f.fates() {
		time.AfterFunc(after, func() {
			take := f.taker(subject)
			if take == nil {
				return
			}
			answer := take(subject, data)
			if answer == nil {
				return
			}
			for _, after := range f.fates() {
				if f.rate > 0 {
					after += time.Duration(len(answer)) * time.Second / time.Duration(f.rate)
				}
				time.AfterFunc(after, func() { answers <- append([]byte{}, answer...) })
			}
		})
	}
	select {
	case a := <-answers:
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fake) Handle(subject string, take func(string, []byte) []byte) (func(), error) {
	var one sync.Mutex
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takers[subject] = func(s string, d []byte) []byte {
		one.Lock()
		defer one.Unlock()
		return take(s, d)
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.takers, subject)
	}, nil
}

func (f *fake) MaxPayload() int { return f.most }
