package sched

import (
	"slices"

	"loupe/exectrace"
	"loupe/stack"
	"loupe/timeline"
)

// Task is one user task.
type Task struct {
	ID   exectrace.TaskID
	Name exectrace.NameID
	// Parent is the task that it was made in; NoTask when there is none or
	// the trace has not seen it begin.
	Parent exectrace.TaskID
	// Start and End are 0 for what the trace has not seen.
	Start, End timeline.Time
	// Stack is where it began.
	Stack stack.ID
	// Regions and Logs count what refers to it.
	Regions, Logs int
	// Goroutines are those that have begun or ended the task, or been in one
	// of its regions, or logged for it; in the order of their appearance. For
	// the background task they are listed with [SummaryOptions.KeepTasks] alone.
	Goroutines []exectrace.GoID
}

// Complete says whether the trace has the task's begin and end.
func (t *Task) Complete() bool { return t.Start != 0 && t.End != 0 }

// retireAfter is how many tasks end before one that has ended is finished.
const retireAfter = 1 << 12

// tasks holds the tasks that live, and those that ended not long ago: a task
// may be mentioned after its end.
type tasks struct {
	keep  bool
	sink  func(*Task)
	byID  map[exectrace.TaskID]*Task
	ended []exectrace.TaskID // oldest first, from next on
	next  int
	free  []*Task
	// members are the goroutines of a task that has many.
	members map[exectrace.TaskID]map[exectrace.GoID]bool
}

func newTasks(keep bool, sink func(*Task)) tasks {
	return tasks{keep: keep, sink: sink, byID: make(map[exectrace.TaskID]*Task),
		members: make(map[exectrace.TaskID]map[exectrace.GoID]bool)}
}

// get returns a task, which may be new.
func (t *tasks) get(id exectrace.TaskID) *Task {
	task := t.byID[id]
	if task == nil {
		if n := len(t.free); n > 0 {
			task, t.free = t.free[n-1], t.free[:n-1]
		} else {
			task = new(Task)
		}
		*task = Task{ID: id, Parent: exectrace.NoTask, Goroutines: task.Goroutines[:0]}
		t.byID[id] = task
	}
	return task
}

// few is how many goroutines a task may have before they are looked up in a
// map.
const few = 32

// touch notes that g has to do with the task.
func (t *tasks) touch(task *Task, g exectrace.GoID) {
	n := len(task.Goroutines)
	if n > 0 && task.Goroutines[n-1] == g {
		return
	}
	if task.ID == exectrace.BackgroundTask && !t.keep {
		return // that is every goroutine with a region
	}
	if n < few {
		if slices.Contains(task.Goroutines, g) {
			return
		}
	} else {
		all := t.members[task.ID]
		if all == nil {
			all = make(map[exectrace.GoID]bool)
			for _, old := range task.Goroutines {
				all[old] = true
			}
			t.members[task.ID] = all
		}
		if all[g] {
			return
		}
		all[g] = true
	}
	task.Goroutines = append(task.Goroutines, g)
}

func (t *tasks) event(e *exectrace.Event) {
	task := t.get(e.Task())
	task.Name = e.Name
	t.touch(task, e.G)
	if e.Kind == exectrace.KindTaskBegin {
		task.Start, task.Stack = e.Time, e.Stack
	} else {
		task.End = e.Time
	}
	if p := e.Parent(); p != exectrace.NoTask && task.Parent == exectrace.NoTask {
		task.Parent = p
		t.get(p)
	}
	if e.Kind == exectrace.KindTaskEnd && !t.keep {
		t.ended = append(t.ended, task.ID)
		if len(t.ended)-t.next > retireAfter {
			t.retire(t.ended[t.next])
			if t.next++; t.next == retireAfter {
				t.ended = append(t.ended[:0], t.ended[t.next:]...)
				t.next = 0
			}
		}
	}
}

func (t *tasks) region(e *exectrace.Event) {
	task := t.get(e.Task())
	task.Regions++
	t.touch(task, e.G)
}

func (t *tasks) log(e *exectrace.Event) {
	task := t.get(e.Task())
	task.Logs++
	t.touch(task, e.G)
}

// retire finishes a task.
func (t *tasks) retire(id exectrace.TaskID) {
	task := t.byID[id]
	if task == nil {
		return // it has ended twice
	}
	if t.sink != nil {
		t.sink(task)
	}
	delete(t.byID, id)
	delete(t.members, id)
	t.free = append(t.free, task)
}

// finish finishes all tasks, in the order of their ids.
func (t *tasks) finish() {
	ids := make([]exectrace.TaskID, 0, len(t.byID))
	for id := range t.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t.retire(id)
	}
}
