package sched

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// TaskHistory is one task with everything below it, and the path through the
// program that its time was spent on.
type TaskHistory struct {
	Reader *exectrace.Reader
	Start  timeline.Time // of the trace
	// Span is the task's time; of a task that the trace has cut off, up to the
	// edge of the trace.
	Span timeline.Span
	// Tree holds the task and all tasks below it, parents first, with their
	// depth.
	Tree []TaskNode
	// Regions are those of all these tasks, in the order of their begins.
	Regions []Region
	// Logs are the messages of all these tasks, in order.
	Logs []TaskLog
	// Path covers the task's time from begin to end.
	Path []Step
}

// TaskNode is a task at its depth below the one that was asked for.
type TaskNode struct {
	Task
	Depth int
}

// TaskLog is one message.
type TaskLog struct {
	At       timeline.Time
	Task     exectrace.TaskID
	G        exectrace.GoID
	Category exectrace.NameID
	Message  string
}

// Step is a stretch of a task's critical path: what the task was waiting for
// then. Depth counts the waits that lead from the task's own goroutine to this
// one.
type Step struct {
	Interval
	Depth int
}

// The bounds of what FindTask holds.
const (
	maxTaskStays = 4 << 20
	maxTaskLogs  = 10_000
	maxPathDepth = 32
)

// FindTask reads one task: its tree, regions, messages and critical path. It
// reads the trace twice. It is an error when the trace does not have the task,
// and [sweep.ErrStopped] when stop, unless it is nil, has said so.
func FindTask(t *exectrace.Trace, id exectrace.TaskID, stop func() bool) (*TaskHistory, error) {
	h := &TaskHistory{}
	owner, err := h.readTree(t, id, stop)
	if err != nil {
		return nil, err
	}
	stays, err := h.readStays(t, stop)
	if err != nil {
		return nil, err
	}
	h.Path = walkPath(stays, owner, h.Span)
	return h, nil
}

// readTree finds the task and what is below it, and the goroutine that has
// ended it.
func (h *TaskHistory) readTree(t *exectrace.Trace, id exectrace.TaskID, stop func() bool) (owner exectrace.GoID, err error) {
	pass := sweep.New(t)
	r := pass.Reader()
	h.Reader = r
	owner = exectrace.NoGoroutine
	tasks := map[exectrace.TaskID]*Task{}
	below := map[exectrace.TaskID]bool{id: true}
	s := NewSummarizer(pass.Goroutines(), Sink{
		Task: func(k *Task) {
			if below[k.ID] {
				keep := *k
				keep.Goroutines = slices.Clone(k.Goroutines)
				tasks[k.ID] = &keep
			}
		},
		Region: func(re *Region) {
			if below[re.Task] && re.Name != exectrace.NameNone {
				h.Regions = append(h.Regions, *re)
			}
		},
	}, SummaryOptions{KeepTasks: true})
	var last timeline.Time
	pass.Join(s)
	pass.Join(sweep.On(sweep.Of(exectrace.KindSync, exectrace.KindTaskBegin, exectrace.KindTaskEnd, exectrace.KindLog), func(e *exectrace.Event) {
		last = e.Time
		switch e.Kind {
		case exectrace.KindSync:
			if h.Start == 0 {
				h.Start = e.Time
			}
		case exectrace.KindTaskBegin:
			if below[e.Parent()] {
				below[e.Task()] = true
			}
			if e.Task() == id && owner == exectrace.NoGoroutine {
				owner = e.G
			}
		case exectrace.KindTaskEnd:
			if e.Task() == id {
				owner = e.G
			}
		case exectrace.KindLog:
			if below[e.Task()] && len(h.Logs) < maxTaskLogs {
				h.Logs = append(h.Logs, TaskLog{e.Time, e.Task(), e.G, e.Name, r.Message()})
			}
		}
	}))
	if err := pass.Run(stop); err != nil {
		return owner, err
	}
	s.Finish()
	root := tasks[id]
	if root == nil {
		return owner, fmt.Errorf("the trace has no task %d", id)
	}
	h.Span = timeline.Span{Start: max(root.Start, h.Start), End: cmp.Or(root.End, last)}
	children := map[exectrace.TaskID][]*Task{}
	for _, k := range tasks {
		if k.ID != id {
			children[k.Parent] = append(children[k.Parent], k)
		}
	}
	var add func(k *Task, depth int)
	add = func(k *Task, depth int) {
		h.Tree = append(h.Tree, TaskNode{*k, depth})
		list := children[k.ID]
		delete(children, k.ID) // ids can be used again: no circle
		slices.SortFunc(list, func(a, b *Task) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
		for _, c := range list {
			add(c, depth+1)
		}
	}
	add(root, 0)
	slices.SortStableFunc(h.Regions, func(a, b Region) int { return cmp.Compare(a.Start, b.Start) })
	return owner, nil
}

// readStays collects what all goroutines did during the task.
func (h *TaskHistory) readStays(t *exectrace.Trace, stop func() bool) (map[exectrace.GoID][]Interval, error) {
	stays := map[exectrace.GoID][]Interval{}
	n := 0
	filter := &Filter{from: time.Duration(h.Span.Start - h.Start), to: time.Duration(h.Span.End - h.Start)}
	a, err := Analyze(t, AnalyzeOptions{Filter: filter, Top: 1, Stop: stop, Each: func(_ *exectrace.Reader, i *Interval) {
		if n++; n <= maxTaskStays {
			stays[i.G] = append(stays[i.G], *i)
		}
	}})
	if err != nil {
		return nil, err
	}
	if stop != nil && stop() {
		return nil, sweep.ErrStopped
	}
	if n > maxTaskStays {
		return nil, fmt.Errorf("goroutines changed state %d times during the task; at most %d are followed", n, maxTaskStays)
	}
	h.Reader = a.Reader // the ids of names and stacks are those of this pass
	return stays, nil
}

// path walks back from the end of a task.
type path struct {
	stays map[exectrace.GoID][]Interval
	steps []Step
	on    map[exectrace.GoID]int // how often a goroutine is being walked
}

// walkPath returns the critical path of goroutine g through a span, in order:
// what it did, and where it waited for another goroutine, what that one did
// meanwhile.
func walkPath(stays map[exectrace.GoID][]Interval, g exectrace.GoID, span timeline.Span) []Step {
	p := &path{stays: stays, on: map[exectrace.GoID]int{}}
	p.walk(g, span, 0)
	return p.steps
}

func (p *path) walk(g exectrace.GoID, span timeline.Span, depth int) {
	p.on[g]++
	defer func() { p.on[g]-- }()
	list := p.stays[g]
	first, _ := slices.BinarySearchFunc(list, span.Start, func(i Interval, t timeline.Time) int {
		if i.End <= t {
			return -1
		}
		return 1
	})
	at := span.Start
	for _, i := range list[first:] {
		if i.Start >= span.End {
			break
		}
		if !cut(&i, span) {
			continue
		}
		if i.Start > at {
			p.gap(g, at, i.Start, depth)
		}
		at = i.End
		if i.State == exectrace.Waiting && i.By != exectrace.NoGoroutine && i.By != g && depth < maxPathDepth && p.on[i.By] == 0 && len(p.stays[i.By]) > 0 {
			p.walk(i.By, timeline.Span{Start: i.Start, End: i.End}, depth+1)
			continue
		}
		p.steps = append(p.steps, Step{i, depth})
	}
	if at < span.End {
		p.gap(g, at, span.End, depth)
	}
}

// gap is time in which the goroutine did not exist, or of which the trace
// knows nothing.
func (p *path) gap(g exectrace.GoID, from, to timeline.Time, depth int) {
	p.steps = append(p.steps, Step{Interval{G: g, State: exectrace.NotExist, Start: from, End: to, P: exectrace.NoProc, By: exectrace.NoGoroutine}, depth})
}
