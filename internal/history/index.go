package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"benchtop/export"
	"benchtop/internal/compare"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// version is that of the index. Another one is built anew.
const version = 3

// file is what the index knows of a file, a line of it.
type file struct {
	// Path is below the folder. The line holds as long as Size and Changed, in nanoseconds, are those of the file.
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Changed int64  `json:"changed"`
	Runs    []Run  `json:"runs,omitempty"`
	// Why it has no runs, "" if it has.
	Why  string `json:"why,omitempty"`
	line []byte
	// unread: the file could not be read, which may be another time, so that no line is kept.
	unread bool
}

// headOf is the first line of the index of a folder.
func headOf(dir string) []byte {
	head, _ := json.Marshal(map[string]any{"benchtop_history": version, "folder": dir})
	return head
}

// readIndex reads the index of a folder, with the number of its lines. Of a file the last line counts. Lines that are
// damaged are missing, as is all of another version.
func readIndex(path, dir string) (known map[string]file, n int) {
	data, _ := os.ReadFile(path)
	lines := bytes.Split(data, []byte("\n"))
	if !bytes.Equal(lines[0], headOf(dir)) {
		return nil, 0
	}
	all := make([]file, len(lines))
	parallel.Do(runtime.GOMAXPROCS(0), len(lines), func(i int) bool {
		if json.Unmarshal(lines[i], &all[i]) == nil {
			all[i].line = lines[i]
		}
		return true
	})
	known = make(map[string]file, len(all))
	for _, f := range all {
		if f.line != nil {
			known[f.Path] = f
		}
	}
	return known, len(lines)
}

// writeIndex writes the index of a folder as a whole, or appends what is new to it.
func writeIndex(path, dir string, all []file, whole bool) error {
	var lines [][]byte
	if whole {
		lines = [][]byte{headOf(dir)}
	}
	for i := range all {
		switch fresh := all[i].line == nil; {
		case all[i].unread, !fresh && !whole:
			continue
		case fresh:
			all[i].line, _ = json.Marshal(&all[i])
		}
		lines = append(lines, all[i].line)
	}
	text := bytes.Join(lines, []byte("\n"))
	switch {
	case whole:
		return files.Write(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	case len(lines) == 0:
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(append([]byte("\n"), text...))
		err = errors.Join(err, f.Close())
	}
	return err
}

// look brings what the index knows of files up to date: only those that are new or changed are read. The order is that
// of the paths.
func look(dir string, paths []string, known map[string]file) []file {
	all := make([]file, len(paths))
	var large sync.Mutex // held while a large file is read, so that few are in memory
	parallel.Do(runtime.GOMAXPROCS(0), len(paths), func(i int) bool {
		f := file{}
		f.Path, _ = filepath.Rel(dir, paths[i])
		if info, err := os.Stat(paths[i]); err == nil {
			f.Size, f.Changed = info.Size(), info.ModTime().UnixNano()
		}
		if old, ok := known[f.Path]; ok && old.Size == f.Size && old.Changed == f.Changed {
			all[i] = old
			return true
		}
		if f.Size > largeBytes {
			large.Lock()
			defer large.Unlock()
		}
		f.read(paths[i])
		all[i] = f
		return true
	})
	return all
}

const largeBytes = 64 << 20

// read reads the runs of a file.
func (f *file) read(path string) {
	all, err := files.ReadObjects(path)
	f.unread = errors.As(err, new(*fs.PathError))
	for i, raw := range all {
		r, problem := export.ReadResult(raw)
		if problem != nil {
			err = cmp.Or(err, problem)
			continue
		}
		name := strings.TrimSuffix(filepath.ToSlash(f.Path), ".json")
		if len(all) > 1 {
			name = fmt.Sprintf("%s #%d", name, i+1)
		}
		run := Run{Name: text.Clean(name), Started: r.Plan.Started, ID: text.Clean(compare.Identity(&r))}
		if run.Started.IsZero() {
			run.Started = time.Unix(0, f.Changed)
		}
		run.Values = append(flatten([]byte{'{'}, "", &r, raw), '}')
		if part := run.Text("benchtop.spec.part"); part != "" {
			err = cmp.Or(err, fmt.Errorf("part %s of a run; 'benchtop report' joins the journals of all parts", part))
			continue
		}
		workload, load := compare.Workload(path, raw, &r.Plan)
		run.Workload, run.Load = text.Clean(r.Plan.ModelID+", "+workload), load
		if own := run.Text("benchtop.load"); own != "" {
			if run.Load = own; r.Plan.Rate.Unlimited() && r.Plan.MaxConcurrency == 0 {
				run.Workload += ", " + own // of stages, a ramp or a search
			}
		}
		f.Runs = append(f.Runs, run)
	}
	if len(f.Runs) == 0 {
		f.Why = "no results in it"
		if err != nil {
			f.Why = text.Clip(strings.TrimLeft(strings.TrimPrefix(err.Error(), path), ":, "), mostText)
		}
	}
}

// Bounds of a run in the index: texts that are longer are left out, as are values beyond so many bytes.
const (
	mostText   = 300
	mostValues = 32 << 10
)

// flatten appends the values of an object that are texts, numbers or truths, by name; those within the objects
// "benchtop", "spec" and "server" have the names of these in front. Latencies that no request had are left out.
func flatten(dst []byte, prefix string, of *metrics.Report, object []byte) []byte {
	for quoted, value := range jsonscan.Members(object) {
		name := text.Clean(jsonscan.Text(quoted))
		switch {
		case value[0] == '{' && (prefix == "" && name == "benchtop" ||
			prefix == "benchtop." && (name == "spec" || name == "server")):
			dst = flatten(dst, prefix+name+".", of, value)
		case value[0] == '{', value[0] == '[', value[0] == 'n', len(quoted)+len(value) > mostText,
			len(dst) > mostValues, unobserved(of, name, string(value)):
		default:
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			if jsonscan.IsString(value) {
				value = jsonscan.Quote(text.Clean(jsonscan.Text(value)))
			}
			dst = append(append(append(dst, jsonscan.Quote(prefix+name)...), ':'), value...)
		}
	}
	return dst
}

// unobserved reports whether a value is the 0 of a latency that no request of the run had. A wait for a slot may be 0.
func unobserved(of *metrics.Report, key, value string) bool {
	key, inMS := strings.CutSuffix(key, "_ms")
	if v, ok := Number(value); !ok || v != 0 || !inMS {
		return false
	}
	l, known := metrics.LatencyOf(key[strings.IndexByte(key, '_')+1:])
	return of.Completed == 0 || known && l != metrics.SlotWait && of.Statistics[l].Mean == 0
}
