package attach

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// About tells runs apart, in words of the user's and the server's, each at most mostAbout bytes; "" for what is not known.
type About struct {
	Target string `json:"target,omitempty"`
	Model  string `json:"model,omitempty"`
	Load   string `json:"load,omitempty"`
	// Started is when the run began; its socket may be newer.
	Started time.Time `json:"started,omitzero"`
}

const (
	mostAbout = 200
	// firstWords is how long a run may take for its welcome to a viewer, soonWords to who asks many runs what they are.
	firstWords = 3 * time.Second
	soonWords  = time.Second
)

func (h *Host) about() About {
	p := h.run.Snapshot().Plan
	if p == nil {
		return About{}
	}
	return About{cut(p.BaseURL), cut(p.ModelID), cut(p.Load), p.Started}
}

// cut bounds words from outside.
func cut(words string) string {
	return strings.ToValidUTF8(words[:min(len(words), mostAbout)], "")
}

// ask asks a run what it is, and hangs up.
func ask(conn net.Conn) About {
	defer conn.Close()
	w, _, _ := hail(conn, hello{Attach: protocol, Ask: true}, soonWords)
	return w.About
}

// hail says the first words to a run and waits for its own. The reader has what follows them.
func hail(conn net.Conn, words hello, limit time.Duration) (w welcome, in *bufio.Reader, err error) {
	_ = conn.SetDeadline(time.Now().Add(limit))
	defer conn.SetDeadline(time.Time{})
	in = bufio.NewReaderSize(conn, 64<<10)
	asked := json.NewEncoder(conn).Encode(words)
	line, err := in.ReadSlice('\n') // who hangs up may have said why
	if err != nil {
		if asked != nil {
			err = asked
		}
		return welcome{}, nil, fmt.Errorf("the run does not answer: %w", err)
	}
	if json.Unmarshal(line, &w) != nil || w.Attach == 0 {
		return welcome{}, nil, errors.New("what listens there is no run of benchtop")
	}
	return w, in, nil
}
