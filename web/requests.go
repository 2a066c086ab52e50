package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	figures "loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/report/requests"
	"loupe/session"
	"loupe/value/timeline"
)

var requestEndpoints = []endpoint{
	on("requests", func(ctx context.Context, s *subject, q *query) (*requestsPage, error) {
		span, _, err := s.chosen(ctx, q)
		if err != nil {
			return nil, err
		}
		return requestsOf(ctx, s, span)
	}),
	on("requests/one", oneRequest),
}

// requestsPage is where the time of requests goes in a range, or that of what else the
// program works on: the page of loupe trace requests with -from and -to.
type requestsPage struct {
	// Start is where the trace begins on the axis, which is the zero of the times in
	// the tables; Covers is the part of the range that the trace does.
	Start  timeline.Time `json:"start"`
	Covers timeline.Span `json:"covers"`
	// Filter is what of the command line gives the same.
	Filter    string     `json:"filter"`
	Divisions []division `json:"divisions"`
	Page      *facts     `json:"page"`
}

// division is the time of one sort of units, of typical and of slow ones.
type division struct {
	Title string      `json:"title"`
	Parts []unitsPart `json:"parts"`
}

// unitsPart are some units, and what the time of one of them passes with.
type unitsPart struct {
	Name   string        `json:"name"`
	Each   time.Duration `json:"each_ns"`
	Shown  string        `json:"shown"`
	Slices []unitsSlice  `json:"slices"`
}

type unitsSlice struct {
	Kind  string        `json:"kind"`
	Name  string        `json:"name"`
	Each  time.Duration `json:"each_ns"`
	Share float64       `json:"share"`
	Shown string        `json:"shown"`
}

// requestRows is how many rows the tables have.
const requestRows = 30

// requestsOf reads the part of the trace that lies in a span of the axis.
func requestsOf(ctx context.Context, s *subject, span timeline.Span) (*requestsPage, error) {
	return once(ctx, s, fmt.Sprint("requests ", span.Start, " ", span.End), func(ctx context.Context) (*requestsPage, error) {
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
		page := &requestsPage{Start: t.Clock.At(int64(begin)), Covers: t.On(part), Filter: filterOf(begin, t.Span(), part), Divisions: []division{}}
		var filter *sched.Filter
		if page.Filter != "" {
			if filter, err = sched.ParseFilter(page.Filter); err != nil {
				return nil, err
			}
		} else {
			_ = s.sweep(ctx, nil, figures.Wants(in)...) // what is wrong with the trace is said below
		}
		tell := s.job("dividing the time of requests")
		defer tell(1)
		a, err := figures.AccountIn(in, filter, func() bool { return ctx.Err() != nil })
		if err != nil {
			return nil, err
		}
		page.Page = factsOf(requests.List(a, false, requestRows))
		for _, d := range requests.Divisions(a) {
			page.Divisions = append(page.Divisions, division{d.Title, []unitsPart{unitsPartOf("typical", d.EachTypical, d.Typical), unitsPartOf("slow", d.EachSlow, d.Slow)}})
		}
		return page, nil
	})
}

func unitsPartOf(name string, each time.Duration, slices []requests.Slice) unitsPart {
	p := unitsPart{name, each, shownText(each), []unitsSlice{}}
	for _, x := range slices {
		p.Slices = append(p.Slices, unitsSlice{x.Kind, x.Name, x.Each, x.Share, shownText(x.Each)})
	}
	return p
}

// requestPage is one unit: where its time went, and in which order.
type requestPage struct {
	ID int64 `json:"id"`
	// Span is when it was, on the axis; Goroutine is whose it was.
	Span      timeline.Span `json:"span"`
	Goroutine int64         `json:"goroutine"`
	Page      *facts        `json:"page"`
}

// oneRequest tells one unit step by step.
func oneRequest(ctx context.Context, s *subject, q *query) (*requestPage, error) {
	id, err := q.number("id", 0)
	if err != nil {
		return nil, err
	}
	return onceFew(ctx, s, "request", fmt.Sprint(id), func(ctx context.Context) (*requestPage, error) {
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
		tell := s.job(fmt.Sprint("reading request ", id))
		defer tell(1)
		a, err := figures.AccountWith(in, id, func() bool { return ctx.Err() != nil })
		if err != nil {
			return nil, err
		}
		if a.One == nil {
			return nil, nothing("The trace has no request %d: the table lists the slowest with their ids.", id)
		}
		return &requestPage{id, t.On(a.One.Span), int64(a.One.G), factsOf(requests.One(a, a.One, 200))}, nil
	})
}
