package dump

import "loupe/value/stack"

// OtherFrames is the name of a frame that stands for those that were folded, see
// [Folded]; OtherStates is that of a state.
const (
	OtherFrames = "[other frames]"
	OtherStates = "[other states]"
)

// Folded counts what was not told apart any more, for the sake of memory: a text
// of 12 MB can have 800,000 functions, though no program has. Nothing of it is
// left out of the other counts.
type Folded struct {
	// Frames are those behind the first 262,144 distinct ones: they are one,
	// [OtherFrames].
	Frames int64
	// States are goroutines whose labels were dropped because there are more than
	// 131,072 distinct states, and those with as many names: [OtherStates].
	States int64
	// Dumps were added to the one before them, behind 65,536; their messages are
	// not kept.
	Dumps int64
	// Races are data races behind 65,536, and accesses of one behind 1,024.
	Races int64
	// Threads are those without registers behind 16,384 of a dump.
	Threads int64
}

// Any tells that something was folded.
func (x Folded) Any() bool { return x != Folded{} }

// Bounds of what is told apart.
const (
	maxFrames   = 1 << 18
	maxStates   = 1 << 17
	maxNames    = 1 << 14 // states without labels, beyond maxStates
	maxDumps    = 1 << 16
	maxRaces    = 1 << 16
	maxAccesses = 1 << 10
	maxThreads  = 1 << 14
)

// other returns the call that stands for those that were folded. It has no
// name of its own, so that none is taken for it (frames.quick).
func (x *calls) other(created bool) uint32 {
	i := 0
	if created {
		i = 1
	}
	if x.others[i] == 0 {
		f := stack.Frame{Func: OtherFrames}
		if created {
			f.Func, f.System = CreatedBy+OtherFrames, OtherFrames
		}
		x.others[i] = x.put(call{created: created, frame: x.stacks.InternFrame(f)})
	}
	*x.folded++
	return x.others[i]
}

// intern adds a frame to the table, or what stands for those that are too many.
func (x *calls) intern(f stack.Frame) stack.FrameID {
	if x.stacks.NumFrames() >= maxFrames+len(x.others) {
		return x.list[x.other(false)].frame
	}
	return x.stacks.InternFrame(f)
}

// number gives a state its number.
func (x *headers) number(s State) StateID {
	if id, ok := x.states[s]; ok {
		return id
	}
	if len(x.f.States) >= maxStates {
		x.f.Folded.States++
		s.Labels, s.More, s.Bubble = "", "", ""
		if len(x.f.States) >= maxStates+maxNames {
			s = State{Name: OtherStates}
		}
		if id, ok := x.states[s]; ok {
			return id
		}
	}
	id := StateID(len(x.f.States))
	x.states[s] = id
	x.f.States = append(x.f.States, s)
	return id
}
