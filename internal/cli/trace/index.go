package trace

import (
	"fmt"
	"io"
	"time"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/kept"
	"loupe/report"
	"loupe/value/unit"
)

// traceIndex makes the timeline of a trace and keeps it beside the trace, so
// that it can be drawn at any zoom without reading the trace again; or shows
// the one that is there.
func traceIndex(e *command.Env, f *traceFlags, args []string) error {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil {
		return command.Usagef("-filter: an index covers the whole trace")
	}
	in, err := door.TakeOne(e, f.door(e), name)
	if err != nil {
		return err
	}
	if !in.Held() {
		return command.Usagef("an index is stored next to its trace, but %s is a stream: save it to a file", in.Name)
	}
	data, size, done, err := door.TraceBytes(in)
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
	if t, err := exectrace.OpenReaderAt(data, size, exectrace.Options{}); err == nil { // else there is no index either
		tellMissing(e, name, t)
	}
	set, from, closeSet := kept.OpenIndex(name, key)
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
		if path, err = kept.KeepIndex(kept.IndexPaths(name), set); err != nil {
			return fmt.Errorf("cannot keep the index of %s: %w", name, err)
		}
	} else {
		defer closeSet()
		path = from
	}
	return f.write(e, indexPage(set, path, size, events, made, time.Since(began)))
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
	pass := sweep.New(t)
	b := tiles.NewBuilder(pass.Reader(), opts)
	pass.Join(b)
	if err := pass.Run(nil); err != nil {
		return nil, 0, err
	}
	return b.Finish(), pass.Events(), nil
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
		{Key: "of_trace", Head: "of the trace", Value: report.Share(float64(set.Size()) / float64(max(1, traceBytes)))},
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
		kinds.Notes = append(kinds.Notes, fmt.Sprintf("%s goroutines have no lane of their own, to keep the index small; they are in the lanes of their functions. -max-memory makes room for more.", unit.Count(int64(d.Goroutines))))
	}
	return &report.Trace{Facts: facts, Sheets: []*report.Sheet{kinds}}
}
