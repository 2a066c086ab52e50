package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/report"
	"loupe/value/timeline"
)

// goroutineLife is what a goroutine did: the page of loupe trace goroutine, or
// what of it is in a range.
type goroutineLife struct {
	Goroutine int64  `json:"goroutine"`
	Function  string `json:"function"`
	// Span is its time in the trace, on the axis; Within is the range that the
	// page is of.
	Span   timeline.Span `json:"span"`
	Within timeline.Span `json:"within"`
	Page   *facts        `json:"page"`
}

// lifeRows is how many rows the tables of a goroutine's page have, and lifeKept
// how many stays are read for them, as on the command line.
const (
	lifeRows = 1000
	lifeKept = 100_000
)

// timelineGoroutine tells of one goroutine.
func timelineGoroutine(ctx context.Context, s *subject, q *query) (*goroutineLife, error) {
	t, err := s.timeline(ctx, true)
	if err != nil {
		return nil, err
	}
	id, err := q.number("g", -1)
	if err != nil {
		return nil, err
	}
	lane := tiles.Lane{Span: t.Span()} // without a lane of its own it may be anywhere
	if n, ok := t.Find(tiles.KindGoroutine, id, ""); ok {
		lane = t.Lane(n)
	} else if t.Dropped().Goroutines == 0 {
		return nil, nothing("The trace has no goroutine %d.", id)
	}
	life := &goroutineLife{Goroutine: id, Function: lane.Name, Span: t.On(lane.Span)}
	if life.Within, err = q.span(life.Span); err != nil {
		return nil, err
	}
	life.Within.Start, life.Within.End = max(life.Within.Start, life.Span.Start), min(life.Within.End, life.Span.End)
	opts := sched.HistoryOptions{Keep: lifeKept}
	if life.Within != life.Span {
		if life.Within.Len() == 0 {
			return nil, nothing("Goroutine %d does not live in this range.", id)
		}
		opts.Within = t.Own(life.Within)
		opts.First = t.Generation(opts.Within.Start)
	}
	life.Page, err = once(ctx, s, fmt.Sprint("goroutine ", id, opts.Within), func(ctx context.Context) (*facts, error) {
		opts.Stop = func() bool { return ctx.Err() != nil }
		h, err := sched.ReadHistory(t.Trace, exectrace.GoID(id), opts)
		if errors.Is(err, sweep.ErrStopped) {
			return nil, context.Canceled
		}
		if err != nil {
			return nil, &refusal{http.StatusNotFound, err.Error()}
		}
		page := report.TraceGoroutine(h, lifeRows)
		if opts.Within.Len() > 0 {
			page.Facts = factsWithin(h, lane, opts.Within)
		}
		return factsOf(page), nil
	})
	return life, err
}

// factsWithin are the figures of a goroutine in a part of its life.
func factsWithin(h *sched.History, lane tiles.Lane, within timeline.Span) []report.Fact {
	return []report.Fact{
		{Key: "id", Head: "goroutine", Value: fmt.Sprint(h.ID)},
		{Key: "function", Head: "function", Value: lane.Name},
		{Key: "total_ns", Head: "in the range for", Value: lane.Span.Overlap(within)},
		{Key: "exec_ns", Head: "running", Value: h.Spent.Running.Time},
		{Key: "sched_wait_ns", Head: "for a P", Value: h.Spent.Runnable.Time},
		{Key: "syscall_ns", Head: "in system calls", Value: h.Spent.Syscall.Time},
		{Key: "blocked_ns", Head: "waiting", Value: h.Spent.Waiting.Time},
		{Key: "stays", Head: "stays in a state", Value: h.Spent.Running.Count + h.Spent.Runnable.Count + h.Spent.Syscall.Count + h.Spent.Waiting.Count},
	}
}
