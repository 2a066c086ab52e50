package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/heap"
	"loupe/analysis/postmortem"
	"loupe/report"
	"loupe/value/unit"
)

var heapEndpoints = []endpoint{
	on("heap/types", heapTypes),
	on("heap/holds", heapHolds),
	on("heap/strings", heapStrings),
	on("heap/diff", heapDiff),
}

// heapPage is the heap of a core by type, as loupe core heap prints it.
type heapPage struct {
	Name   string   `json:"name"`
	Sums   *table   `json:"sums"`
	Doubts []string `json:"doubts"`
	Types  *table   `json:"types"`
	// Holders is what holds most, null where nobody has asked what types retain.
	Holders *table `json:"holders"`
}

// maxHeapRows bounds the tables of a heap.
const maxHeapRows = 10_000

// ofHeap answers a question about the heap of a core and keeps the answer. parts is
// how many times that goes through the heap, the first time included.
func ofHeap[T any](ctx context.Context, s *subject, path string, c *postmortem.Core, question, doing string, parts int, look func(h *heldHeap) (T, error)) (T, error) {
	return onceFew(ctx, s, "heap", path+"\n"+question, func(ctx context.Context) (v T, err error) {
		tell := s.job(doing)
		defer tell(1)
		// 1 is the end of the job, and not of one of its parts.
		err = s.heaps.use(ctx, c, parts, func(done float64) { tell(min(done, 0.99)) }, func() (err error) {
			v, err = look(s.heaps)
			return err
		})
		return v, err
	})
}

// pageOf is what all pages of a heap begin with.
func pageOf(h *heldHeap) *report.Heap {
	return &report.Heap{Name: h.of.Name, Totals: h.heap.Totals(), Damaged: h.heap.Damaged, Missing: h.heap.Missing}
}

// cut shortens a sheet to what a page shows.
func cut(t *report.Sheet, noun string) *report.Sheet {
	if more := len(t.Rows) - maxHeapRows; more > 0 {
		t.Rows = t.Rows[:maxHeapRows]
		t.Notes = append(t.Notes, fmt.Sprintf("%s more %s are not shown; loupe core -n 0 lists them.", unit.Count(int64(more)), noun))
	}
	return t
}

func heapTypes(ctx context.Context, s *subject, q *query) (*heapPage, error) {
	path, c, err := s.coreOf(ctx, q, "core")
	if err != nil {
		return nil, err
	}
	retained := q.Get("retained") != ""
	doing, parts := "reading the heap", 1
	if retained {
		doing, parts = "finding out what types retain", 2
	}
	return ofHeap(ctx, s, path, c, fmt.Sprint("types ", retained), doing, parts, func(h *heldHeap) (*heapPage, error) {
		p := pageOf(h)
		page := &heapPage{Name: c.Name, Sums: tableOf(report.HeapSums(p)), Doubts: append(coreDoubts(c), report.HeapDoubts(p)...)}
		if !retained {
			p.Rows = h.heap.Histogram()
			page.Types = tableOf(cut(report.HeapTypes(p), "types"))
			return page, nil
		}
		g, err := h.edges()
		if err != nil {
			return nil, err
		}
		p.Retained, p.Rows = true, g.ByType()
		slices.SortStableFunc(p.Rows, func(x, y heap.Row) int { return cmp.Compare(y.Retained, x.Retained) })
		page.Types = tableOf(cut(report.HeapTypes(p), "types"))
		page.Holders = tableOf(cut(report.HeapHolders(g.Holders(true)), "holders"))
		return page, nil
	})
}

// heldView is what holds an object, or the objects of a type.
type heldView struct {
	Asked string `json:"asked"`
	// About says what the object is that an address lies in, "" for a type.
	About string    `json:"about"`
	Ways  []heapWay `json:"ways"`
	More  int       `json:"more"` // ways that are not shown
	// Objects are those of the type that retain most; null for an address.
	Objects *table `json:"objects"`
}

// heapWay is a shortest way from a root to objects.
type heapWay struct {
	Title string     `json:"title"`
	Root  string     `json:"root"`
	Steps []heapStep `json:"steps"`
}

type heapStep struct {
	Field string `json:"field"`
	Text  string `json:"text"`
	// Addr is where it is, Type what to ask about it; both may be "".
	Addr string `json:"addr"`
	Type string `json:"type"`
}

const (
	maxWays    = 50
	maxLargest = 20 // objects that retain most
)

func heapHolds(ctx context.Context, s *subject, q *query) (*heldView, error) {
	path, c, err := s.coreOf(ctx, q, "core")
	if err != nil {
		return nil, err
	}
	asked := strings.TrimSpace(q.Get("what"))
	if asked == "" {
		return nil, nothing("name a type, as in the table, or an address")
	}
	v, err := ofHeap(ctx, s, path, c, "holds "+asked, "looking for what holds "+shownTitle(asked), 2, func(h *heldHeap) (*heldView, error) {
		g, err := h.edges()
		if err != nil {
			return nil, err
		}
		if addr, err := strconv.ParseUint(asked, 0, 64); err == nil {
			return holdsObject(g, asked, addr)
		}
		return holdsType(h.heap, g, asked)
	})
	if errors.Is(err, heap.ErrNoObject) {
		return nil, nothing("%v", err)
	}
	return v, err
}

func holdsObject(g *heap.Graph, asked string, addr uint64) (*heldView, error) {
	o, err := g.At(addr)
	if err != nil {
		return nil, err
	}
	way, err := g.Path(addr)
	if err != nil {
		return nil, err
	}
	return &heldView{Asked: asked, About: report.HeldText(&o), Ways: []heapWay{wayOf(&way, "")}}, nil
}

func holdsType(h *heap.Heap, g *heap.Graph, asked string) (*heldView, error) {
	ways := g.Ways(asked)
	if len(ways) == 0 {
		return nil, nothing("%v", report.NoSuchType(h.Histogram(), asked))
	}
	v := &heldView{Asked: asked, Ways: []heapWay{}, More: max(0, len(ways)-maxWays), Objects: tableOf(report.HeapObjects(g.Largest(asked, maxLargest)))}
	for i := range ways[:min(len(ways), maxWays)] {
		v.Ways = append(v.Ways, wayOf(&ways[i], report.WayText(&ways[i])))
	}
	return v, nil
}

func wayOf(x *heap.Path, title string) heapWay {
	w := heapWay{Title: title, Root: report.WayRoot(x), Steps: []heapStep{}}
	for _, s := range report.WaySteps(x) {
		w.Steps = append(w.Steps, heapStep{s.Field, s.Text, s.Addr, s.Type})
	}
	return w
}

// textsPage is long strings and those that are there several times, as loupe core
// strings prints them: what a program knew, passwords as well. It is sent to whoever
// asks for it, and never part of a file that is handed on.
type textsPage struct {
	Sums     *table `json:"sums"`
	Longest  *table `json:"longest"`
	Repeated *table `json:"repeated"`
}

// maxTexts is how many texts of each list are sent.
const maxTexts = 200

func heapStrings(ctx context.Context, s *subject, q *query) (*textsPage, error) {
	if handedOn(ctx) {
		return nil, nothing("the texts of a core are what the program knew, passwords as well: they are not put into a file. loupe open shows them, and loupe core strings prints them")
	}
	path, c, err := s.coreOf(ctx, q, "core")
	if err != nil {
		return nil, err
	}
	return ofHeap(ctx, s, path, c, "strings", "looking for texts", 2, func(h *heldHeap) (*textsPage, error) {
		t, err := h.heap.Texts(maxTexts)
		if err != nil {
			return nil, err
		}
		return &textsPage{tableOf(report.TextSums(t)), tableOf(report.LongestTexts(t.Longest)), tableOf(report.RepeatedTexts(t.Repeated))}, nil
	})
}

// heapChanges is two cores of one program, as loupe core diff prints them.
type heapChanges struct {
	Old    string   `json:"old"`
	New    string   `json:"new"`
	Growth string   `json:"growth"`
	Types  *table   `json:"types"`
	Roots  *table   `json:"roots"`
	Doubts []string `json:"doubts"`
}

// heapSide is what a comparison needs of a heap.
type heapSide struct {
	totals  heap.Totals
	rows    []heap.Row
	holders []heap.Holder
	doubts  []string
}

// heapDiff compares two cores: the one that is named as vs is the older one.
func heapDiff(ctx context.Context, s *subject, q *query) (*heapChanges, error) {
	path, c, err := s.coreOf(ctx, q, "core")
	if err != nil {
		return nil, err
	}
	before, old, err := s.coreOf(ctx, q, "vs")
	if err != nil {
		return nil, err
	}
	if before == path {
		return nil, nothing("two cores of one program show what has grown: loupe open BIN OLD NEW")
	}
	side := func(path string, c *postmortem.Core) (*heapSide, error) {
		return ofHeap(ctx, s, path, c, "side", "reading the heap of "+shownTitle(c.Name), 2, func(h *heldHeap) (*heapSide, error) {
			g, err := h.edges()
			if err != nil {
				return nil, err
			}
			p := pageOf(h)
			return &heapSide{p.Totals, h.heap.Histogram(), g.Holders(false), append(coreDoubts(c), report.HeapDoubts(p)...)}, nil
		})
	}
	// The newer one is read last: it is the one that is asked about then.
	a, err := side(before, old)
	if err != nil {
		return nil, err
	}
	b, err := side(path, c)
	if err != nil {
		return nil, err
	}
	p := &report.Heap{Name: c.Name, Old: old.Name, OldTotals: a.totals, Totals: b.totals}
	out := &heapChanges{
		Old: old.Name, New: c.Name, Growth: report.HeapGrowth(p), Doubts: []string{},
		Types: tableOf(cut(report.ChangedTypes(heap.Diff(a.rows, b.rows)), "types")), Roots: tableOf(cut(report.ChangedHolders(heap.DiffHolders(a.holders, b.holders)), "holders")),
	}
	for _, d := range a.doubts {
		out.Doubts = append(out.Doubts, old.Name+": "+d)
	}
	for _, d := range b.doubts {
		out.Doubts = append(out.Doubts, c.Name+": "+d)
	}
	return out, nil
}
