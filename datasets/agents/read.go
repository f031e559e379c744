package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

const form = "a session, as {\"session\":\"s1\",\"block_size\":64,\"requests\":[{\"in\":200,\"out\":50}]}"

// Read calls each with every session of a file, in order, one at a time. A session is each's own. Blocks that do not
// fit into a prompt are cut, and rows of blocks that continue each other are joined. Keys that are not known are passed
// over. An error has its line.
func Read(ctx context.Context, r io.Reader, each func(*Session) error) error {
	return textfile.Cause(textfile.EachObject(r, form, func(object []byte, line int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := parse(object)
		if err != nil {
			return err
		}
		if s.Name == "" {
			s.Name = strconv.Itoa(line)
		}
		return each(s)
	}))
}

// parse reads a session from checked JSON.
func parse(object []byte) (*Session, error) {
	s := &Session{}
	fields := jsonscan.Fields(object, "session", "block_size", "shared", "requests", "start_ms")
	var err error
	if s.Name, err = text(fields[0]); err != nil {
		return nil, inKey("session", err)
	}
	size, err := whole(fields[1], 1, MaxBlockSize)
	if err != nil {
		return nil, inKey("block_size", err)
	}
	s.BlockSize = int(size)
	if shared := fields[2]; !none(shared) {
		if s.Shared = shared[0] == 't'; !s.Shared && shared[0] != 'f' {
			return nil, inKey("shared", fmt.Errorf("expected true or false: got %s", jsonscan.Kind(shared)))
		}
	}
	if s.Start, err = Milliseconds(fields[4]); err != nil {
		return nil, inKey("start_ms", err)
	}
	if err := array(fields[3]); err != nil {
		return nil, inKey("requests", err)
	}
	for raw := range jsonscan.Elements(fields[3]) {
		place := len(s.Requests)
		if place == MaxRequests {
			return nil, fmt.Errorf("more than %d requests in a session; cut it into several", MaxRequests)
		}
		if raw[0] != '{' {
			return nil, inRequest(place, fmt.Errorf("expected an object: got %s", jsonscan.Kind(raw)))
		}
		q, err := s.parseRequest(raw, place)
		if err != nil {
			return nil, inRequest(place, err)
		}
		s.Requests = append(s.Requests, q)
	}
	return s, s.Validate()
}

// parseRequest reads the request at a place.
func (s *Session) parseRequest(object []byte, place int) (q Request, err error) {
	fields := jsonscan.Fields(object, "in", "out", "blocks", "after", "delay_ms", "tools_ms", "at_ms", "agent",
		"messages")
	input, err := whole(fields[0], 1, MaxTokens)
	if err != nil {
		return q, inKey("in", err)
	}
	output, err := whole(fields[1], 0, MaxTokens)
	if err != nil {
		return q, inKey("out", err)
	}
	q.Input, q.Output = int(input), int(output)
	if q.Blocks, err = blocks(fields[2], q.Input/s.BlockSize); err != nil {
		return q, inKey("blocks", err)
	}
	if q.After, err = after(fields[3], place); err != nil {
		return q, inKey("after", err)
	}
	for i, to := range []*time.Duration{&q.Delay, &q.Tools, &q.At} {
		if *to, err = Milliseconds(fields[4+i]); err != nil {
			return q, inKey([]string{"delay_ms", "tools_ms", "at_ms"}[i], err)
		}
	}
	if q.Agent, err = text(fields[7]); err != nil {
		return q, inKey("agent", err)
	}
	if messages := fields[8]; !none(messages) {
		if err := array(messages); err != nil {
			return q, inKey("messages", err)
		}
		q.Messages = bytes.Clone(messages)
	}
	return q, nil
}

func inKey(key string, err error) error { return fmt.Errorf("%q: %w", key, err) }

func inRequest(place int, err error) error { return fmt.Errorf("requests[%d]: %w", place, err) }

// none reports whether there is no value.
func none(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// text reads a string, "" where there is none.
func text(raw []byte) (string, error) {
	if none(raw) {
		return "", nil
	}
	s, err := jsonscan.WholeText(raw)
	if errors.As(err, new(jsonscan.HalfCharacter)) {
		return s, nil // a name says enough without it
	}
	return s, err
}

// array makes sure that a value is an array.
func array(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return fmt.Errorf("expected an array: got %s", jsonscan.Kind(raw))
	}
	return nil
}

// whole reads a whole number.
func whole(raw []byte, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(string(raw[:min(len(raw), 32)]), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("expected a whole number from %d to %d: got %s", least, most, textfile.Value(raw))
	}
	return n, nil
}

// blocks reads rows of blocks, as [[first, count], …], at most so many blocks.
func blocks(raw []byte, most int) (runs []Run, err error) {
	if none(raw) {
		return nil, nil
	}
	if err := array(raw); err != nil {
		return nil, err
	}
	for pair := range jsonscan.Elements(raw) {
		first, count, err := row(pair)
		if err != nil {
			return nil, err
		}
		count = min(count, most)
		most -= count
		runs = AppendBlocks(runs, first, count)
	}
	return runs, nil
}

// row reads the number of a first block and how many follow each other.
func row(pair []byte) (first uint64, count int, err error) {
	if err := array(pair); err != nil {
		return 0, 0, err
	}
	var numbers [3][]byte
	n := 0
	for number := range jsonscan.Elements(pair) {
		numbers[n] = number
		if n++; n == len(numbers) {
			break
		}
	}
	if n != 2 {
		return 0, 0, fmt.Errorf("expected the number of the first block and how many there are, as [1,3]: got %s",
			textfile.Value(pair))
	}
	if first, err = whole(numbers[0], 0, maxBlock); err != nil {
		return 0, 0, err
	}
	many, err := whole(numbers[1], 1, MaxTokens)
	return first, int(many), err
}

// after reads the places of the requests that one waits for. Without a value it is the request before.
func after(raw []byte, place int) (places []int, err error) {
	if none(raw) {
		if place == 0 {
			return nil, nil
		}
		return []int{place - 1}, nil
	}
	if err := array(raw); err != nil {
		return nil, err
	}
	for number := range jsonscan.Elements(raw) {
		if place == 0 {
			return nil, errors.New("the first request cannot wait for another one")
		}
		n, err := whole(number, 0, uint64(place-1))
		if err != nil {
			return nil, fmt.Errorf("a request waits for those before it: %w", err)
		}
		places = append(places, int(n))
	}
	slices.Sort(places)
	return slices.Compact(places), nil
}
