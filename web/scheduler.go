package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
)

var schedulerEndpoints = []endpoint{
	on("sched/trace", func(ctx context.Context, s *subject, q *query) (*schedPage, error) {
		span, _, err := s.chosen(ctx, q)
		if err != nil {
			return nil, err
		}
		return schedOf(ctx, s, span)
	}),
	on("sched/samples", schedSamples),
}

// schedPage is what a trace shows of the scheduler in a range: the pages of
// loupe trace with -from and -to.
type schedPage struct {
	// Start is where the trace begins on the axis, which is the zero of the
	// times in the tables; Covers is the part of the range that the trace does.
	Start   timeline.Time `json:"start"`
	Covers  timeline.Span `json:"covers"`
	Sched   *facts        `json:"sched"`
	Blocked *facts        `json:"blocked"`
	STW     *facts        `json:"stw"`
	Tasks   *facts        `json:"tasks"`
	Hogs    *table        `json:"hogs"`
	Waits   bars          `json:"waits"`
	Runs    bars          `json:"runs"`
	Pauses  []bars        `json:"pauses"`
	// Filter is what of the command line gives the same.
	Filter  string `json:"filter"`
	groups  *table
	summary *facts
}

// bars count durations in classes.
type bars struct {
	Key   string  `json:"key"`
	Title string  `json:"title"`
	From  Numbers `json:"from"` // the least duration of each class, in ns
	To    Numbers `json:"to"`
	Count Numbers `json:"count"`
	Total int64   `json:"total"`
	P50   int64   `json:"p50"`
	P99   int64   `json:"p99"`
	Max   int64   `json:"max"`
}

// barsOf makes bars of a histogram.
func barsOf(key, title string, h *sched.Histogram) bars {
	b := bars{Key: key, Title: title, From: Numbers{}, Total: h.Count, P50: int64(h.Quantile(0.5)), P99: int64(h.Quantile(0.99)), Max: int64(h.Max)}
	h.Classes()(func(from, to time.Duration, n int) bool {
		b.From, b.To, b.Count = append(b.From, float64(from)), append(b.To, float64(to)), append(b.Count, float64(n))
		return true
	})
	return b
}

// schedRows is how many rows the tables of a trace have.
const schedRows = 20

// schedOf reads the part of the trace that lies in a span of the axis.
func schedOf(ctx context.Context, s *subject, span timeline.Span) (*schedPage, error) {
	return once(ctx, s, fmt.Sprint("sched ", span.Start, " ", span.End), func(ctx context.Context) (*schedPage, error) {
		t, err := s.traced(ctx)
		if errors.Is(err, session.ErrNone) {
			return nil, nothing(noTrace)
		}
		if err != nil {
			return nil, err
		}
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		part, begin, err := t.within(in, span)
		if err != nil {
			return nil, err
		}
		filter := filterOf(begin, t.Span(), part)
		a, err := s.analysis(ctx, "reading what the scheduler did", filter)
		if err != nil {
			return nil, err
		}
		page := &schedPage{
			Start: t.Clock.At(int64(a.Info.Span.Start)), Covers: t.On(part), Filter: filter,
			Sched: factsOf(report.TraceSched(a, schedRows)), Blocked: factsOf(report.TraceBlocked(a, schedRows)), STW: factsOf(report.TraceSTW(a, 1000)),
			Hogs: tableOf(report.TraceHogs(a, schedRows)), Waits: barsOf("waits", "Waits for a P", &a.Latency.All), Runs: barsOf("runs", "Runs", &a.Runs.All),
			Pauses: []bars{}, summary: factsOf(report.TraceSummary(a)),
		}
		if len(a.Tasks) > 0 {
			page.Tasks = factsOf(report.TraceTasks(a, schedRows))
		}
		for i := range a.GC.Pauses {
			p := &a.GC.Pauses[i]
			page.Pauses = append(page.Pauses, barsOf(fmt.Sprint("pause", i), a.Reader.Name(p.Kind), &p.Histogram))
		}
		if tables := factsOf(report.TraceGoroutines(a, false, 12)).Tables; len(tables) > 0 {
			page.groups = tables[len(tables)-1]
		}
		return page, nil
	})
}

// within is the part of a span of the axis that the trace covers, and when its first event
// was, both on the clock of the trace.
func (t *traced) within(in *session.Session, span timeline.Span) (part timeline.Span, begin timeline.Time, err error) {
	all, own := t.Span(), t.Own(span)
	part = timeline.Span{Start: max(all.Start, own.Start), End: min(all.End, own.End)}
	if part.Len() <= 0 {
		return part, 0, nothing("The trace covers none of this time: it goes from %s to %s.", seconds(t.On(all).Start), seconds(t.On(all).End))
	}
	whole, err := in.TraceSpan()
	return part, whole.Start, err
}

// analysis is what a filter leaves of the trace, all of it for an empty one.
func (s *subject) analysis(ctx context.Context, job, filter string) (*sched.Analysis, error) {
	if filter == "" {
		return swept(ctx, s, job, sched.Whole)
	}
	f, err := sched.ParseFilter(filter)
	if err != nil {
		return nil, err
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	t, _, err := in.Trace()
	if err != nil {
		return nil, err
	}
	tell := s.job(job)
	defer tell(1)
	a, err := sched.Analyze(t, sched.AnalyzeOptions{Filter: f, Stop: func() bool { return ctx.Err() != nil }})
	return a, cmp.Or(err, ctx.Err())
}

// filterOf is the filter that restricts a trace to a part of it, "" for all. Its
// times count from the first event. Spans of the axis are rounded: what ends that
// close to an end of the trace leaves nothing out.
func filterOf(start timeline.Time, all, part timeline.Span) string {
	var terms []string
	const close = 2 * tiles.Grain
	if part.Start > start.Add(close) {
		terms = append(terms, "from="+part.Start.Sub(start).String())
	}
	if part.End.Add(close) < all.End {
		terms = append(terms, "to="+part.End.Sub(start).String())
	}
	return strings.Join(terms, " ")
}

// seconds prints an instant of the axis.
func seconds(t timeline.Time) string { return fmt.Sprintf("%.2f s", t.Seconds()) }

// schedParts are the figures of the scheduler's samples.
type schedParts struct {
	Parts []samplePart `json:"parts"`
}

type samplePart struct {
	Title   string   `json:"title"`
	Figures *table   `json:"figures"`
	Waits   *table   `json:"waits"`
	Notes   []string `json:"notes"`
}

// schedSamples is what loupe sched prints, of the range.
func schedSamples(ctx context.Context, s *subject, q *query) (*schedParts, error) {
	rounds, err := s.roundsIn(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &schedParts{Parts: []samplePart{}}
	for _, r := range rounds {
		if r.Sched == nil || len(r.Sched.Samples) == 0 {
			continue
		}
		d := &r.Sched.Derived
		p := samplePart{Title: r.title, Figures: tableOf(report.SchedFigures(d)), Notes: []string{}}
		if len(d.Waits) > 0 {
			w := &report.Sheet{Key: "waits", Title: "What blocked goroutines wait for", Columns: []report.Column{{Key: "reason", Head: "reason"}, {Key: "mean", Head: "mean"}, {Key: "max", Head: "most"}}}
			for _, x := range d.Waits {
				w.Rows = append(w.Rows, []any{x.Reason, x.Mean, x.Max})
			}
			p.Waits = tableOf(w)
		}
		for _, n := range r.Sched.Notes {
			p.Notes = append(p.Notes, n.Text)
		}
		out.Parts = append(out.Parts, p)
	}
	if len(out.Parts) == 0 {
		return nil, nothing("The runtime tells nothing of its scheduler in this time (GODEBUG=schedtrace=1000).")
	}
	return out, nil
}
