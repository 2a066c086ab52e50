package cli

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"loupe/exectrace"
	"loupe/report"
	"loupe/system"
	"loupe/tiles"
	"loupe/unit"
)

// traceIndex makes the timeline of a trace and keeps it beside the trace, so
// that it can be drawn at any zoom without reading the trace again; or shows
// the one that is there.
func traceIndex(e *env, f *traceFlags, args []string) error {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil {
		return usagef("-filter: an index is of the whole trace")
	}
	data, size, done, err := traceBytes(e, name)
	if err != nil {
		return err
	}
	defer done()
	began := time.Now()
	key, err := tiles.Identify(data, size)
	if err != nil {
		return err
	}
	path := name + ".loupe"
	set, from, closeSet := openIndex(name, key)
	made := set == nil
	var events int64
	if made {
		limit := int64(f.limit)
		if limit == 0 {
			limit = max(1<<20, size/6) // an event of a trace has about six bytes
		}
		if set, events, err = buildIndex(name, data, size, tiles.Options{Key: key, Memory: limit}); err != nil {
			return err
		}
		if path, err = keepIndex(indexPaths(name), set); err != nil {
			return fmt.Errorf("cannot keep the index of %s: %w", name, err)
		}
	} else {
		defer closeSet()
		path = from
	}
	return f.write(e, indexPage(set, path, size, events, made, time.Since(began)))
}

// openIndex opens the index of a trace, if there is one that fits.
func openIndex(name string, key tiles.Key) (set *tiles.Set, path string, done func() error) {
	for _, path := range indexPaths(name) {
		data, done, err := system.Map(path) // an index is never written in place
		if err != nil {
			continue
		}
		if set, err := tiles.Open(data); err == nil && set.Key() == key {
			return set, path, done
		}
		done()
	}
	return nil, "", nil
}

// indexPaths are where the index of a trace may lie: beside it, or in the
// user's cache.
func indexPaths(name string) []string {
	paths := []string{name + ".loupe"}
	abs, err := filepath.Abs(name)
	if err != nil {
		return paths
	}
	if dir, err := os.UserCacheDir(); err == nil {
		sum := sha256.Sum256([]byte(abs))
		paths = append(paths, filepath.Join(dir, "loupe", "index", fmt.Sprintf("%x.loupe", sum[:16])))
	}
	return paths
}

// buildIndex reads the trace once.
func buildIndex(name string, data io.ReaderAt, size int64, opts tiles.Options) (*tiles.Set, int64, error) {
	t, err := exectrace.OpenReaderAt(data, size, exectrace.Options{})
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %s: %w", name, err)
	}
	if opts.Older, err = tiles.FindOlder(t); err != nil {
		return nil, 0, err
	}
	r := t.Reader()
	b := tiles.NewBuilder(r, opts)
	events := int64(0)
	for r.Next() {
		events++
		b.Event(r.Event())
	}
	if err := r.Err(); err != nil {
		return nil, 0, err
	}
	return b.Finish(), events, nil
}

// keepIndex writes the index to the first of some paths where that can be.
func keepIndex(paths []string, set *tiles.Set) (string, error) {
	var first error
	for _, path := range paths {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = writeFile(path, func(w *bufio.Writer) error {
				_, err := set.WriteTo(w)
				return err
			})
		}
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// webIndexes are the timelines of one source of the pages, whose traces have
// names by their entries.
type webIndexes struct {
	name func(entry string) string

	mu   sync.Mutex
	done []func() error
}

// Find implements [web.Index].
func (x *webIndexes) Find(entry string, key tiles.Key) *tiles.Set {
	set, _, done := openIndex(x.name(entry), key)
	if set != nil {
		x.mu.Lock()
		x.done = append(x.done, done)
		x.mu.Unlock()
	}
	return set
}

// Keep implements [web.Index]. Who only looks at a file does not want another
// one beside it: the user's cache comes first.
func (x *webIndexes) Keep(entry string, set *tiles.Set) *tiles.Set {
	paths := indexPaths(x.name(entry))
	slices.Reverse(paths)
	path, err := keepIndex(paths, set)
	if err != nil {
		return nil
	}
	if path == paths[0] && len(paths) > 1 {
		pruneOldest(filepath.Dir(path), maxIndexes)
	}
	return x.Find(entry, set.Key())
}

// maxIndexes is how many indexes are kept in the user's cache. One has about
// half the bytes of its trace, of a large one a quarter.
const maxIndexes = 30

func (x *webIndexes) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []error
	for _, done := range x.done {
		all = append(all, done())
	}
	x.done = nil
	return errors.Join(all...)
}

// indexPage says what the index holds.
func indexPage(set *tiles.Set, path string, traceBytes, events int64, made bool, took time.Duration) *report.Trace {
	how := "opened"
	if made {
		how = "made"
	}
	facts := []report.Fact{
		{Key: "path", Head: "index", Value: path},
		{Key: "took_ns", Head: how + " in", Value: took},
		{Key: "size", Head: "size", Value: report.Bytes(set.Size())},
		{Key: "share", Head: "of the trace", Value: report.Share(float64(set.Size()) / float64(max(1, traceBytes)))},
		{Key: "span_ns", Head: "time", Value: set.Span().Len()},
	}
	if events > 0 {
		facts = append(facts, report.Fact{Key: "bytes_per_event", Head: "bytes an event", Value: float64(set.Size()) / float64(events)})
	}
	kinds := &report.Sheet{Key: "lanes", Title: "Lanes", Columns: []report.Column{{Key: "kind", Head: "of"}, {Key: "lanes", Head: "lanes"}, {Key: "spans", Head: "spans"}, {Key: "pyramids", Head: "with a pyramid"}, {Key: "exact", Head: "exact"}}}
	for _, k := range []tiles.Kind{tiles.KindProc, tiles.KindThread, tiles.KindGC, tiles.KindGroup, tiles.KindGoroutine, tiles.KindCounter, tiles.KindLatency} {
		page, total := set.Lanes(tiles.Filter{Kinds: []tiles.Kind{k}}, 0, set.Len())
		spans, pyramids, exact := int64(0), 0, 0
		for _, l := range page {
			spans += int64(l.Spans)
			if l.Base >= 0 {
				pyramids++
			}
			if l.Exact {
				exact++
			}
		}
		if total > 0 {
			kinds.Rows = append(kinds.Rows, []any{k.String(), total, spans, pyramids, exact})
		}
	}
	if d := set.Dropped(); d.Goroutines > 0 {
		kinds.Notes = append(kinds.Notes, fmt.Sprintf("%s goroutines have no lane of their own, to keep the index small; those of their functions have them. -max-memory makes room for more.", unit.Count(int64(d.Goroutines))))
	}
	return &report.Trace{Facts: facts, Sheets: []*report.Sheet{kinds}}
}
