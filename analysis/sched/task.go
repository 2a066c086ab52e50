package sched

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
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
	index taskIndex
	last  *taskRecord        // the one that was asked for last, or nil
	ended []exectrace.TaskID // oldest first, from next on
	next  int
	// members are the goroutines of a task that has many.
	members map[exectrace.TaskID]map[exectrace.GoID]bool
}

// taskRecord is a task and room for the goroutines that most have.
type taskRecord struct {
	Task
	room [2]exectrace.GoID
}

func newTasks(keep bool, sink func(*Task)) tasks {
	return tasks{keep: keep, sink: sink, index: newTaskIndex(),
		members: make(map[exectrace.TaskID]map[exectrace.GoID]bool)}
}

// get returns a task, which may be new.
func (t *tasks) get(id exectrace.TaskID) *taskRecord {
	if t.last != nil && t.last.ID == id {
		return t.last
	}
	rec := t.index.find(id)
	if rec == nil {
		rec = t.index.add(id)
	}
	t.last = rec
	return rec
}

// few is how many goroutines a task may have before they are looked up in a
// map.
const few = 32

// touch notes that g has to do with the task.
func (t *tasks) touch(task *taskRecord, g exectrace.GoID) {
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
	if e.Name != exectrace.NameNone { // the second end of a task has none
		task.Name = e.Name
	}
	t.touch(task, e.G)
	again := false
	if e.Kind == exectrace.KindTaskBegin {
		task.Start, task.Stack = e.Time, e.Stack
	} else if again = task.End != 0; !again { // what has ended has ended
		task.End = e.Time
	}
	if p := e.Parent(); p != exectrace.NoTask && task.Parent == exectrace.NoTask {
		task.Parent = p
		t.get(p)
	}
	if e.Kind == exectrace.KindTaskEnd && !t.keep && !again {
		t.ended = append(t.ended, e.Task())
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
	rec := t.index.remove(id)
	if rec == nil {
		return
	}
	if t.sink != nil {
		t.sink(&rec.Task)
	}
	if len(rec.Goroutines) >= few {
		delete(t.members, id)
	}
	t.last = nil
}

// finish finishes all tasks, in the order of their ids.
func (t *tasks) finish() {
	ids := make([]exectrace.TaskID, 0, t.index.live)
	for _, e := range t.index.entries {
		if e.slot != 0 {
			ids = append(ids, t.index.at(e.slot-1).ID)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		t.retire(id)
	}
}

// taskIndex leads from ids to records, by a hash table with linear probing.
// Records lie in pages, so that growing copies none of them, and are used
// again, last one first.
//
// Note: with a map of pointers the look-ups alone were a sixth of the time for
// a trace that is full of tasks, and each task was two allocations.
type taskIndex struct {
	pages []*[taskPage]taskRecord
	used  uint32 // of all pages
	free  []uint32

	entries []taskEntry // a power of two, at most half full
	live    int
	shift   uint8
	wide    bool   // there was an id of more than 32 bits
	seed    uint64 // odd and random: no input can be made to collide
}

// taskEntry leads from an id, of which it has the low bits, to a record.
type taskEntry struct {
	low, slot uint32 // slot plus one; 0 is free
}

const taskPage = 64

func newTaskIndex() taskIndex {
	x := taskIndex{seed: rand.Uint64() | 1}
	x.resize(128)
	return x
}

func (x *taskIndex) at(slot uint32) *taskRecord { return &x.pages[slot/taskPage][slot%taskPage] }

// home is where the search for id begins.
//
// Note: to keep neighbours together, as the reader does with goroutines, makes
// removal slow: tasks are removed one after the other, each from within a
// long row of those made right after it.
func (x *taskIndex) home(id exectrace.TaskID) uint64 { return uint64(id) * x.seed >> x.shift }

// idOf returns the id that e stands for, if it can from e alone: the record of
// a neighbour is rarely in the cache.
func (x *taskIndex) idOf(e taskEntry) exectrace.TaskID {
	if x.wide {
		return x.at(e.slot - 1).ID
	}
	return exectrace.TaskID(e.low)
}

func (x *taskIndex) resize(n int) {
	old := x.entries
	x.entries = make([]taskEntry, n)
	x.shift = uint8(64 - (bits.Len(uint(n)) - 1))
	for _, e := range old {
		if e.slot != 0 {
			x.insert(x.idOf(e), e.slot)
		}
	}
}

func (x *taskIndex) insert(id exectrace.TaskID, slot uint32) {
	mask := uint64(len(x.entries) - 1)
	i := x.home(id)
	for x.entries[i&mask].slot != 0 {
		i++
	}
	x.entries[i&mask] = taskEntry{uint32(id), slot}
}

// find returns the record of a task, or nil.
func (x *taskIndex) find(id exectrace.TaskID) *taskRecord {
	mask := uint64(len(x.entries) - 1)
	for i := x.home(id); ; i++ {
		e := x.entries[i&mask]
		if e.slot == 0 {
			return nil
		}
		if e.low == uint32(id) {
			if rec := x.at(e.slot - 1); rec.ID == id {
				return rec
			}
		}
	}
}

// add makes a record for a task that has none.
func (x *taskIndex) add(id exectrace.TaskID) *taskRecord {
	x.wide = x.wide || id > 1<<32-1
	if x.live++; 2*x.live > len(x.entries) {
		x.resize(2 * len(x.entries))
	}
	var slot uint32
	if n := len(x.free); n > 0 {
		slot, x.free = x.free[n-1], x.free[:n-1]
	} else {
		slot = x.used
		if x.used++; slot%taskPage == 0 {
			x.pages = append(x.pages, new([taskPage]taskRecord))
		}
	}
	rec := x.at(slot)
	rec.Task = Task{ID: id, Parent: exectrace.NoTask, Goroutines: rec.Goroutines[:0]}
	if cap(rec.Goroutines) == 0 {
		rec.Goroutines = rec.room[:0]
	}
	x.insert(id, slot+1)
	return rec
}

// remove forgets a task and returns its record, which is valid until the next
// one is added; nil if there is none.
func (x *taskIndex) remove(id exectrace.TaskID) *taskRecord {
	mask := uint64(len(x.entries) - 1)
	i := x.home(id)
	var rec *taskRecord
	for {
		e := x.entries[i&mask]
		if e.slot == 0 {
			return nil
		}
		if e.low == uint32(id) {
			if rec = x.at(e.slot - 1); rec.ID == id {
				break
			}
		}
		i++
	}
	x.live--
	x.free = append(x.free, x.entries[i&mask].slot-1)
	// Close the gap: an entry behind it moves up unless its home lies between.
	gap := i & mask
	for j := gap; ; {
		j = (j + 1) & mask
		e := x.entries[j]
		if e.slot == 0 {
			break
		}
		if (j-x.home(x.idOf(e)))&mask >= (j-gap)&mask {
			x.entries[gap] = e
			gap = j
		}
	}
	x.entries[gap] = taskEntry{}
	return rec
}
