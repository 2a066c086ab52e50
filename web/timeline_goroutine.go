package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"loupe/exectrace"
	"loupe/report"
	"loupe/sched"
	"loupe/tiles"
	"loupe/timeline"
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
	life.Page, err = memo(ctx, s, fmt.Sprint("goroutine ", id, opts.Within), func(ctx context.Context) (*facts, error) {
		opts.Stop = func() bool { return ctx.Err() != nil }
		h, err := sched.ReadHistory(t.Trace, exectrace.GoID(id), opts)
		if errors.Is(err, sched.ErrStopped) {
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

// traceTasks are the user's tasks and regions of a trace.
type traceTasks struct {
	// TasksTotal and RegionsTotal count what there is in the range, of which
	// the longest are listed.
	TasksTotal   int          `json:"tasksTotal"`
	Tasks        []taskItem   `json:"tasks"`
	RegionsTotal int          `json:"regionsTotal"`
	Regions      []regionItem `json:"regions"`
	// TasksLeft and RegionsLeft count the shortest of the whole trace, which
	// are in no list because there are too many.
	TasksLeft   int `json:"tasksLeft"`
	RegionsLeft int `json:"regionsLeft"`
}

// taskItem is one task.
type taskItem struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Parent uint64 `json:"parent"` // 0 for none
	timeline.Span
	Begun      bool    `json:"begun"` // in the trace
	Ended      bool    `json:"ended"`
	Regions    int     `json:"regions"`
	Logs       int     `json:"logs"`
	Goroutines []int64 `json:"goroutines"`
}

// regionItem is one region.
type regionItem struct {
	Name      string `json:"name"`
	Goroutine int64  `json:"goroutine"`
	Task      uint64 `json:"task"`
	timeline.Span
	Begun   bool          `json:"begun"`
	Ended   bool          `json:"ended"`
	Running time.Duration `json:"exec_ns"`
	Ready   time.Duration `json:"sched_wait_ns"`
	Blocked time.Duration `json:"blocked_ns"`
}

const (
	maxTasks     = 100_000 // that are kept of each kind
	tasksInReply = 500
)

// timelineTasks lists tasks and regions, the longest first.
func timelineTasks(ctx context.Context, s *subject, q *query) (*traceTasks, error) {
	t, err := s.timeline(ctx, true)
	if err != nil {
		return nil, err
	}
	within, err := q.span(t.On(t.Whole))
	if err != nil {
		return nil, err
	}
	all, err := memo(ctx, s, "tasks", t.tasks)
	if err != nil {
		return nil, err
	}
	out := &traceTasks{TasksLeft: all.TasksLeft, RegionsLeft: all.RegionsLeft}
	out.Tasks, out.TasksTotal = longest(all.Tasks, within, q.Get("q"), func(x *taskItem) (string, timeline.Span) { return x.Name, x.Span })
	out.Regions, out.RegionsTotal = longest(all.Regions, within, q.Get("q"), func(x *regionItem) (string, timeline.Span) { return x.Name, x.Span })
	return out, nil
}

// longest returns the first of a list, which is sorted, that have a text in
// their name and something in a range; and how many there are.
func longest[T any](list []T, within timeline.Span, text string, of func(*T) (string, timeline.Span)) ([]T, int) {
	out, total := []T{}, 0
	for i := range list {
		name, span := of(&list[i])
		if !strings.Contains(name, text) || span.Start >= within.End || span.End <= within.Start && span.Len() > 0 {
			continue
		}
		if total++; len(out) < tasksInReply {
			out = append(out, list[i])
		}
	}
	return out, total
}

// tasks reads the tasks and regions of the trace.
func (t *traced) tasks(ctx context.Context) (*traceTasks, error) {
	all := &traceTasks{}
	r := t.Trace.Reader()
	on := func(start, end timeline.Time) timeline.Span {
		if start == 0 {
			start = t.Whole.Start
		}
		if end == 0 {
			end = t.Whole.End
		}
		return t.On(timeline.Span{Start: start, End: end})
	}
	sum := sched.NewSummarizer(r, sched.Sink{
		Task: func(k *sched.Task) {
			if k.ID == exectrace.BackgroundTask || k.ID == exectrace.NoTask {
				return
			}
			item := taskItem{
				ID: uint64(k.ID), Name: r.Name(k.Name), Span: on(k.Start, k.End), Begun: k.Start != 0, Ended: k.End != 0,
				Regions: k.Regions, Logs: k.Logs, Goroutines: make([]int64, len(k.Goroutines)),
			}
			if k.Parent != exectrace.NoTask {
				item.Parent = uint64(k.Parent)
			}
			for i, g := range k.Goroutines {
				item.Goroutines[i] = int64(g)
			}
			all.Tasks = append(all.Tasks, item)
			if len(all.Tasks) == 2*maxTasks {
				all.TasksLeft += sortTasks(&all.Tasks)
			}
		},
		Region: func(k *sched.Region) {
			if k.Name == exectrace.NameNone {
				return
			}
			all.Regions = append(all.Regions, regionItem{
				Name: r.Name(k.Name), Goroutine: int64(k.G), Task: uint64(k.Task), Span: on(k.Start, k.End), Begun: k.Start != 0, Ended: k.End != 0,
				Running: k.Exec, Ready: k.SchedWait, Blocked: k.Blocked.Sum(),
			})
			if len(all.Regions) == 2*maxTasks {
				all.RegionsLeft += sortRegions(&all.Regions)
			}
		},
	}, sched.SummaryOptions{})
	for n := 1; r.Next(); n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sum.Event(r.Event())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	sum.Finish()
	all.TasksLeft += sortTasks(&all.Tasks)
	all.RegionsLeft += sortRegions(&all.Regions)
	return all, nil
}

// sortTasks puts the longest first, and leaves out those behind the bound.
func sortTasks(list *[]taskItem) (left int) {
	slices.SortStableFunc(*list, func(a, b taskItem) int { return cmp.Compare(b.Len(), a.Len()) })
	left = max(0, len(*list)-maxTasks)
	*list = (*list)[:len(*list)-left]
	return left
}

func sortRegions(list *[]regionItem) (left int) {
	slices.SortStableFunc(*list, func(a, b regionItem) int { return cmp.Compare(b.Len(), a.Len()) })
	left = max(0, len(*list)-maxTasks)
	*list = (*list)[:len(*list)-left]
	return left
}
