package dump

import (
	"cmp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// waitsFor are the functions whose first argument is what the goroutine waits
// for. The outermost one with a word that is alive decides: the runtime's own
// are given the semaphore inside of the lock.
var waitsFor = map[string]bool{
	"sync.(*Mutex).Lock": true, "sync.(*Mutex).lockSlow": true,
	"internal/sync.(*Mutex).Lock": true, "internal/sync.(*Mutex).lockSlow": true,
	"sync.(*RWMutex).Lock": true, "sync.(*RWMutex).RLock": true, "sync.(*Cond).Wait": true, "sync.(*WaitGroup).Wait": true,
	"sync.runtime_SemacquireMutex": true, "internal/sync.runtime_SemacquireMutex": true, "sync.runtime_SemacquireRWMutex": true,
	"sync.runtime_SemacquireRWMutexR": true, "sync.runtime_Semacquire": true, "sync.runtime_SemacquireWaitGroup": true,
	"runtime.chanrecv": true, "runtime.chanrecv1": true, "runtime.chanrecv2": true, "runtime.chansend": true, "runtime.chansend1": true,
}

// isLocking tells that a function takes a lock.
func isLocking(function string) bool {
	return strings.HasPrefix(function, "sync.(*Mutex).") || strings.HasPrefix(function, "sync.(*RWMutex).") ||
		strings.HasPrefix(function, "internal/sync.(*Mutex).") || strings.Contains(function, ".runtime_Semacquire") ||
		strings.HasPrefix(function, "runtime.sem") || strings.HasPrefix(function, "runtime.gopark") || strings.HasPrefix(function, "runtime.goparkunlock") ||
		strings.HasPrefix(function, "sync.runtime_")
}

// Lock is a mutex that goroutines wait for.
type Lock struct {
	// Address is 0 where the dump does not show it; the waiters are those at one
	// place then, and may wait for different locks.
	Address uint64
	Waiters int64
	MaxWait int32    // minutes
	Stack   stack.ID // where most of them wait
	// Caller is the function that wants the lock most often, File and Line where.
	Caller, File string
	Line         int
	// Holders are goroutines that may hold it: they are in a function that takes
	// the lock, at the line where it is taken or beyond, and do not wait for it.
	// A dump does not say who holds a lock, so that this is a guess, the best
	// first; at most [MaxMembers] are listed. The first Seen have the address of the
	// lock in their stack.
	Holders []int
	Seen    int
}

// lockKey is what waiters have in common.
type lockKey struct {
	address uint64
	stack   stack.ID // where there is no address
}

// Locks finds the mutexes that at least two goroutines wait for, the one with
// most waiters first.
func (f *File) Locks(keep func(g int) bool) []Lock {
	callers := map[stack.ID]stack.FrameID{} // of the lock, by stack of a waiter
	byKey := map[lockKey]int{}
	var all []Lock
	stacks := []map[stack.ID]int64{}
	waiting := make(map[int]bool)
	for g, id := range f.StackIDs {
		if f.Count(g) == 0 || keep != nil && !keep(g) || !maybeLock(f.State(g).Name) {
			continue
		}
		caller, ok := callers[id]
		if !ok {
			caller = lockCaller(f, id)
			callers[id] = caller
		}
		if caller == noFrame {
			continue
		}
		waiting[g] = true
		k := lockKey{address: f.Objects[g]}
		if k.address == 0 {
			k.stack = id
		}
		i, ok := byKey[k]
		if !ok {
			i = len(all)
			byKey[k] = i
			all = append(all, Lock{Address: k.address})
			stacks = append(stacks, map[stack.ID]int64{})
		}
		all[i].Waiters += f.Count(g)
		all[i].MaxWait = max(all[i].MaxWait, f.Waits[g])
		stacks[i][id] += f.Count(g)
	}
	for i := range all {
		best := int64(-1)
		for id, n := range stacks[i] {
			if n > best || n == best && id < all[i].Stack {
				best, all[i].Stack = n, id
			}
		}
		r := f.Stacks.Frame(callers[all[i].Stack])
		all[i].Caller, all[i].File, all[i].Line = r.Func, r.File, r.Line
	}
	var order []int
	for i := range all {
		if all[i].Waiters > 1 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Waiters, all[a].Waiters) })
	var exact, near map[uint64][]int
	if len(order) > 0 && f.Counts == nil {
		exact, near = touching(f, keep)
	}
	var out []Lock
	for n, i := range order {
		if n < maxHolders {
			all[i].Holders = holders(f, keep, waiting, stacks[i], callers)
			all[i].byAddress(exact[all[i].Address], near[all[i].Address])
		}
		out = append(out, all[i])
	}
	return out
}

// byAddress adds those that have the address of the lock, in front, and those that
// have the struct that it is in, at the end: that is reason enough to name them only
// where there is no better one.
func (l *Lock) byAddress(exact, near []int) {
	var all []int
	for _, list := range [][]int{exact, l.Holders, near} {
		for _, g := range list {
			if len(all) < MaxMembers && !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	l.Holders, l.Seen = all, min(len(exact), len(all))
}

// maxHolders is for how many locks holders are looked for.
const maxHolders = 64

const noFrame = ^stack.FrameID(0)

// maybeLock tells that a goroutine in this state may wait for a mutex. Older
// versions name no more than the semaphore.
func maybeLock(state string) bool {
	return strings.HasPrefix(state, "sync.Mutex") || strings.HasPrefix(state, "sync.RWMutex") || strings.HasPrefix(state, "semacquire")
}

// lockCaller returns the frame that wants the lock, or noFrame where the stack
// is of something else.
func lockCaller(f *File, id stack.ID) stack.FrameID {
	locks := false
	for _, frame := range f.Stacks.Frames(id) {
		name := f.Stacks.Frame(frame).Func
		if !isLocking(name) {
			if locks {
				return frame
			}
			return noFrame
		}
		locks = locks || strings.Contains(name, "Mutex)")
	}
	return noFrame
}

// holders guesses who holds a lock that waiters with these stacks want.
func holders(f *File, keep func(g int) bool, waiting map[int]bool, stacks map[stack.ID]int64, callers map[stack.ID]stack.FrameID) []int {
	from := map[string]int{} // the first line where the function takes the lock
	type place struct {
		function string
		line     int
	}
	wants := map[place]bool{}
	for id := range stacks {
		r := f.Stacks.Frame(callers[id])
		wants[place{r.Func, r.Line}] = true
		if line, ok := from[r.Func]; !ok || r.Line < line {
			from[r.Func] = r.Line
		}
	}
	score := map[stack.ID]int{}
	type candidate struct{ g, score int }
	var all []candidate
	for g, id := range f.StackIDs {
		if waiting[g] || f.Count(g) == 0 || keep != nil && !keep(g) {
			continue
		}
		s, ok := score[id]
		if caller := lockCaller(f, id); !ok && caller != noFrame {
			// Who is in Lock at the same line was woken a moment ago, or is
			// just coming: it wants the lock like the others.
			r := f.Stacks.Frame(caller)
			if ok = wants[place{r.Func, r.Line}]; ok {
				score[id] = 0
			}
		}
		if !ok {
			for _, frame := range f.Stacks.Frames(id) {
				r := f.Stacks.Frame(frame)
				if line, ok := from[r.Func]; ok && r.Line >= line && line > 0 {
					s = 1
				}
			}
			score[id] = s
		}
		if s > 0 {
			// Who waits for something outside holds it longest.
			switch state := f.State(g).Name; {
			case state == "IO wait" || state == "syscall" || state == "sleep":
				s = 3
			case state != "runnable" && state != "running":
				s = 2
			}
			all = append(all, candidate{g, s})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var out []int
	for _, c := range all[:min(len(all), MaxMembers)] {
		out = append(out, c.g)
	}
	return out
}
