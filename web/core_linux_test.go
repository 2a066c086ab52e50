//go:build linux && (amd64 || arm64)

package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loupe/analysis/explain"
	"loupe/analysis/heap"
	"loupe/analysis/postmortem"
	"loupe/analysis/postmortem/postmortemtest"
	"loupe/format/dump"
	"loupe/insight"
	"loupe/report"
	"loupe/session"
)

// heldCores are cores as the command line opens them.
type heldCores struct {
	fstest.MapFS
	cores map[string]*postmortem.Core
}

func (c heldCores) Readable(name string) bool { return c.cores[name].NotGo == nil }

func (c heldCores) Goroutines(name string) (*dump.File, error) { return c.cores[name].Goroutines() }

// joined opens a core; without a program it stands alone.
func joined(t *testing.T, name, exe string) *postmortem.Core {
	t.Helper()
	if exe == "" {
		return postmortem.Alone(name, postmortemtest.Open(t, name), errors.New("its program is not there"))
	}
	c, err := postmortemtest.Join(t, name, exe)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sourceOfCores is a source of cores, each by the name that it gets.
func sourceOfCores(cores map[string]*postmortem.Core, names ...string) Source {
	files := heldCores{fstest.MapFS{}, cores}
	for name := range cores {
		files.MapFS[name] = &fstest.MapFile{Data: []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00" + strings.Repeat("\x00", 46))}
	}
	return Source{Name: "cores", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, known, err := session.Loose(files, names)
		return &Opened{Session: s, Files: known, Cores: cores, Explain: func(entry string, f *dump.File) *report.Explained {
			by := cores[entry].Explain(f, explain.Sources{})
			if by == nil {
				return nil
			}
			return &report.Explained{By: by, Binary: "held"}
		}}, err
	}}
}

// TestCores: the end, goroutines with arguments, the heap, what holds it, texts and
// growth, equal to what loupe core prints of the same cores.
func TestCores(t *testing.T) {
	dir := t.TempDir()
	exe := postmortemtest.Build(t, dir)
	p := postmortemtest.Start(t, exe, "panic")
	p.Failing()
	p.Capture(filepath.Join(dir, "end"))
	p = postmortemtest.Start(t, exe)
	p.Capture(filepath.Join(dir, "old"))
	p.Grow()
	p.Capture(filepath.Join(dir, "new"))
	cores := map[string]*postmortem.Core{}
	for _, name := range []string{"end", "old", "new"} {
		cores[name] = joined(t, filepath.Join(dir, name), exe)
	}
	pages := pagesFrom(t, sourceOfCores(cores, "end", "old", "new"))

	t.Run("end", func(t *testing.T) { endsAsPrinted(t, pages, cores["end"]) })
	t.Run("goroutines", func(t *testing.T) { goroutinesOfCore(t, pages, cores["end"]) })
	t.Run("heap", func(t *testing.T) { heapAsPrinted(t, pages, cores["new"]) })
	t.Run("growth", func(t *testing.T) { growthAsPrinted(t, pages, cores["old"], cores["new"]) })
	t.Run("handed on", func(t *testing.T) { nothingHandedOn(t, sourceOfCores(cores, "end", "new")) })
	t.Run("forgotten", func(t *testing.T) { heapForgotten(t, pages) })
}

func endsAsPrinted(t *testing.T, p *pages, c *postmortem.Core) {
	var ends []coreEnd
	p.get("core/ends?s=1", &ends)
	if len(ends) != 3 || ends[0].Path != "end" || ends[1].Grade != "info" {
		t.Fatalf("the cores are %+v", ends)
	}
	e := ends[0]
	if e.Grade != "critical" || !strings.Contains(e.Message, "no session left: <b>pool <i>empty</i></b>") || e.Trouble != "" || e.NoHeap != "" || e.Next != "" {
		t.Errorf("it ended so: %+v", e)
	}
	if e.Thread == nil || !e.Thread.Dying || e.Thread.Goroutine == 0 || e.Thread.Registers != nil {
		t.Fatalf("the thread that ended it is %+v", e.Thread)
	}
	seen := false
	for _, f := range e.Thread.Frames {
		seen = seen || f.Function == "runtime.printpanics" && f.Line > 0
	}
	if !seen {
		t.Errorf("it does not say why it fails: %+v", e.Thread.Frames)
	}
	var b bytes.Buffer
	if err := report.WriteCore(&b, report.NewCore(c), report.Style{Width: 4000}); err != nil {
		t.Fatal(err)
	}
	for _, f := range e.Facts {
		if !strings.Contains(b.String(), f.Text) {
			t.Errorf("loupe core does not print %q", f.Text)
		}
	}
	var found []insight.Finding
	p.get("findings?s=1", &found)
	if !slices.ContainsFunc(found, func(f insight.Finding) bool {
		return f.Rule == "FA01" && f.State == insight.Found && strings.Contains(f.Summary, "main.fail")
	}) {
		t.Error("no rule says that the program has failed")
	}
	var threads threadPage
	p.get("core/threads?s=1&core=end", &threads)
	if threads.Total != len(c.File.Threads) || len(threads.Threads) != threads.Total || len(threads.Threads[0].Registers) == 0 {
		t.Errorf("%d threads of %d", len(threads.Threads), threads.Total)
	}
	if w := p.ask(t.Context(), "core/threads?s=1&core=none", nil); w.Code != http.StatusNotFound {
		t.Errorf("a core that is not there: %d", w.Code)
	}
}

func goroutinesOfCore(t *testing.T, p *pages, c *postmortem.Core) {
	var shots []shotItem
	p.get("goroutines/shots?s=1", &shots)
	if len(shots) != 3 || shots[0].Kind != "core" || shots[0].Name != "end" {
		t.Fatalf("the shots are %+v", shots)
	}
	file, err := c.Goroutines()
	if err != nil {
		t.Fatal(err)
	}
	var v goroutineView
	p.get("goroutines/view?s=1&vs=none", &v)
	var groups int
	var full struct{ Groups []struct{ Count int64 } }
	data, err := json.Marshal(report.StacksJSON(&report.Stacks{Name: "old", File: file}))
	if err == nil {
		err = json.Unmarshal(data, &full)
	}
	if groups = len(full.Groups); err != nil || v.Total != file.Goroutines() || len(v.Rows) != groups {
		t.Errorf("%d goroutines in %d groups, want %d in %d: %v", v.Total, len(v.Rows), file.Goroutines(), groups, err)
	}
	if v.Panic == nil || v.Panic.First == nil || !strings.Contains(v.Panic.Message, "no session left") {
		t.Fatalf("the panic is %+v", v.Panic)
	}
	told := ""
	for _, f := range v.Panic.First.Frames {
		for _, x := range f.Params {
			told += fmt.Sprintln(f.Function, x.Name, x.Type, x.Text, x.Sure)
		}
	}
	if !strings.Contains(told, "main.fail r *main.request 0x") || !strings.Contains(told, `{id: 42, name: "the very last request"} true`) {
		t.Errorf("its arguments are\n%s", told)
	}
	p.get("goroutines/view?s=1&of=new", &v)
	if v.Of.Name != "new" || v.Panic != nil {
		t.Errorf("the core that is named is %+v", v.Of)
	}
	p.get("goroutines/view?s=1&vs=none&q="+url.QueryEscape("func:main.serve"), &v)
	var group groupView
	p.get("goroutines/group?s=1&vs=none&key="+v.Rows[0].Key, &group)
	var one goroutineText
	p.get(fmt.Sprintf("goroutines/one?s=1&vs=none&g=%d", group.Places[0]), &one)
	if v.Total != 7 || !strings.Contains(fmt.Sprint(one.Frames), `name: "request <i>`) {
		t.Errorf("%d serve, the first is %+v", v.Total, one)
	}
}

// shows wants a text of the command line to have all cells of a table, row by row.
func shows(t *testing.T, text string, of *table, rows int) {
	t.Helper()
	for _, row := range of.Shown[:min(rows, len(of.Shown))] {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(strings.Join(row, " ")), " ")) {
			t.Errorf("%s: loupe core does not print %q", of.Key, row)
		}
	}
}

func heapAsPrinted(t *testing.T, p *pages, c *postmortem.Core) {
	h, err := c.Heap(nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Graph()
	if err != nil {
		t.Fatal(err)
	}
	printed := func(change func(*report.Heap)) string {
		page := &report.Heap{Name: c.Name, Totals: h.Totals()}
		change(page)
		var b bytes.Buffer
		if err := report.WriteHeap(&b, page, report.Style{Width: 4000}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var page heapPage
	p.get("heap/types?s=1&core=new", &page)
	text := printed(func(x *report.Heap) { x.Rows = h.Histogram() })
	shows(t, text, page.Sums, 3)
	shows(t, text, page.Types, 1000)
	if len(page.Types.Shown) != len(h.Histogram()) || page.Holders != nil {
		t.Errorf("%d types, want %d", len(page.Types.Shown), len(h.Histogram()))
	}
	p.get("heap/types?s=1&core=new&retained=1", &page)
	text = printed(func(x *report.Heap) { x.Retained, x.Rows, x.Holders = true, g.ByType(), g.Holders(true) })
	shows(t, text, page.Types, 1000)
	shows(t, text, page.Holders, 1000)

	var held heldView
	p.get("heap/holds?s=1&core=new&what=main.session", &held)
	text = printed(func(x *report.Heap) {
		x.Asked, x.Ways, x.Objects = "main.session", g.Ways("main.session"), g.Largest("main.session", 10)
	})
	if len(held.Ways) != 1 || held.Ways[0].Title != "4,000 objects, 93.8 KiB" || held.Ways[0].Root != "global main.sessions" || !strings.Contains(text, held.Ways[0].Title) {
		t.Errorf("sessions are held so: %+v, want\n%s", held, text)
	}
	shows(t, text, held.Objects, 10)
	addr := held.Objects.Shown[0][2]
	p.get("heap/holds?s=1&core=new&what="+addr, &held)
	at, err := strconv.ParseUint(addr, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.At(at)
	if err != nil || held.About != report.HeldText(&o) || len(held.Ways) != 1 {
		t.Errorf("%s is held so: %+v, want %+v, %v", addr, held, o, err)
	}
	f := func(what, want string) {
		t.Helper()
		if w := p.ask(t.Context(), "heap/holds?s=1&core=new&what="+url.QueryEscape(what), nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	f("session", `main.session`)
	f("0x10", "allocated there")
	f("", "a type")

	var texts textsPage
	p.get("heap/strings?s=1&core=new", &texts)
	all, err := h.Texts(maxTexts)
	if err != nil {
		t.Fatal(err)
	}
	text = printed(func(x *report.Heap) { x.Texts = all })
	shows(t, text, texts.Sums, 10)
	shows(t, text, texts.Longest, maxTexts)
	shows(t, text, texts.Repeated, maxTexts)
	if first := fmt.Sprint(texts.Repeated.Shown[0]); !strings.Contains(first, `<img src=x onerror=alert(1)> \x1b[31mred`) || strings.ContainsAny(first, "\x1b\u202e") {
		t.Errorf("the first text is %q", first)
	}
}

func growthAsPrinted(t *testing.T, p *pages, a, b *postmortem.Core) {
	side := func(c *postmortem.Core) (heap.Totals, []heap.Row, []heap.Holder) {
		h, err := c.Heap(nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := h.Graph()
		if err != nil {
			t.Fatal(err)
		}
		return h.Totals(), h.Histogram(), g.Holders(false)
	}
	page := &report.Heap{Name: b.Name, Old: a.Name}
	var rows [2][]heap.Row
	var holders [2][]heap.Holder
	page.OldTotals, rows[0], holders[0] = side(a)
	page.Totals, rows[1], holders[1] = side(b)
	page.Types, page.Roots = heap.Diff(rows[0], rows[1]), heap.DiffHolders(holders[0], holders[1])
	var out bytes.Buffer
	if err := report.WriteHeap(&out, page, report.Style{Width: 4000}); err != nil {
		t.Fatal(err)
	}
	var v heapChanges
	p.get("heap/diff?s=1&core=new&vs=old", &v)
	shows(t, out.String(), v.Types, 1000)
	shows(t, out.String(), v.Roots, 1000)
	if !strings.Contains(out.String(), v.Growth) || v.Types.Shown[0][4] != "main.session" || v.Types.Shown[0][1] != "+3,000" {
		t.Errorf("%s, %v, want\n%s", v.Growth, v.Types.Shown[0], out.String())
	}
	if w := p.ask(t.Context(), "heap/diff?s=1&core=new&vs=new", nil); w.Code != http.StatusNotFound {
		t.Errorf("a core and itself: %d", w.Code)
	}
}

// nothingHandedOn: a file has the end and the types, and no text and no value that
// the program has had.
func nothingHandedOn(t *testing.T, src Source) {
	var b bytes.Buffer
	if _, err := Export(t.Context(), &b, Options{Version: "v1", Sources: []Source{src}}); err != nil {
		t.Fatal(err)
	}
	m := heldText.FindStringSubmatch(b.String())
	packed, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"the very last request", "request <i>", `request \u003ci`, "red alert", "the user with"} {
		if i := bytes.Index(data, []byte(bad)); i >= 0 {
			t.Errorf("the file has %q: %s", bad, data[max(0, i-300):i])
		}
	}
	for _, good := range []string{"no session left", "main.session", "they are not put into a file"} {
		if !bytes.Contains(data, []byte(good)) {
			t.Errorf("the file does not have %q", good)
		}
	}
}

// heapForgotten: the heap goes when nobody asks, and comes again.
func heapForgotten(t *testing.T, p *pages) {
	h := p.sources.heaps
	defer func(d time.Duration) { heapIdle = d }(heapIdle)
	heapIdle = time.Millisecond
	var v heldView
	p.get("heap/holds?s=1&core=new&what=main.user", &v)
	held := true
	for deadline := time.Now().Add(time.Minute); held && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		<-h.turn
		held = h.heap != nil
		h.turn <- struct{}{}
	}
	if held {
		t.Error("the heap is not forgotten")
	}
	p.get("heap/holds?s=1&core=new&what=main.user", &v) // from the answers
	p.get("heap/holds?s=1&core=old&what=main.user", &v) // read again
	// Who has left is not computed for.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w := p.ask(ctx, "heap/holds?s=1&core=old&what=main.session", nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a question that nobody waits for: %d %s", w.Code, w.Body)
	}
}

// TestCoreAlone: without its program a core shows what the kernel has noted, and what
// to do.
func TestCoreAlone(t *testing.T) {
	dir := t.TempDir()
	exe := postmortemtest.Build(t, dir, "-ldflags=-w")
	postmortemtest.Start(t, exe).Capture(filepath.Join(dir, "core"))
	p := pagesFrom(t, sourceOfCores(map[string]*postmortem.Core{"core": joined(t, filepath.Join(dir, "core"), "")}, "core"))
	var ends []coreEnd
	p.get("core/ends?s=1", &ends)
	if len(ends) != 1 || ends[0].Trouble != "Its program is not there" || !strings.Contains(ends[0].Next, "loupe open BIN ") || ends[0].Grade != "info" {
		t.Errorf("it says %+v", ends)
	}
	var threads threadPage
	p.get("core/threads?s=1", &threads)
	if threads.Total == 0 || len(threads.Threads[0].Registers) == 0 {
		t.Errorf("the threads are %+v", threads)
	}
	for _, question := range []string{"goroutines/view", "goroutines/shots", "heap/types", "heap/strings"} {
		if w := p.ask(t.Context(), question+"?s=1", nil); !strings.Contains(w.Body.String(), "ts program is not there") {
			t.Errorf("%s: %d %s", question, w.Code, w.Body)
		}
	}
	var info sourceInfo
	p.get("source?s=1", &info)
	if info.Kinds[0] != session.CoreFile {
		t.Errorf("the kinds are %v", info.Kinds)
	}

	// Without debug information there are goroutines and no heap.
	p = pagesFrom(t, sourceOfCores(map[string]*postmortem.Core{"core": joined(t, filepath.Join(dir, "core"), exe)}, "core"))
	p.get("core/ends?s=1", &ends)
	if ends[0].Trouble != "" || !strings.Contains(ends[0].NoHeap, "no debug information") {
		t.Errorf("it says %+v", ends)
	}
	var v goroutineView
	p.get("goroutines/view?s=1", &v)
	if v.Total < 8 {
		t.Errorf("%d goroutines", v.Total)
	}
	if w := p.ask(t.Context(), "heap/types?s=1", nil); !strings.Contains(w.Body.String(), "debug information") {
		t.Errorf("the heap: %d %s", w.Code, w.Body)
	}
}
