package startup

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Phase is a part of a start, by the line of the server's log at its end.
type Phase struct {
	Name string        // as in the result
	Took time.Duration // as the server says; 0 if it does not
	At   time.Duration // when the line came, from the start of the process
}

// Compilation is the time that the engine compiled for.
type Compilation struct {
	Known         bool // the log tells it; 0 is known where the engine names a compilation if there was one
	Whole         time.Duration
	Encoder       time.Duration
	LanguageModel time.Duration // Whole without Encoder
}

// endings are the lines that end phases, with seconds.
var endings = []struct {
	name, words string
	line        *regexp.Regexp
}{
	{"load_weights", "weights are loaded", regexp.MustCompile(`Loading weights took ([\d.]+) s`)},
	{"load_model", "the model is loaded",
		regexp.MustCompile(`Model loading took [\d.]+ GiB(?: memory)? and ([\d.]+) s`)},
	{"torch_compile", "torch.compile is done", regexp.MustCompile(`torch\.compile (?:took|takes) ([\d.]+) s in total`)},
	{"profiling", "the profiling run is done", regexp.MustCompile(`Initial profiling/warmup run took ([\d.]+) s`)},
	{"graph_capture", "graphs are captured", regexp.MustCompile(`Graph capturing finished in ([\d.]+) s`)},
	{"engine", "the engine is initialized", regexp.MustCompile(`init engine \([^)]*\) took ([\d.]+) s`)},
	{"http", "the HTTP server starts", regexp.MustCompile(`Starting vLLM (?:API )?server (?:\d+ )?on`)},
}

// compilation is what the engine's line says of it. Engines that end that line in "s" name each compilation, those that
// end it in "seconds" name none. compiling is a line with a time of compilation in any words.
var (
	compilation = regexp.MustCompile(
		`\(compilation: ([\d.]+) s\b(?:.*language_model: ([\d.]+) s.*encoder: ([\d.]+) s)?`)
	noneNamed = regexp.MustCompile(`init engine \([^)]*\) took [\d.]+ s\s*$`)
	compiling = regexp.MustCompile(`(?i)\bcompil.*\d ?(?:ms|s|secs?|seconds)\b`)
)

// reader finds phases in a server's log. It may be used by several goroutines.
type reader struct {
	found func(Phase)

	mu       sync.Mutex // guards those below
	began    time.Time
	list     []Phase
	compiled Compilation
	unread   bool // a line tells of a compilation in unknown words
}

// newReader calls found with each phase once, at its first line; each worker of a server has one.
func newReader(found func(Phase)) *reader { return &reader{found: found, began: time.Now()} }

// from sets the start of the process.
func (r *reader) from(began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = began
}

// take reads a line.
func (r *reader) take(line string) {
	read := false
	for _, e := range endings {
		m := e.line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		read = true
		p := Phase{Name: e.name}
		if len(m) > 1 {
			p.Took = seconds(m[1])
		}
		first := r.add(&p)
		if e.name == "engine" {
			r.compile(compilation.FindStringSubmatch(line), noneNamed.MatchString(line))
		}
		if first {
			r.found(p)
		}
	}
	if !read && compiling.MatchString(line) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unread = true
	}
}

// add files a phase. Of several workers the longest counts, and the last line.
func (r *reader) add(p *Phase) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.At = time.Since(r.began)
	i := slices.IndexFunc(r.list, func(x Phase) bool { return x.Name == p.Name })
	if i < 0 {
		r.list = append(r.list, *p)
		return true
	}
	p.Took = max(p.Took, r.list[i].Took)
	r.list = append(slices.Delete(r.list, i, i+1), *p)
	return false
}

// compile files the times of compilation that the engine's line names, none if there was none.
func (r *reader) compile(m []string, none bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compiled.Known = r.compiled.Known || none || m != nil
	if m != nil {
		r.compiled.Whole = max(r.compiled.Whole, seconds(m[1]))
		r.compiled.LanguageModel = max(r.compiled.LanguageModel, seconds(m[2]))
		r.compiled.Encoder = max(r.compiled.Encoder, seconds(m[3]))
	}
	if r.compiled.Encoder == 0 {
		r.compiled.LanguageModel = r.compiled.Whole
	}
}

// phases are those so far, and the compilation: as the engine's line names it, else as the compiler's own does.
func (r *reader) phases() ([]Phase, Compilation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.compiled
	if c.Whole == 0 {
		i := slices.IndexFunc(r.list, func(p Phase) bool { return p.Name == "torch_compile" && p.Took > 0 })
		switch {
		case i >= 0:
			c = Compilation{Known: true, Whole: r.list[i].Took, LanguageModel: r.list[i].Took}
		case r.unread:
			c = Compilation{}
		}
	}
	return slices.Clone(r.list), c
}

// seconds is a time as the log writes it, 0 for none.
func seconds(text string) time.Duration {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s < 0 || s > 1e6 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// describe tells a person that the phase has ended.
func (p Phase) describe() string {
	words := ""
	for _, e := range endings {
		if e.name == p.Name {
			words = e.words
		}
	}
	if p.Took == 0 {
		return words
	}
	return fmt.Sprintf("%s in %s,", words, inSeconds(p.Took))
}
