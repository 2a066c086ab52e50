package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/report"
	"loupe/value/timeline"
)

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
	all, err := once(ctx, s, "tasks", t.tasks)
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
	pass := sweep.New(t.Trace)
	r := pass.Reader()
	on := func(start, end timeline.Time) timeline.Span {
		if start == 0 {
			start = t.Whole.Start
		}
		if end == 0 {
			end = t.Whole.End
		}
		return t.On(timeline.Span{Start: start, End: end})
	}
	sum := sched.NewSummarizer(pass.Goroutines(), sched.Sink{
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
	pass.Join(sum)
	if err := pass.Run(func() bool { return ctx.Err() != nil }); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
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

// taskLanes is a page of the lanes of tasks.
type taskLanes struct {
	Total   int        `json:"total"` // that were chosen
	Version int        `json:"version"`
	Lanes   []taskLane `json:"lanes"`
}

// taskLane is a task as a lane: what its regions did one after the other.
type taskLane struct {
	taskItem
	Spans []taskSpan `json:"spans"`
	// Left counts regions that are not among the spans because there are too
	// many.
	Left int `json:"left"`
}

// taskSpan is a stretch of a task. Where several regions go on, it is of the
// one that has begun last; where there is none, Region is "".
type taskSpan struct {
	timeline.Span
	Region    string `json:"region"`
	Goroutine int64  `json:"goroutine"`
}

// maxTaskLanes is how many lanes an answer has at most, and maxLaneRegions how
// many regions each.
const (
	maxTaskLanes   = 200
	maxLaneRegions = 500
)

// timelineTaskLanes lists tasks as lanes, the longest or the first ones first.
func timelineTaskLanes(ctx context.Context, s *subject, q *query) (*taskLanes, error) {
	t, err := s.timeline(ctx, true)
	if err != nil {
		return nil, err
	}
	within, err := q.span(t.On(t.Whole))
	if err != nil {
		return nil, err
	}
	from, err := q.number("from", 0)
	if err != nil {
		return nil, err
	}
	n, err := q.number("n", 50)
	if err != nil {
		return nil, err
	}
	id, err := q.number("id", -1)
	if err != nil {
		return nil, err
	}
	all, err := once(ctx, s, "tasks", t.tasks)
	if err != nil {
		return nil, err
	}
	var chosen []*taskItem
	for i := range all.Tasks {
		if x := &all.Tasks[i]; id < 0 && x.within(within, q.Get("q")) || id >= 0 && x.ID == uint64(id) {
			chosen = append(chosen, x)
		}
	}
	if q.Get("order") == "start" {
		slices.SortStableFunc(chosen, func(a, b *taskItem) int { return cmp.Compare(a.Start, b.Start) })
	}
	out := &taskLanes{Total: len(chosen), Version: t.Number, Lanes: []taskLane{}}
	from = min(max(0, from), int64(len(chosen)))
	chosen = chosen[from:min(from+min(max(0, n), maxTaskLanes), int64(len(chosen)))]
	regions := all.regionsOf(chosen)
	for _, x := range chosen {
		l := taskLane{taskItem: *x}
		l.Spans, l.Left = taskSpans(x.Span, regions[x.ID])
		out.Lanes = append(out.Lanes, l)
	}
	return out, nil
}

// within says whether a task has a text in its name and something in a range.
func (x *taskItem) within(r timeline.Span, text string) bool {
	return strings.Contains(x.Name, text) && x.Start < r.End && (x.End > r.Start || x.Len() == 0)
}

// regionsOf are the regions of some tasks, in the order of their begins.
func (all *traceTasks) regionsOf(tasks []*taskItem) map[uint64][]*regionItem {
	of := make(map[uint64][]*regionItem, len(tasks))
	for _, x := range tasks {
		of[x.ID] = nil
	}
	for i := range all.Regions {
		r := &all.Regions[i]
		if list, ok := of[r.Task]; ok {
			of[r.Task] = append(list, r)
		}
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *regionItem) int { return cmp.Compare(a.Start, b.Start) })
	}
	return of
}

// taskSpans cuts a task at the begins and ends of its regions, which are in the
// order of their begins. It returns how many of them are left out.
func taskSpans(task timeline.Span, regions []*regionItem) (spans []taskSpan, left int) {
	left = max(0, len(regions)-maxLaneRegions)
	regions = regions[:len(regions)-left]
	cuts := []timeline.Time{task.Start, task.End}
	for _, r := range regions {
		cuts = append(cuts, min(max(r.Start, task.Start), task.End), min(max(r.End, task.Start), task.End))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	spans = []taskSpan{}
	var open []*regionItem
	for i := range len(cuts) - 1 {
		one := taskSpan{Span: timeline.Span{Start: cuts[i], End: cuts[i+1]}, Goroutine: -1}
		for len(regions) > 0 && regions[0].Start <= one.Start {
			open, regions = append(open, regions[0]), regions[1:]
		}
		open = slices.DeleteFunc(open, func(r *regionItem) bool { return r.End <= one.Start })
		if n := len(open); n > 0 {
			one.Region, one.Goroutine = open[n-1].Name, open[n-1].Goroutine
		}
		if n := len(spans); n > 0 && spans[n-1].Region == one.Region && spans[n-1].Goroutine == one.Goroutine {
			spans[n-1].End = one.End
			continue
		}
		spans = append(spans, one)
	}
	return spans, left
}

// taskPage is one task: the page of loupe trace tasks ID, and its critical path
// on the axis.
type taskPage struct {
	ID uint64 `json:"id"`
	timeline.Span
	Page *facts     `json:"page"`
	Path []pathStep `json:"path"`
	// Left counts the steps behind those.
	Left int `json:"left"`
}

// pathStep is a stretch of a critical path: what the task waited for then.
type pathStep struct {
	timeline.Span
	Goroutine int64  `json:"goroutine"`
	State     string `json:"state"`
	Reason    string `json:"reason"`
	Function  string `json:"function"` // that the goroutine began with
	// Depth counts the waits that lead there from the task's own goroutine.
	Depth int `json:"depth"`
}

// taskRows is how many rows the tables of a task have, and maxPath how many
// steps of its path are told.
const (
	taskRows = 200
	maxPath  = 2000
)

// timelineTask tells of one task.
func timelineTask(ctx context.Context, s *subject, q *query) (*taskPage, error) {
	id, err := q.number("id", -1)
	if err != nil {
		return nil, err
	}
	t, err := s.timeline(ctx, true)
	if err != nil {
		return nil, err
	}
	return onceFew(ctx, s, "task", fmt.Sprint(id), func(ctx context.Context) (*taskPage, error) {
		h, err := sched.FindTask(t.Trace, exectrace.TaskID(id), func() bool { return ctx.Err() != nil })
		if errors.Is(err, sweep.ErrStopped) {
			return nil, context.Canceled
		}
		if err != nil {
			return nil, nothing("%s", sentence(err.Error())+".")
		}
		p := &taskPage{ID: uint64(id), Span: t.On(h.Span), Page: factsOf(report.TraceTask(h, taskRows)), Path: []pathStep{}, Left: max(0, len(h.Path)-maxPath)}
		for _, step := range h.Path[:len(h.Path)-p.Left] {
			one := pathStep{Span: t.On(timeline.Span{Start: step.Start, End: step.End}), Goroutine: int64(step.G), State: strings.ToLower(step.State.String()), Function: h.Reader.Name(step.Name), Depth: step.Depth}
			switch step.State {
			case exectrace.NotExist:
				one.State = "not there"
			case exectrace.Waiting:
				one.Reason = h.Reader.WaitReason(step.Reason, step.Stack)
			}
			p.Path = append(p.Path, one)
		}
		return p, nil
	})
}
