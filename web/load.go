package web

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/format/loadlog"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var loadEndpoints = []endpoint{
	on("load/runs", loadRuns),
	on("load/run", loadRun),
	on("load/met", loadMet),
	on("load/requests", loadRequests),
}

// loadItem is one load run of a source.
type loadItem struct {
	Phase    string        `json:"phase"`
	Profiler string        `json:"profiler"`
	Round    int           `json:"round"`
	URL      string        `json:"url"`
	Model    string        `json:"model"`
	Open     bool          `json:"open"`
	Requests int           `json:"requests"`
	Span     timeline.Span `json:"span"`
	// Damage says what of the log could not be read.
	Damage string `json:"damage"`
}

// loadList is every load run, and their figures.
type loadList struct {
	Runs  []loadItem `json:"runs"`
	Table *table     `json:"table"`
}

// loadsOf lists the load runs of a source.
func loadsOf(ctx context.Context, s *subject) (*loadList, error) {
	return once(ctx, s, "load/runs", func(ctx context.Context) (*loadList, error) {
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		list := &loadList{Runs: []loadItem{}}
		sheet := &report.Sheet{Key: "runs", Title: "Load runs", Columns: []report.Column{{Key: "phase", Head: "phase"}, {Key: "requests", Head: "requests"},
			{Key: "rps", Head: "answers/s"}, {Key: "p50_ns", Head: "50%"}, {Key: "p99_ns", Head: "99%"}, {Key: "max_ns", Head: "slowest"}, {Key: "failed", Head: "failed"}, {Key: "note", Head: "profiler"}}}
		for _, p := range in.Manifest().Phases {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			l, err := in.Load(p.Name)
			if l == nil {
				if err != nil && !errors.Is(err, session.ErrNone) && in.LoadEntry(p.Name).Path != "" {
					list.Runs = append(list.Runs, loadItem{Phase: p.Name, Profiler: p.Profiler, Round: p.Round, Span: p.Span, Damage: err.Error()})
					sheet.Rows = append(sheet.Rows, []any{p.Name, nil, nil, nil, nil, nil, nil, "cannot be read"})
				}
				continue
			}
			item := loadItem{Phase: p.Name, Profiler: p.Profiler, Round: p.Round, URL: l.URL, Model: loadModel(l), Open: l.Open, Requests: l.Len(), Span: loadOn(in, l, p.Name)}
			if err != nil {
				item.Damage = err.Error()
			}
			list.Runs = append(list.Runs, item)
			sum := l.Summary()
			sheet.Rows = append(sheet.Rows, []any{p.Name, int64(sum.Requests), sum.RPS, report.Never(sum.Latency.P50, sum.Latency.AtLeast), report.Never(sum.Latency.P99, sum.Latency.AtLeast), report.Never(sum.Latency.Max, sum.Latency.AtLeast), sum.Unanswered(), cmp.Or(p.Profiler, "none")})
		}
		if len(list.Runs) == 0 {
			return nil, nothing("Nothing was sent in this recording. Send something while it records: loupe run -load http://localhost:8080/ ./cmd/server; or look at a run that loupe load -save has kept: loupe open run.load")
		}
		list.Table = tableOf(sheet)
		return list, nil
	})
}

// loadWords is a time in a sentence, which may never have come.
func loadWords(d time.Duration) string {
	shown, _, _ := report.Cell(report.Never(d, 0))
	return shown
}

// loadModel says how requests were timed; older logs do not.
func loadModel(l *loadlog.Log) string {
	if l.Model == "" && !l.Open {
		return fmt.Sprintf("closed loop, %d connections", l.Concurrency)
	}
	return l.Model
}

// loadOn is the time of a load run on the axis.
func loadOn(in *session.Session, l *loadlog.Log, phase string) timeline.Span {
	start := in.OnAxis(l, phase).At(0)
	return timeline.Span{Start: start, End: start.Add(l.Elapsed)}
}

func loadRuns(ctx context.Context, s *subject, _ *query) (*loadList, error) { return loadsOf(ctx, s) }

// chosenLoad is a load run, and the part of it that was asked for.
type chosenLoad struct {
	item        loadItem
	whole, part *loadlog.Log
	start       timeline.Time // of the whole, on the axis
	span        timeline.Span // of the part, on the axis
}

// load returns the run that the phase parameter names, or else the first that
// lies in the range, restricted to the range. A range that lies wholly beside it
// does not restrict it.
func (q *query) load(ctx context.Context, s *subject) (*chosenLoad, error) {
	list, err := loadsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	all := timeline.Span{Start: list.Runs[0].Span.Start, End: list.Runs[0].Span.End}
	for _, r := range list.Runs {
		all = timeline.Span{Start: min(all.Start, r.Span.Start), End: max(all.End, r.Span.End)}
	}
	wanted, err := q.span(all)
	if err != nil {
		return nil, err
	}
	at := -1
	for i, r := range list.Runs {
		if q.Get("phase") == r.Phase || q.Get("phase") == "" && at < 0 && r.Damage == "" && r.Span.Overlap(wanted) > 0 {
			at = i
		}
	}
	switch {
	case at < 0 && q.Get("phase") != "":
		return nil, &refusal{http.StatusNotFound, fmt.Sprintf("There is no load run of a phase %q.", q.Get("phase"))}
	case at < 0:
		return nil, nothing("Nothing was sent in the chosen range.")
	}
	c := &chosenLoad{item: list.Runs[at]}
	l, err := in.Load(c.item.Phase)
	if l == nil {
		return nil, err
	}
	c.whole, c.part, c.start, c.span = l, l, c.item.Span.Start, c.item.Span
	if q.Get("t0") == "" && q.Get("t1") == "" {
		return c, nil
	}
	c.span = timeline.Span{Start: max(wanted.Start, c.item.Span.Start), End: min(wanted.End, c.item.Span.End)}
	if c.span.Len() == 0 {
		return nil, nothing("The load of phase %s lies outside of the chosen range: it ran from %s to %s.", c.item.Phase, loadInstant(c.item.Span.Start), loadInstant(c.item.Span.End))
	}
	c.part = l.Within(timeline.Span{Start: c.span.Start - c.start, End: c.span.End - c.start})
	return c, ctx.Err()
}

// loadInstant prints an instant of the axis.
func loadInstant(t timeline.Time) string { return unit.Duration(time.Duration(t)) }

// loadView is what is shown of a load run.
type loadView struct {
	loadItem
	// Shown is the part of the run that all of this is of.
	Shown timeline.Span `json:"shown"`
	Page  *facts        `json:"page"`
	Over  *loadOver     `json:"over"`
	Bars  []loadBar     `json:"bars"`
	Curve []loadPoint   `json:"curve"`
	// Steps are the loads that the whole run put on the service; Last is the
	// number of the last one that it kept up with, -1 when it did with all.
	Steps *table `json:"steps"`
	Last  int    `json:"last"`
}

// loadBar is a class of response times: up to a mark.
type loadBar struct {
	Mark  time.Duration `json:"mark_ns"`
	Count int           `json:"count"`
}

// loadPoint is a percentile of the curve. Told says that enough requests lie
// beyond it.
type loadPoint struct {
	Share    float64 `json:"share"`
	Response int64   `json:"response_ns"`
	Service  int64   `json:"service_ns"`
	Told     bool    `json:"told"`
}

func loadRun(ctx context.Context, s *subject, q *query) (*loadView, error) {
	c, err := q.load(ctx, s)
	if err != nil {
		return nil, err
	}
	columns, err := q.number("columns", 240)
	if err != nil {
		return nil, err
	}
	v := &loadView{loadItem: c.item, Shown: c.span, Page: factsOf(report.Load(c.part, c.whole)), Bars: []loadBar{}, Curve: []loadPoint{}, Last: -1}
	if v.Over, err = overTime(ctx, c, int(min(max(columns, 10), 1000))); err != nil {
		return nil, err
	}
	if sum := c.part.Summary(); sum.Responses > 0 {
		marks, counts := report.LoadHistogram(c.part, sum)
		for i, m := range marks {
			v.Bars = append(v.Bars, loadBar{m, counts[i]})
		}
		v.Curve = loadCurve(c.part)
	}
	if sheet, last := report.LoadSteps(c.whole); sheet != nil {
		v.Steps = tableOf(sheet)
		v.Last = last
	}
	return v, ctx.Err()
}

// loadCurve is the distribution as HdrHistogram's plots have it: every further nine
// has the same room.
func loadCurve(l *loadlog.Log) (points []loadPoint) {
	response := loadlog.Distribution(l.Answered(), (*loadlog.Request).Latency)
	service := loadlog.Distribution(l.Answered(), func(r *loadlog.Request) time.Duration { return r.Service })
	// Of the requests that were never answered there is no point: the curve ends
	// where they begin.
	never := uint64(0)
	for r := range l.All() {
		if r.Error != 0 {
			never++
		}
	}
	unsent := uint64(l.Unsent)
	n := float64(response.Count() + never + unsent)
	const perNine = 24
	beyond := 1.0
	for i := 1; beyond*n >= 1; i++ {
		share := 1 - beyond
		took, ok := response.QuantileBefore(share, never+unsent)
		sent, also := service.QuantileBefore(share, never)
		if !ok || !also {
			return points
		}
		points = append(points, loadPoint{share, took, sent, beyond*n >= loadlog.Enough})
		beyond = math.Pow(10, -float64(i)/perNine)
	}
	if never+unsent > 0 {
		return points
	}
	return append(points, loadPoint{1 - 1/max(n, 1)/2, response.Max(), service.Max(), false})
}

// loadMeeting is what slow requests met.
type loadMeeting struct {
	Head   string   `json:"head"`
	Tables []*table `json:"tables"`
}

// overlayOf lays requests over what is known of the program.
func overlayOf(ctx context.Context, s *subject) (*compare.Overlay, error) {
	return once(ctx, s, "overlay", func(ctx context.Context) (*compare.Overlay, error) {
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		return compare.NewOverlay(in), nil
	})
}

func loadMet(ctx context.Context, s *subject, q *query) (*loadMeeting, error) {
	c, err := q.load(ctx, s)
	if err != nil {
		return nil, err
	}
	over, err := overlayOf(ctx, s)
	if err != nil {
		return nil, err
	}
	var within timeline.Span
	if c.part != c.whole {
		within = c.span
	}
	slow := over.Slow(c.item.Phase, within)
	if slow == nil {
		return nil, nothing("Nothing tells what the program did in phase %s: record an execution trace under load (loupe run -phases bare,trace -load URL ./cmd/server), or at least GODEBUG=gctrace=1.", c.item.Phase)
	}
	head, sheets := report.SlowSheets(slow)
	m := &loadMeeting{Head: head, Tables: []*table{}}
	for _, sheet := range sheets {
		m.Tables = append(m.Tables, tableOf(sheet))
	}
	return m, nil
}

// loadPick is a list of requests, the slowest first.
type loadPick struct {
	// Total is how many there are of the kind, of which the table has some.
	Total    int           `json:"total"`
	Table    *table        `json:"table"`
	Requests []loadRequest `json:"requests"`
}

// loadRequest is one request with its parts.
type loadRequest struct {
	// ID names it within its run.
	ID        string              `json:"id"`
	Span      timeline.Span       `json:"span"`
	Goroutine int64               `json:"goroutine"`
	Late      time.Duration       `json:"late_ns"`
	Dial      time.Duration       `json:"dial_ns"`
	Write     time.Duration       `json:"write_ns"`
	Wait      time.Duration       `json:"wait_ns"`
	Read      time.Duration       `json:"read_ns"`
	Failed    string              `json:"failed"`
	Target    string              `json:"target"`
	Met       []compare.Encounter `json:"met"`
}

func loadRequests(ctx context.Context, s *subject, q *query) (*loadPick, error) {
	c, err := q.load(ctx, s)
	if err != nil {
		return nil, err
	}
	var low, high, most int64
	for _, p := range []struct {
		name    string
		to      *int64
		without int64
	}{{"l0", &low, 0}, {"l1", &high, 1 << 62}, {"n", &most, 20}} {
		if *p.to, err = q.number(p.name, p.without); err != nil {
			return nil, err
		}
	}
	cell, err := loadCell(q, c)
	if err != nil {
		return nil, err
	}
	failed := q.Get("failed") != ""
	top := slowestFirst{}
	pick := &loadPick{Requests: []loadRequest{}}
	limit, seen := int(min(max(most, 1), 500)), 0
	for r := range c.whole.All() {
		if seen++; seen&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if end, d := r.End(), int64(r.Latency()); end < cell.Start || end >= cell.End || d < low || d >= high || failed != (r.Error != 0) {
			continue
		}
		pick.Total++
		if len(top) < limit {
			heap.Push(&top, *r)
		} else if r.Latency() > top[0].Latency() {
			top[0] = *r
			heap.Fix(&top, 0)
		}
	}
	slices.SortStableFunc(top, func(a, b loadlog.Request) int {
		return cmp.Or(cmp.Compare(b.Latency(), a.Latency()), cmp.Compare(a.Begin, b.Begin))
	})
	over, err := overlayOf(ctx, s)
	if err != nil {
		return nil, err
	}
	served := over.Follow(c.item.Phase, top)
	pick.describe(c, top, served)
	return pick, nil
}

// loadCell is the time of which requests are asked for, on the log's own: that of
// the range, or within it from c0 up to c1. What ended with the run is part of it.
func loadCell(q *query, c *chosenLoad) (timeline.Span, error) {
	from, err := q.number("c0", int64(c.span.Start))
	if err != nil {
		return timeline.Span{}, err
	}
	to, err := q.number("c1", int64(c.span.End))
	if err != nil {
		return timeline.Span{}, err
	}
	cell := timeline.Span{Start: max(timeline.Time(from), c.span.Start) - c.start, End: min(timeline.Time(to), c.span.End) - c.start}
	if cell.Start <= 0 {
		cell.Start = -1 << 62
	}
	if cell.End >= timeline.Time(c.whole.Elapsed) {
		cell.End = 1 << 62
	}
	return cell, nil
}

// slowestFirst is a heap with the fastest on top.
type slowestFirst []loadlog.Request

func (h slowestFirst) Len() int           { return len(h) }
func (h slowestFirst) Less(i, j int) bool { return h[i].Latency() < h[j].Latency() }
func (h slowestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *slowestFirst) Push(v any) { *h = append(*h, v.(loadlog.Request)) }

// Pop implements [heap.Interface].
func (h *slowestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// describe makes the table of the requests.
func (p *loadPick) describe(c *chosenLoad, all []loadlog.Request, served []compare.Served) {
	open := c.whole.Open
	columns := []report.Column{{Key: "end_ns", Head: "answered at"}, {Key: "response_ns", Head: "response time"}}
	if open {
		columns = append(columns, report.Column{Key: "late_ns", Head: "sent late"}, report.Column{Key: "service_ns", Head: "service time"})
	}
	columns = append(columns, report.Column{Key: "wait_ns", Head: "first byte"}, report.Column{Key: "read_ns", Head: "answer in"}, report.Column{Key: "status", Head: "status"},
		report.Column{Key: "connection", Head: "connection"})
	known := slices.ContainsFunc(served, func(s compare.Served) bool { return s.Goroutine != 0 })
	if known {
		columns = append(columns, report.Column{Key: "goroutine", Head: "served by"})
	}
	columns = append(columns, report.Column{Key: "met", Head: "met"})
	if len(c.whole.Targets) > 1 {
		columns = append(columns, report.Column{Key: "target", Head: "target"})
	}
	sheet := &report.Sheet{Key: "requests", Columns: columns}
	for i := range all {
		r, f := &all[i], &served[i]
		one := loadRequest{ID: fmt.Sprintf("%d.%d", r.Conn, int64(r.Begin)), Span: f.Span, Goroutine: int64(f.Goroutine), Late: r.Late, Dial: r.Dial, Write: r.Write, Wait: r.Wait, Read: r.Read, Met: f.Met}
		row := []any{time.Duration(f.Span.End), r.Latency()}
		if open {
			row = append(row, report.SomeTime(r.Late), r.Service)
		}
		status := fmt.Sprint(r.Status)
		if r.Error != 0 {
			one.Failed = c.whole.ErrorText(r.Error)
			status = one.Failed
		}
		goroutine := ""
		if f.Goroutine != 0 {
			goroutine = fmt.Sprintf("g%d", f.Goroutine)
		}
		row = append(row, r.Wait, r.Read, status, int64(r.Conn))
		if known {
			row = append(row, goroutine)
		}
		row = append(row, metText(r, f.Met))
		if len(c.whole.Targets) > 1 {
			one.Target = c.whole.TargetOf(r).String()
			row = append(row, one.Target)
		}
		sheet.Rows = append(sheet.Rows, row)
		p.Requests = append(p.Requests, one)
	}
	p.Table = tableOf(sheet)
}

// metText says in few words what a request met: collections, and what its own
// goroutine spent a tenth of its time or more with.
func metText(r *loadlog.Request, met []compare.Encounter) string {
	var words []string
	for _, e := range met {
		program := e.Key == "gc_mark" || e.Key == "stw" || strings.HasPrefix(e.Key, "pause")
		if program || e.Own && e.At.Len() > 0 && e.Time*10 >= r.Service && e.Key != "own_run" && e.Key != "own_net" {
			words = append(words, e.Name+" "+unit.Duration(e.Time))
		}
	}
	return strings.Join(words, ", ")
}
