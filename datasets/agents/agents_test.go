package agents

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

const example = `{"session":"s1","block_size":64,"requests":[` +
	`{"in":200,"out":50,"blocks":[[1,3]]},` +
	`{"in":300,"out":20,"blocks":[[1,4]],"delay_ms":1500},` +
	`{"in":150,"out":30,"blocks":[[9,2]],"after":[0],"delay_ms":10.000001,"tools_ms":2.5,"at_ms":31622400000,` +
	`"agent":"sea\"rch"},` +
	`{"in":420,"out":0,"blocks":[[1,5],[99,1]],"after":[1,2]},` +
	`{"in":1,"out":1,"after":[],"messages":[{"role":"user","content":"a"}]}]}` + "\n"

func readAll(text string) (all []*Session, err error) {
	err = Read(context.Background(), strings.NewReader(text), func(s *Session) error {
		all = append(all, s)
		return nil
	})
	return all, err
}

// A session is written as it was read.
func TestRead(t *testing.T) {
	all, err := readAll(example)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	want := &Session{Name: "s1", BlockSize: 64, Requests: []Request{
		{Input: 200, Output: 50, Blocks: []Run{{1, 3}}},
		{Input: 300, Output: 20, Blocks: []Run{{1, 4}}, After: []int{0}, Delay: 1500 * time.Millisecond},
		{Input: 150, Output: 30, Blocks: []Run{{9, 2}}, After: []int{0}, Delay: 10*time.Millisecond + 1,
			Tools: 2500 * time.Microsecond, At: Longest, Agent: `sea"rch`},
		{Input: 420, Blocks: []Run{{1, 5}, {99, 1}}, After: []int{1, 2}},
		{Input: 1, Output: 1, Messages: []byte(`[{"role":"user","content":"a"}]`)},
	}}
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Error(diff)
	}
	if got := string(all[0].AppendJSON(nil)); got != example {
		t.Errorf("got %s, want %s", got, example)
	}
}

// Files of others leave things out, or say them in another way.
func TestReadOthers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no name", "\n\n" + `{"block_size":1,"requests":[{"in":1,"out":0}]}`,
			`{"session":"3","block_size":1,"requests":[{"in":1,"out":0}]}`},
		{"other keys", `{"x":[{}],"block_size":2,"session":"a","shared":true,"requests":[{"in":5,"y":1,"out":0,` +
			`"after":null}]}`, `{"session":"a","block_size":2,"shared":true,"requests":[{"in":5,"out":0}]}`},
		{"rows that continue", `{"session":"a","block_size":1,"requests":[{"in":9,"out":0,"blocks":[[1,2],[3,1],[4,` +
			`2],[9,1]]}]}`, `{"session":"a","block_size":1,"requests":[{"in":9,"out":0,"blocks":[[1,5],[9,1]]}]}`},
		{"blocks that do not fit", `{"session":"a","block_size":4,"requests":[{"in":15,"out":0,"blocks":[[1,2],[8,5],` +
			`[50,1]]}]}`, `{"session":"a","block_size":4,"requests":[{"in":15,"out":0,"blocks":[[1,2],[8,1]]}]}`},
		{"places", `{"session":"a","block_size":1,"requests":[{"in":1,"out":0},{"in":1,"out":0,"after":[]},{"in":1,` +
			`"out":0,"after":[1,0,1]},{"in":1,"out":0,"after":[2]}]}`,
			`{"session":"a","block_size":1,"requests":[{"in":1,"out":0},{"in":1,"out":0,"after":[]},{"in":1,"out":0,` +
				`"after":[0,1]},{"in":1,"out":0}]}`},
		{"times", `{"session":"a","block_size":1,"requests":[{"in":1,"out":0,"delay_ms":1.5e3,"tools_ms":0.1234567,` +
			`"at_ms":0.000001}]}`,
			`{"session":"a","block_size":1,"requests":[{"in":1,"out":0,"delay_ms":1500,"tools_ms":0.123457,` +
				`"at_ms":0.000001}]}`},
	} {
		all, err := readAll(c.text)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		assert.Equal(t, strings.TrimSpace(string(all[0].AppendJSON(nil))), c.want, "%s", c.name)
	}
}

func TestReadErrors(t *testing.T) {
	one := func(request string) string { return `{"session":"a","block_size":64,"requests":[` + request + `]}` }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `the file is empty; expected a session, as {"session":"s1"`},
		{"not JSON", example + "{", "line 2: the file ends before its last object does"},
		{"no block size", `{"requests":[{}]}`,
			`line 1: "block_size": expected a whole number from 1 to 1048576: got nothing`},
		{"a large block", `{"block_size":1048577,"requests":[{}]}`,
			`"block_size": expected a whole number from 1 to 1048576: got 1048577`},
		{"no requests", `{"block_size":1}`, `line 1: "requests": expected an array: got nothing`},
		{"none at all", `{"block_size":1,"requests":[]}`, "line 1: 0 requests in the session; expected 1 to 1048576"},
		{"a name", `{"session":5,"block_size":1,"requests":[]}`, `"session": expected a string: got a number`},
		{"shared", `{"shared":5,"block_size":1,"requests":[]}`, `"shared": expected true or false: got a number`},
		{"a number", one("5"), "line 1: requests[0]: expected an object: got a number"},
		{"no input", one(`{"in":0,"out":1}`), `requests[0]: "in": expected a whole number from 1 to 16777216: got 0`},
		{"no output", one(`{"in":1}`), `requests[0]: "out": expected a whole number from 0 to 16777216: got nothing`},
		{"a later one", one(`{"in":1,"out":0,"after":[0]}`),
			`requests[0]: "after": the first request cannot wait for another one`},
		{"itself", one(`{"in":1,"out":0},{"in":1,"out":0,"after":[1]}`),
			`requests[1]: "after": a request waits for those before it: expected a whole number from 0 to 0: got 1`},
		{"blocks", one(`{"in":1,"out":0,"blocks":[1]}`), `"blocks": expected an array: got a number`},
		{"half a row", one(`{"in":1,"out":0,"blocks":[[1]]}`),
			`"blocks": expected the number of the first block and how many there are, as [1,3]: got [1]`},
		{"too much", one(`{"in":1,"out":0,"blocks":[[1,2,3]]}`), `as [1,3]: got [1,2,3]`},
		{"no blocks", one(`{"in":1,"out":0,"blocks":[[1,0]]}`),
			`"blocks": expected a whole number from 1 to 16777216: got 0`},
		{"past the numbers", one(`{"in":1,"out":0,"blocks":[[18446744073709551615,1]]}`),
			`"blocks": expected a whole number`},
		{"a negative time", one(`{"in":1,"out":0,"delay_ms":-1}`),
			`"delay_ms": expected milliseconds from 0 to 31622400000, a year: got -1`},
		{"a long time", one(`{"in":1,"out":0,"at_ms":31622400001}`), `"at_ms": expected milliseconds`},
		{"much of tools", one(`{"in":1,"out":0,"delay_ms":1,"tools_ms":2}`),
			`requests[0]: tools take 2ms of a delay of 1ms`},
		{"messages", one(`{"in":1,"out":0,"messages":{}}`), `"messages": expected an array: got an object`},
		{"gzip", "\x1f\x8brest", "gzip -d"},
	} {
		_, err := readAll(c.text)
		assert.Fails(t, c.name, err, c.want)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	assert.Is(t, Read(stopped, strings.NewReader(example), nil), context.Canceled)
}

// Ideal agrees with a set of all beginnings of all earlier prompts.
func TestIdeal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := &Session{BlockSize: 1 + rng.IntN(3)}
		for range 1 + rng.IntN(20) {
			var q Request
			count := 0
			for range rng.IntN(6) {
				run := Run{uint64(rng.IntN(5)), 1 + rng.IntN(4)}
				q.Blocks = append(q.Blocks, run)
				count += run.Count
			}
			q.Input = max(1, count*s.BlockSize+rng.IntN(2))
			s.Requests = append(s.Requests, q)
		}
		got, want := s.Ideal(), slowIdeal(s)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s", s.AppendJSON(nil), diff)
		}
	}
}

func slowIdeal(s *Session) (shared []int) {
	seen := map[string]bool{}
	for _, q := range s.Requests {
		name, n, tokens := "", 0, 0
		for _, run := range q.Blocks {
			for i := range run.Count {
				name += fmt.Sprint(run.First+uint64(i), ",")
				if n += s.BlockSize; seen[name] && n <= q.Input-1 {
					tokens = n
				}
				seen[name] = true
			}
		}
		shared = append(shared, tokens)
	}
	return shared
}

// One tree serves several sessions whose blocks mean the same.
func TestIdealIn(t *testing.T) {
	s := &Session{BlockSize: 10, Requests: []Request{{Input: 45, Blocks: []Run{{1, 4}}}}}
	var tree RadixTree
	if first, second := s.IdealIn(&tree), s.IdealIn(&tree); first[0] != 0 || second[0] != 40 || tree.Len() != 1 {
		t.Errorf("got %v, then %v, with %d edges", first, second, tree.Len())
	}
}

// FuzzRead holds that what is read is valid, and is read the same after it was written.
func FuzzRead(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`{"block_size":1,"requests":[{"in":9,"out":0,"blocks":[[1,2],[3,1]],"delay_ms":1e3,"after":[]}]}`))
	f.Add([]byte(`{"session":"\ud800","block_size":1,"shared":true,"requests":[{"in":16777216,"out":0,` +
		`"blocks":[[18446744073692774399,16777216]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var once, twice []byte
		err := Read(t.Context(), bytes.NewReader(data), func(s *Session) error {
			if err := s.Validate(); err != nil {
				t.Fatalf("%s: %v", s.AppendJSON(nil), err)
			}
			for i, shared := range s.Ideal() {
				if shared < 0 || shared >= s.Requests[i].Input || shared%s.BlockSize != 0 {
					t.Fatalf("request %d of %s shares %d tokens", i, s.AppendJSON(nil), shared)
				}
			}
			once = s.AppendJSON(once)
			return nil
		})
		if err != nil || len(once) == 0 {
			return
		}
		err = Read(t.Context(), bytes.NewReader(once),
			func(s *Session) error { twice = s.AppendJSON(twice); return nil })
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s is read as %s, %v", once, twice, err)
		}
	})
}

// session is one of so many requests, each of which continues the one before.
func session(requests int) *Session {
	s := &Session{Name: "s", BlockSize: 64}
	for i := range requests {
		q := Request{Input: 64_100 + 640*i, Output: 300, Delay: time.Second, At: time.Duration(i) * time.Minute}
		q.Blocks = []Run{{1, 500}, {uint64(2000 * (i % 4)), 3}, {600, 497 + 10*i}}
		if i > 0 {
			q.After = []int{i - 1}
		}
		s.Requests = append(s.Requests, q)
	}
	return s
}

func BenchmarkRead(b *testing.B) {
	line := session(100).AppendJSON(nil)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		assert.Fine(b, Read(b.Context(), bytes.NewReader(line), func(*Session) error { return nil }))
	}
}
