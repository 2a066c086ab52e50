package sched

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// TaskGroup is all tasks of one type.
type TaskGroup struct {
	Name  exectrace.NameID
	Count int64
	// Incomplete have no begin or no end in the trace.
	Incomplete int64
	Latency    Histogram // of the complete ones
	Worst      []Task    // slowest first
	// Regions are what goroutines did in these tasks.
	Regions []*RegionGroup
}

// RegionGroup is all regions of one type, of one type of task or of all.
type RegionGroup struct {
	Name       exectrace.NameID
	Count      int64
	Incomplete int64
	Time       Histogram // of the complete ones, begin to end
	Stack      stack.ID  // where the first of them began
	Stats                // of all: what their goroutines did meanwhile
}

func (g *RegionGroup) add(r *Region) {
	g.Count++
	if g.Stack == 0 {
		g.Stack = r.Stack
	}
	if r.Start == 0 || r.End == 0 {
		g.Incomplete++
	} else {
		g.Time.Add(time.Duration(r.End - r.Start))
	}
	g.Exec += r.Exec
	g.SchedWait += r.SchedWait
	g.Syscall += r.Syscall
	g.SyscallBlock += r.SyscallBlock
	g.Total += r.Total
	for n, d := range r.Blocked.All() {
		g.Blocked.add(n, d)
	}
	for n, d := range r.Ranges.All() {
		g.Ranges.add(n, d)
	}
}

// regionType is all regions with one name: their group, and that of those in
// the type of task that was last, which is nearly always the next one's.
type regionType struct {
	all    RegionGroup
	task   exectrace.NameID
	within *RegionGroup
}

// userWork collects tasks and regions by type.
type userWork struct {
	a       *analyzer
	tasks   map[exectrace.NameID]*TaskGroup
	regions []*regionType                        // by the name's id
	within  map[[2]exectrace.NameID]*RegionGroup // by the types of task and region
}

func (u *userWork) init(a *analyzer) {
	u.a = a
	u.tasks = make(map[exectrace.NameID]*TaskGroup)
	u.within = make(map[[2]exectrace.NameID]*RegionGroup)
}

func (u *userWork) region(r *Region) {
	if f := u.a.opts.Filter; f != nil && !f.Region(u.a.out.Reader, r) || r.Name == exectrace.NameNone {
		return
	}
	place := placeOf(&u.regions, r.Name)
	if *place == nil {
		*place = &regionType{all: RegionGroup{Name: r.Name}}
	}
	this := *place
	this.all.add(r)
	if r.Task == exectrace.BackgroundTask {
		return
	}
	if task := u.a.sum.TaskName(r.Task); this.within == nil || this.task != task {
		k := [2]exectrace.NameID{task, r.Name}
		if u.within[k] == nil {
			u.within[k] = &RegionGroup{Name: r.Name}
		}
		this.task, this.within = task, u.within[k]
	}
	this.within.add(r)
}

func (u *userWork) task(t *Task) {
	if t.ID == exectrace.BackgroundTask {
		return
	}
	if f := u.a.opts.Filter; f != nil && !f.Task(u.a.out.Reader, t) {
		return
	}
	g := u.tasks[t.Name]
	if g == nil {
		g = &TaskGroup{Name: t.Name}
		u.tasks[t.Name] = g
	}
	g.Count++
	if !t.Complete() {
		g.Incomplete++
		return
	}
	d := time.Duration(t.End - t.Start)
	g.Latency.Add(d)
	if n := u.a.opts.Top; len(g.Worst) < n || d > g.Worst[n-1].Duration() {
		keep := *t
		keep.Goroutines = slices.Clone(t.Goroutines)
		g.Worst = append(g.Worst, keep)
		slices.SortStableFunc(g.Worst, func(a, b Task) int { return cmp.Compare(b.Duration(), a.Duration()) })
		g.Worst = g.Worst[:min(n, len(g.Worst))]
	}
}

// Duration returns the time from begin to end of a complete task.
func (t *Task) Duration() time.Duration { return time.Duration(t.End - t.Start) }

// TaskName returns the type of a task that has begun and not long ended.
func (s *Summarizer) TaskName(id exectrace.TaskID) exectrace.NameID {
	if t := s.tasks.last; t != nil && t.ID == id {
		return t.Name
	}
	if t := s.tasks.index.find(id); t != nil {
		return t.Name
	}
	return exectrace.NameNone
}

// finish returns the groups, most time first.
func (u *userWork) finish() (tasks []*TaskGroup, regions []*RegionGroup) {
	byTime := func(a, b *RegionGroup) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	}
	for k, g := range u.within {
		if t := u.tasks[k[0]]; t != nil {
			t.Regions = append(t.Regions, g)
		}
	}
	for _, t := range u.tasks {
		slices.SortFunc(t.Regions, byTime)
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b *TaskGroup) int {
		return cmp.Or(cmp.Compare(b.Latency.Sum, a.Latency.Sum), cmp.Compare(a.Name, b.Name))
	})
	for _, t := range u.regions {
		if t != nil {
			regions = append(regions, &t.all)
		}
	}
	slices.SortFunc(regions, byTime)
	return tasks, regions
}
