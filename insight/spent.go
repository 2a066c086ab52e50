package insight

import (
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
)

// cost says which CPU time a finding is about: that of stacks with a line, and with a
// callee below it; of the stacks whose nearest function of the user is one; or of
// the stacks that allocate.
type cost struct {
	file string
	line int
	// callee is what the line calls, generic types folded; empty is anything.
	callee string
	// function is the user's function that is nearest to the leaf, in place of a line.
	function string
	// allocating counts the stacks alone in which memory is taken, by the callee where there is one, and those in which
	// the line, or maker, asks the runtime to fill it: append copies outside of the allocator.
	allocating bool
	// maker is a function that allocates for the line, generic types folded; empty is the line itself.
	maker string
	// within is a set of functions of which one has to be at the callee or below; empty is anything.
	within string
	// without is a set of functions of which none may be there; empty is none.
	without string
	// ends is a set of functions of which one is the leaf; empty is anything.
	ends string
	// itself is a set of functions of which one has to be the leaf, or to call the runtime: what it asks others for, as the
	// reader that it is given, does not count; empty is anything.
	itself string
	// formats leaves out stacks in which package fmt hands its text on to a writer.
	formats bool
}

// spent is the CPU time of a recording by stack, for what is asked of many findings.
type spent struct {
	v      *view
	stacks []stack.ID // each once
	counts []int64    // samples of each
	total  int64
	// cpus is how many CPUs the program used while it was profiled; 0 is unknown.
	cpus float64
	// wanted is how many it would have used, if others had left it any; 0 is unknown.
	wanted float64
	// collector is the part that the collector's own goroutines took.
	collector float64
	// unforced is collector without the part of the collections that the program forces, where
	// GC12 is found: these come however little is allocated.
	unforced float64
}

// spentOf reads where the CPU time goes; nil where nothing tells.
func spentOf(in *Input) *spent {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || w.Total() <= 0 {
		return nil
	}
	s := &spent{v: in.view(w.Profile), total: w.Total()}
	at := map[stack.ID]int{}
	for i, id := range w.Profile.StackIDs {
		j, ok := at[id]
		if !ok {
			j = len(s.stacks)
			at[id] = j
			s.stacks, s.counts = append(s.stacks, id), append(s.counts, 0)
		}
		s.counts[j] += w.Profile.Values[w.Index][i]
	}
	if index, err := w.Profile.Index("cpu"); err == nil && w.Profile.Duration > 0 {
		s.cpus = float64(w.Profile.Total(index)) / float64(w.Profile.Duration)
		s.wanted = in.Facts.NoiseOf(w.Entry.Phase).Wanted(s.cpus)
	}
	s.collector = s.share(s.with(s.v.marks("collector")))
	s.unforced = s.collector
	return s
}

// keepsUp is how many CPUs the program used; where others kept it from using a whole one, the least of a busy program.
func (s *spent) keepsUp() float64 {
	if s.wanted >= busyCPU {
		return max(s.cpus, busyCPU)
	}
	return s.cpus
}

// with marks the stacks that have a frame of a set.
func (s *spent) with(set []bool) []bool {
	m := make([]bool, len(s.stacks))
	for i, id := range s.stacks {
		m[i] = slices.ContainsFunc(s.v.t.Frames(id), func(f stack.FrameID) bool { return set[f] })
	}
	return m
}

// mark marks the stacks that costs are of; nil where there are no costs, or no stack is
// of them.
func (s *spent) mark(costs []cost) []bool {
	if s == nil || len(costs) == 0 {
		return nil
	}
	m, some := make([]bool, len(s.stacks)), false
	for _, c := range costs {
		frames := s.asked(c)
		for i, id := range s.stacks {
			if !m[i] && frames.has(s.v, s.v.t.Frames(id)) {
				m[i], some = true, true
			}
		}
	}
	if !some {
		return nil
	}
	return m
}

// costFrames is a cost, asked of every frame once.
type costFrames struct {
	cost
	place, below []bool // below is nil where anything may be
	calls        []bool // what has to be below as well; nil is nothing
	leaf         []bool // nil where the leaf may be anything
	within       []bool // nil where anything may be below
	without      []bool // nil where nothing may not
	fills, maker []bool // what fills memory, and who asks it to, where that counts
	itself       []bool // nil where it need not be the function itself
}

func (s *spent) asked(c cost) costFrames {
	n := s.v.t.NumFrames()
	a := costFrames{cost: c, place: make([]bool, n)}
	if c.callee != "" || c.allocating {
		a.below = make([]bool, n)
	}
	if c.callee != "" && c.allocating {
		a.calls = make([]bool, n)
	}
	if c.ends != "" {
		a.leaf = s.v.marks(c.ends)
	}
	if c.within != "" {
		a.within = s.v.marks(c.within)
	}
	if c.without != "" {
		a.without = s.v.marks(c.without)
	}
	if c.itself != "" {
		a.itself = s.v.marks(c.itself)
	}
	if c.allocating && c.line > 0 {
		a.fills, a.maker = s.v.marks("fills"), make([]bool, n)
	}
	for id := range n {
		f := s.v.t.Frame(stack.FrameID(id))
		a.place[id] = c.function != "" && f.Func == c.function || c.line > 0 && f.Line == c.line && f.File == c.file
		called := c.callee != "" && stack.FoldGenerics(f.Func) == c.callee
		switch {
		case a.calls != nil:
			a.below[id], a.calls[id] = allocates(f), called
		case a.below != nil:
			a.below[id] = c.allocating && allocates(f) || called
		}
		if a.maker != nil {
			a.maker[id] = a.place[id] || c.maker != "" && stack.FoldGenerics(f.Func) == c.maker
		}
	}
	return a
}

// has tells whether a stack, the leaf first, is of the cost.
func (a costFrames) has(v *view, frames []stack.FrameID) bool {
	below := func(of []stack.FrameID) bool {
		if a.without != nil && slices.ContainsFunc(of, func(f stack.FrameID) bool { return a.without[f] }) || a.formats && writesOn(v.t, of, len(of)) {
			return false
		}
		in := func(marks []bool) bool {
			return marks == nil || slices.ContainsFunc(of, func(f stack.FrameID) bool { return marks[f] })
		}
		return in(a.within) && in(a.calls) && (in(a.below) || a.filled(of)) && (a.itself == nil || a.byItself(v, of))
	}
	switch {
	case a.leaf != nil && (len(frames) == 0 || !a.leaf[frames[0]]):
		return false
	case a.function != "":
		at := nextUser(v, frames, 0)
		return at >= 0 && a.place[frames[at]] && below(frames[:at])
	case a.line == 0:
		return below(frames)
	}
	for at, f := range frames {
		if a.place[f] && below(frames[:at+1]) { // not the innermost alone: a callback may be on the line that calls what calls it
			return true
		}
	}
	return false
}

// filled tells, of the frames up to the line, whether what allocates for it has memory filled: it calls the runtime for it.
func (a costFrames) filled(of []stack.FrameID) bool {
	if a.maker == nil {
		return false
	}
	at := slices.IndexFunc(of, func(f stack.FrameID) bool { return a.maker[f] })
	return at > 0 && a.fills[of[at-1]]
}

// byItself tells, of the frames up to the line, whether one of the functions that count is the leaf or has called the runtime.
func (a costFrames) byItself(v *view, of []stack.FrameID) bool {
	for i, f := range of {
		if a.itself[f] && (i == 0 || stack.Package(v.t.Frame(of[i-1]).Func) == "runtime") {
			return true
		}
	}
	return false
}

// weight adds up the samples of marked stacks.
func (s *spent) weight(m []bool) (sum int64) {
	for i, in := range m {
		if in {
			sum += s.counts[i]
		}
	}
	return sum
}

// share is the part of the CPU time that marked stacks take.
func (s *spent) share(m []bool) float64 { return float64(s.weight(m)) / float64(s.total) }

// interval is the same with the doubt of sampling.
func (s *spent) interval(m []bool) stats.Interval {
	return stats.Wilson(float64(s.weight(m)), float64(s.total), compare.Confidence)
}

// within is the part of marked stacks, by their time, that others have too.
func (s *spent) within(m, others []bool) float64 {
	both := make([]bool, len(m))
	for i := range m {
		both[i] = m[i] && others[i]
	}
	return float64(s.weight(both)) / float64(max(s.weight(m), 1))
}

// handedOver is the CPU time of marked stacks, in which goroutines hand over items, and a part of what the scheduler takes on its own stacks, where no line
// of the program is seen. Where the collector's goroutines take as much, that may be theirs, and nothing of it counts.
func (s *spent) handedOver(m []bool, part float64) stats.Interval {
	schedules, others, alone := s.with(s.v.marks("schedule")), s.with(s.v.marks("startup")), int64(0)
	blocked := s.with(s.v.marks("profiler.block"))
	for i, id := range s.stacks {
		if schedules[i] && !m[i] && !others[i] && !blocked[i] && nextUser(s.v, s.v.t.Frames(id), 0) < 0 {
			alone += s.counts[i]
		}
	}
	if s.collector*float64(s.total) >= float64(alone) {
		alone = 0
	}
	return stats.Wilson(float64(s.weight(m))+part*float64(alone), float64(s.total), compare.Confidence)
}
