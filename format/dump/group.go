package dump

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Group is goroutines that are at the same place in the same state, whatever
// their arguments are.
type Group struct {
	Count  int64
	State  string // the name of the state
	Leaked bool
	Stack  stack.ID
	// MinWait and MaxWait are the least and the longest wait in minutes.
	MinWait, MaxWait int32
	Locked           int64 // how many are locked to their threads
	// Members are the first goroutines of the group, as positions in the columns;
	// at most [MaxMembers].
	Members []int
}

// MaxMembers is how many goroutines of a group are listed.
const MaxMembers = 8

type groupKey struct {
	stack stack.ID
	state uint32
}

// Groups puts goroutines together by state and stack, the largest group first.
// Keep chooses goroutines; nil is all. Those that have no share in counts are in
// no group.
func (f *File) Groups(keep func(g int) bool) []Group {
	// States that differ in more than the name and leaks are one.
	names := map[State]uint32{}
	number := make([]uint32, len(f.States))
	for i, s := range f.States {
		k := State{Name: s.Name, Leaked: s.Leaked}
		n, ok := names[k]
		if !ok {
			n = uint32(len(names))
			names[k] = n
		}
		number[i] = n
	}
	var groups []Group
	at := map[groupKey]int32{}
	last, lastAt := groupKey{}, int32(-1)
	for g, id := range f.StackIDs {
		n := f.Count(g)
		if n == 0 || keep != nil && !keep(g) {
			continue
		}
		k := groupKey{id, number[f.StateIDs[g]]}
		i := lastAt
		if i < 0 || k != last {
			var ok bool
			if i, ok = at[k]; !ok {
				i = int32(len(groups))
				at[k] = i
				s := f.State(g)
				groups = append(groups, Group{State: s.Name, Leaked: s.Leaked, Stack: id, MinWait: f.Waits[g]})
			}
			last, lastAt = k, i
		}
		x := &groups[i]
		x.Count += n
		x.MinWait, x.MaxWait = min(x.MinWait, f.Waits[g]), max(x.MaxWait, f.Waits[g])
		if f.State(g).Locked {
			x.Locked += n
		}
		if len(x.Members) < MaxMembers {
			x.Members = append(x.Members, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// InDump chooses the goroutines of one dump.
func (f *File) InDump(n int) func(g int) bool {
	d := &f.Dumps[n]
	return func(g int) bool { return d.First <= g && g < d.End }
}

// Samples are the goroutines as weighted stacks, for flame graphs.
func (f *File) Samples(keep func(g int) bool) iter.Seq2[stack.ID, int64] {
	return func(yield func(stack.ID, int64) bool) {
		for g, id := range f.StackIDs {
			if n := f.Count(g); n > 0 && (keep == nil || keep(g)) && !yield(id, n) {
				return
			}
		}
	}
}

// StateCount is how many goroutines are in a state.
type StateCount struct {
	State   string
	Count   int64
	MaxWait int32 // minutes
	Waited  int64 // how many have waited a minute at least
}

// StateCounts counts states, the most frequent first.
func (f *File) StateCounts(keep func(g int) bool) []StateCount {
	var all []StateCount
	at := map[string]int{}
	for g := range f.IDs {
		n := f.Count(g)
		if n == 0 || keep != nil && !keep(g) {
			continue
		}
		name := f.State(g).Name
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name] = i
			all = append(all, StateCount{State: name})
		}
		all[i].Count += n
		all[i].MaxWait = max(all[i].MaxWait, f.Waits[g])
		if f.Waits[g] > 0 {
			all[i].Waited += n
		}
	}
	slices.SortStableFunc(all, func(a, b StateCount) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// AgeCount is how many goroutines have waited for From minutes and less than To.
type AgeCount struct {
	From, To int32 // To is 0 for no bound
	Count    int64
}

// ages are the bounds of [File.AgeCounts], in minutes.
var ages = [...]int32{0, 1, 5, 15, 60, 6 * 60, 24 * 60}

// AgeCounts counts goroutines by how long they have waited. Go prints whole
// minutes, and nothing below one.
func (f *File) AgeCounts(keep func(g int) bool) []AgeCount {
	all := make([]AgeCount, len(ages))
	for i, from := range ages {
		all[i].From = from
		if i+1 < len(ages) {
			all[i].To = ages[i+1]
		}
	}
	for g, wait := range f.Waits {
		if n := f.Count(g); n > 0 && (keep == nil || keep(g)) {
			i := len(ages) - 1
			for wait < ages[i] {
				i--
			}
			all[i].Count += n
		}
	}
	return all
}

// Change is how many goroutines of one kind there were in two files.
type Change struct {
	State    string
	Leaked   bool
	Old, New int64
	// Stack is one of the table that In has: the new file's, or the old one's
	// where the new one has none of the kind.
	Stack stack.ID
	In    *File
	// MaxWait is the longest wait in the new file, in minutes.
	MaxWait int32
}

// Compare puts the groups of two files side by side: what has grown most first,
// what has shrunk most last. Groups are the same when their states and the
// functions, files and lines of their stacks are.
func Compare(old, new *File, keepOld, keepNew func(g int) bool) []Change {
	var all []Change
	at := map[string]int{}
	for _, x := range new.Groups(keepNew) {
		key := groupText(new, &x)
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, Change{State: x.State, Leaked: x.Leaked, Stack: x.Stack, In: new})
		}
		all[i].New += x.Count
		all[i].MaxWait = max(all[i].MaxWait, x.MaxWait)
	}
	for _, x := range old.Groups(keepOld) {
		key := groupText(old, &x)
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, Change{State: x.State, Leaked: x.Leaked, Stack: x.Stack, In: old})
		}
		all[i].Old += x.Count
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.New-b.Old, a.New-a.Old), cmp.Compare(b.New, a.New))
	})
	return all
}

// groupText is the same for the same group of another file.
func groupText(f *File, x *Group) string {
	var b strings.Builder
	b.WriteString(x.State)
	if x.Leaked {
		b.WriteByte(1)
	}
	for _, id := range f.Stacks.Frames(x.Stack) {
		r := f.Stacks.Frame(id)
		b.WriteByte(0)
		b.WriteString(r.Func)
		b.WriteByte(0)
		b.WriteString(r.File)
		for line := r.Line; line > 0; line >>= 7 {
			b.WriteByte(byte(line) | 0x80)
		}
	}
	return b.String()
}
