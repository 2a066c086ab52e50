package collect

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// family is a process with all that come from it, followed from look to look: what they use of the
// CPUs and of the memory, and who of them still runs when it has ended. A process belongs to it that was
// seen as the child of one that does, or has its mark, wherever it is afterwards.
type family struct {
	mu      sync.Mutex
	proc    string // /proc
	root    int
	began   int64  // when the root did, in ticks since boot: nothing older comes from it
	mark    string // empty where loupe has not started it
	groups  bool   // who is in the process group of the root belongs to it: of others that may be a whole shell
	looked  bool
	members map[int]*kin
	// others are the processes that do not belong to it, and in how many looks that was seen.
	others map[int]int
	used   time.Duration
	// several says that there was another process than the root.
	several bool
}

// kin is a process of a family, as it was at the last look.
type kin struct {
	parent, group int
	start         int64         // ticks since boot, which together with its number names a process
	own           time.Duration // CPU time of its own
	waited        time.Duration // of the children that it has waited for, and of theirs
	rss           int64         // bytes
}

func newFamily(root int, mark string) *family { return familyIn("/proc", root, mark) }

func familyIn(proc string, root int, mark string) *family {
	return &family{proc: proc, root: root, mark: mark, groups: mark != "", members: map[int]*kin{}, others: map[int]int{}}
}

// look takes in who has come and what they have used. It returns the CPU time until now of all of them
// but one, and the resident memory that these have now.
//
// A process that has ended is not lost where its parent has waited for it: what the parent has
// then got of children beyond what was seen of that one by the last look is what it used since.
func (f *family) look(but int) (used time.Duration, rss int64) {
	if f == nil {
		return 0, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.newcomers() // before the members: who is the child of one that is there afterwards, is its child
	gone := map[int]*kin{}
	now := map[int]*kin{}
	for pid, was := range f.members {
		if k, ok := f.read(pid); ok && k.start == was.start {
			now[pid] = k
		} else {
			gone[pid] = was
		}
	}
	f.adopt(now, seen)
	credit := map[int]time.Duration{} // by who has waited: what was known of those that are gone
	for _, was := range gone {
		heir := was.parent
		for depth := 0; gone[heir] != nil && now[heir] == nil && depth < len(gone); depth++ {
			heir = gone[heir].parent
		}
		credit[heir] += was.own + was.waited
	}
	for pid, k := range now {
		was, old := f.members[pid]
		switch {
		case old && was.start == k.start:
			if pid != but {
				f.used += max(0, k.own-was.own)
			}
			f.used += max(0, k.waited-was.waited-credit[pid])
		case f.looked || f.mark != "": // at the first look at one that ran before, it is history
			if pid != but {
				f.used += k.own
			}
			f.used += k.waited
		}
		if pid != but {
			rss += k.rss
		}
	}
	f.members, f.looked = now, true
	root := now[f.root]
	f.several = f.several || len(now) > 1 || root != nil && root.waited > 0
	return f.used, rss
}

// met tells whether another process than the root has been seen, or been waited for by it.
func (f *family) met() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.several
}

// newcomers are the processes of which it is not known whether they belong to it.
func (f *family) newcomers() map[int]*kin {
	seen, there := map[int]*kin{}, map[int]bool{}
	names, _ := os.ReadDir(f.proc)
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		there[pid] = true
		// The environment of a process that is just becoming another program cannot be read.
		const sure = 2
		if f.members[pid] != nil || f.others[pid] >= sure {
			continue
		}
		if k, ok := f.read(pid); ok {
			seen[pid] = k
		}
	}
	for pid := range f.others {
		if !there[pid] {
			delete(f.others, pid)
		}
	}
	return seen
}

// adopt takes in those of the newcomers that belong to it.
func (f *family) adopt(now, seen map[int]*kin) {
	if k := seen[f.root]; k != nil && !f.looked {
		now[f.root], f.began = k, k.start
		delete(seen, f.root)
	}
	for grew := true; grew; {
		grew = false
		for pid, k := range seen {
			child := now[k.parent] != nil || f.groups && k.group == f.root && now[f.root] != nil
			if k.start >= f.began && (child || f.mark != "" && hasMark(f.proc, pid, f.mark)) {
				now[pid], grew = k, true
				delete(seen, pid)
			}
		}
	}
	for pid := range seen {
		f.others[pid]++
	}
}

// read is a process as it is now.
func (f *family) read(pid int) (*kin, bool) {
	stat, ok := readStat(f.proc, pid)
	if !ok {
		return nil, false
	}
	return &kin{
		parent: int(stat.number(statParent)), group: int(stat.number(statGroup)), start: stat.number(statStart),
		own: time.Duration(stat.number(statUser)+stat.number(statSystem)) * tick, waited: time.Duration(stat.number(statWaitedUser)+stat.number(statWaitedSys)) * tick,
		rss: stat.number(statResident) * int64(os.Getpagesize()),
	}, true
}

// left are those that still run, in ascending order.
func (f *family) left() (pids []int) {
	f.look(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid := range f.members {
		if f.runs(pid) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// runs tells whether a member of it is still there, and no other process that has got its number.
func (f *family) runs(pid int) bool {
	k, ok := f.read(pid)
	return ok && f.members[pid] != nil && k.start == f.members[pid].start && ProcessExists(pid)
}

// end ends what has come from the family's root and still runs: politely, and then firmly. It returns
// how they are called, and those that could not be ended.
func (f *family) end(grace time.Duration) (ended, survived string) {
	left := f.left()
	ended = withNumbers(left)
	for _, signal := range []os.Signal{terminate, os.Kill} {
		for _, pid := range left {
			p, err := os.FindProcess(pid) // which holds on to the process, and not to its number
			f.mu.Lock()
			is := f.runs(pid)
			f.mu.Unlock()
			if err == nil && is {
				p.Signal(signal)
			}
		}
		for late := time.Now().Add(grace); len(left) > 0 && time.Now().Before(late); {
			time.Sleep(5 * time.Millisecond)
			f.mu.Lock()
			left = slices.DeleteFunc(left, func(pid int) bool { return !f.runs(pid) })
			f.mu.Unlock()
		}
		left = f.left()
	}
	return ended, withNumbers(left)
}
