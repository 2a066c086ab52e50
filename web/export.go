package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	figures "loupe/analysis/facts" // a page has facts of its own here
	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/insight"
	"loupe/value/timeline"

	"github.com/klauspost/compress/gzip"
)

// serveExport sends a source as one file. It asks all other questions, and is
// itself none of them.
func (s *Server) serveExport(w http.ResponseWriter, r *http.Request) {
	q := &query{r, r.URL.Query()}
	sub, err := s.sources.find(q.Get("s"))
	if err != nil {
		fail(w, err)
		return
	}
	span, err := q.span(timeline.Span{})
	if err != nil {
		fail(w, err)
		return
	}
	var b bytes.Buffer
	if err := s.export(r.Context(), &b, []*subject{sub}, span); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="loupe.html"`)
	_ = writeBytes(w, q, "text/html; charset=utf-8", b.Bytes()) // the browser may be gone
}

// Export writes one file with the pages and all that they show at first of the
// sources, to be read without a server. It returns what the rules have found.
func Export(ctx context.Context, w io.Writer, opts Options) (found []insight.Finding, err error) {
	opts.Sources = slices.Clone(opts.Sources)
	for i := range opts.Sources {
		opts.Sources[i].Changed, opts.Sources[i].folds = nil, true
	}
	s, err := newServer(ctx, "", opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.export(ctx, w, s.sources.all, timeline.Span{}); err != nil {
		return nil, err
	}
	unread := &UnreadError{}
	for _, sub := range s.sources.all {
		seen, err := sub.examined(ctx)
		switch _, refused := errors.AsType[*refusal](err); {
		case err == nil:
			found = append(found, seen.findings...)
		case !refused: // else it is not of a kind that rules look at
			unread.All = append(unread.All, err)
		}
	}
	if len(unread.All) > 0 {
		return found, unread
	}
	return found, nil
}

// UnreadError says what of the sources of a file could not be read. The file is
// written, and says it too.
type UnreadError struct{ All []error }

// Error returns all reasons.
func (e *UnreadError) Error() string { return errors.Join(e.All...).Error() }

// held is an answer in a file: a value, bytes, or why there is none.
type held struct {
	Value   json.RawMessage `json:"v,omitempty"`
	Error   string          `json:"e,omitempty"`
	Missing bool            `json:"m,omitempty"`
}

// heldData is everything that a file holds beside the pages.
type heldData struct {
	// Made is when the file was written, Version that of loupe.
	Made    string `json:"made"`
	Version string `json:"version"`
	// Answers are found by the question, see heldKey.
	Answers map[string]held `json:"answers"`
	// Tiles are those of each source's timeline, as timeline/tiles sends them. In the JSON
	// is where they begin and end in the bytes behind it.
	Tiles map[string][]byte `json:"-"`
}

// finenesses are parameters that say how finely something is to be drawn or
// which part of it is wanted first: they do not change what is true.
var finenesses = []string{"width", "w", "columns", "version", "since", "keys"}

// packing is how hard the file is packed: a higher level makes it hardly smaller, and costs
// up to twice as much.
const packing = 1

// write writes the length of the JSON of d in four bytes, the JSON, and the tiles. The
// JSON is what package json would write, which looks at every byte of each answer once
// more, to find that all of it is well.
func (d *heldData) write(w io.Writer) error {
	var b bytes.Buffer
	text := func(v any) {
		data, _ := json.Marshal(v) // a BUG: strings, numbers and bools always can be
		b.Write(data)
	}
	list := func(name string, keys []string, value func(key string)) {
		b.WriteString(`,"` + name + `":{`)
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			text(k)
			b.WriteByte(':')
			value(k)
		}
		b.WriteByte('}')
	}
	b.WriteString(`{"made":`)
	text(d.Made)
	b.WriteString(`,"version":`)
	text(d.Version)
	list("answers", slices.Sorted(maps.Keys(d.Answers)), func(k string) {
		h := d.Answers[k]
		if h.Value == nil || h.Error != "" || h.Missing {
			text(h)
			return
		}
		b.WriteString(`{"v":`)
		b.Write(bytes.TrimSpace(h.Value))
		b.WriteByte('}')
	})
	sources, at := slices.Sorted(maps.Keys(d.Tiles)), 0
	list("tiles", sources, func(k string) {
		text([]int{at, at + len(d.Tiles[k])})
		at += len(d.Tiles[k])
	})
	b.WriteByte('}')
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(b.Len()))); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	for _, k := range sources {
		if _, err := w.Write(d.Tiles[k]); err != nil {
			return err
		}
	}
	return nil
}

// heldKey names a question for the file; api/held.ts has the same.
func heldKey(name string, params url.Values) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(params)) {
		if v := params.Get(k); v != "" && !slices.Contains(finenesses, k) {
			parts = append(parts, k+"="+v)
		}
	}
	return name + "?" + strings.Join(parts, "&")
}

// exporter asks the questions that pages ask.
type exporter struct {
	*Server
	data heldData
}

type handedOnKey struct{}

// handedOn tells that an answer becomes part of a file that people hand on: what a
// program knew is left out of it.
func handedOn(ctx context.Context) bool { return ctx.Value(handedOnKey{}) != nil }

// recorder keeps an answer instead of sending it.
type recorder struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header {
	if w.head == nil {
		w.head = http.Header{}
	}
	return w.head
}

func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

func (w *recorder) WriteHeader(status int) { w.status = status }

// ask keeps the answer to a question, and reads it into v unless that is nil.
func (x *exporter) ask(ctx context.Context, name string, v any, params ...string) {
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	key := heldKey(name, q)
	if _, done := x.data.Answers[key]; done {
		return
	}
	e, ok := endpoints[name]
	if !ok {
		return
	}
	ctx, release := holding(context.WithValue(ctx, handedOnKey{}, true), ctx)
	defer release()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/?"+q.Encode(), nil)
	if err != nil {
		return // a BUG in a name, which the view then tells
	}
	w := &recorder{status: http.StatusOK}
	err = func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("loupe has a mistake here: %v", p)
			}
		}()
		return e.serve(ctx, x.Server, w, &query{r, q})
	}()
	if err != nil {
		fail(w, err)
	}
	if w.status != http.StatusOK {
		var p problem
		if json.Unmarshal(w.body.Bytes(), &p) == nil && p.Error != "" {
			x.data.Answers[key] = held{Error: p.Error, Missing: p.Missing}
		}
		return
	}
	x.data.Answers[key] = held{Value: slices.Clone(w.body.Bytes())}
	if v != nil {
		_ = json.Unmarshal(w.body.Bytes(), v) // what is not read is not asked about
	}
}

// export writes the file. With a span it holds that part of the time as well.
func (s *Server) export(ctx context.Context, w io.Writer, subjects []*subject, span timeline.Span) error {
	x := &exporter{s, heldData{Made: time.Now().Format(time.RFC3339), Version: s.opts.Version, Answers: map[string]held{}, Tiles: map[string][]byte{}}}
	list := &sourceList{Version: s.opts.Version, Sources: []sourceItem{}}
	title := ""
	for _, sub := range subjects {
		list.Sources = append(list.Sources, sourceItem{ID: sub.id, Name: sub.Name, Kind: sub.Kind})
		title = strings.TrimPrefix(title+", "+sub.Name, ", ")
		x.source(ctx, sub, timeline.Span{})
		if span.Len() > 0 {
			x.source(ctx, sub, span)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	x.data.Answers[heldKey("sources", nil)] = held{Value: data}
	x.ask(ctx, "rules", nil)
	x.ask(ctx, "sources/briefs", nil, "n", "0")
	return x.write(w, title)
}

// source asks what the views ask of a source, all of it or a part of its time.
func (x *exporter) source(ctx context.Context, s *subject, span timeline.Span) {
	var info sourceInfo
	x.ask(ctx, "source", &info, "s", s.id)
	info.Axis, _ = s.axis(ctx) // where it cannot be told the source said why
	within := []string{"s", s.id}
	drawn := info.Axis
	if span.Len() > 0 {
		within = append(within, "t0", fmt.Sprint(int64(span.Start)), "t1", fmt.Sprint(int64(span.End)))
		drawn = span
	}
	if in, err := s.session(ctx); err == nil {
		wants := append(figures.Wants(in), sched.MutatorSteps, sched.LastMoment, sched.WholeProfiles)
		if span.Len() > 0 {
			wants = append(wants, sched.AllStays)
		}
		_ = s.sweep(ctx, nil, wants...) // what is wrong with the trace the answers say
	}
	ask := func(name string, v any, more ...string) {
		x.ask(ctx, name, v, append(slices.Clone(within), more...)...)
	}
	x.ask(ctx, "findings", nil, "s", s.id)
	x.ask(ctx, "cards", nil, "s", s.id)
	x.ask(ctx, "incomplete", nil, "s", s.id)
	for _, name := range []string{"overview/figures", "overview/time", "overview/top", "overview/said", "gc", "gc/cycles", "gc/mmu", "gc/whatif", "sched/trace", "sched/samples", "requests", "timeline/stats", "goroutines/shots", "goroutines/trends", "benchmarks"} {
		ask(name, nil)
	}
	if drawn.Len() > 0 {
		x.ask(ctx, "lanes", nil, "s", s.id, "keys", strings.Join(slices.Sorted(maps.Keys(lanesOf)), ",")+",vars", "w", "1200", "t0", fmt.Sprint(int64(drawn.Start)), "t1", fmt.Sprint(int64(drawn.End)))
	}
	var runs loadList
	x.ask(ctx, "load/runs", &runs, "s", s.id)
	for i, r := range runs.Runs {
		if i == 8 {
			break
		}
		ask("load/run", nil, "phase", r.Phase, "columns", "240")
		ask("load/met", nil, "phase", r.Phase)
		ask("load/requests", nil, "phase", r.Phase, "n", "20")
	}
	for _, by := range []string{"stack", "state", "creator", "function"} {
		var v goroutineView
		ask("goroutines/view", &v, "by", by)
		for _, row := range v.Rows[:min(len(v.Rows), 12)] {
			ask("goroutines/group", nil, "by", by, "key", row.Key)
		}
	}
	ask("goroutines/range", nil, "by", "function")
	ask("goroutines/range", nil, "by", "creator")
	var ends []coreEnd
	x.ask(ctx, "core/ends", &ends, "s", s.id)
	for _, end := range ends {
		x.ask(ctx, "heap/types", nil, "s", s.id, "core", end.Path)
		x.ask(ctx, "heap/strings", nil, "s", s.id, "core", end.Path) // the file says why it has none
	}
	var kinds []weightKind
	x.ask(ctx, "profile/kinds", &kinds, "s", s.id)
	for i, k := range kinds {
		if i == 12 {
			break
		}
		ask("profile/flame", nil, "p", k.Key, "type", k.Type, "width", "1400")
		ask("profile/top", nil, "p", k.Key, "type", k.Type)
	}
	if span.Len() == 0 {
		x.tiles(ctx, s)
	}
}

const (
	exportLanes = 400     // of a timeline, those with the most spans
	exportTiles = 4 << 20 // bytes of its tiles before they are packed
	exportWidth = 1500    // buckets over the whole time on the finest level that is there
)

// tiles keeps the timeline as it looks at first, and coarser.
func (x *exporter) tiles(ctx context.Context, s *subject) {
	x.ask(ctx, "timeline/lanes", nil, "s", s.id, "n", fmt.Sprint(exportLanes), "order", "spans")
	x.ask(ctx, "timeline/lanes", nil, "s", s.id, "n", "1000", "kinds", "proc,thread,gc,counter,latency")
	t, err := s.traced(ctx)
	if err != nil {
		return // the question for its lanes has said why
	}
	few, _ := t.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindProc, tiles.KindThread, tiles.KindGC, tiles.KindCounter, tiles.KindLatency}}, 0, 1000)
	most, _ := t.Lanes(tiles.Filter{Order: tiles.BySpans}, 0, exportLanes)
	all, n, finest := make([]byte, 4), 0, tiles.Finest(t.Span().Len(), exportWidth)
	seen := map[tiles.LaneID]bool{}
	for _, l := range append(few, most...) {
		if seen[l.ID] {
			continue
		}
		seen[l.ID] = true
		more, count := t.AppendLane(all, l.ID, finest)
		if len(more) > exportTiles {
			break
		}
		all, n = more, n+count
	}
	binary.LittleEndian.PutUint32(all, uint32(n)) // in front is how many there are
	x.data.Tiles[s.id] = all
}

// write puts the file together. Everything that programs or files have named is
// in the packed data, where no browser reads HTML; the policy lets the one script
// run that is there, and nothing be loaded.
func (x *exporter) write(w io.Writer, title string) error {
	script, err := fs.ReadFile(x.pages, "app.js")
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(x.pages, "theme.css")
	if err != nil {
		return err
	}
	code := strings.ReplaceAll(string(script), "</script", `<\/script`)
	sum := sha256.Sum256([]byte(code))
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, packing)
	if err != nil {
		return err
	}
	if err := errors.Join(x.data.write(z), z.Close()); err != nil {
		return fmt.Errorf("cannot pack the answers: %w", err)
	}
	_, err = fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s · loupe</title>
<style>%s</style>
<body>
<div id="app"><noscript>This report needs JavaScript. The same on the terminal: loupe report FILE</noscript></div>
<div id="said" class="unseen" aria-live="polite"></div>
<script type="application/octet-stream" id="held">%s</script>
<script type="module">%s</script>
`, base64.StdEncoding.EncodeToString(sum[:]), html.EscapeString(title), strings.ReplaceAll(string(style), "</style", `<\/style`), base64.StdEncoding.EncodeToString(packed.Bytes()), code)
	return err
}
