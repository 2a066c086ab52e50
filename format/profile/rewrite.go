package profile

import (
	"regexp"
	"slices"

	"loupe/value/stack"
)

// Every operation of this package that changes stacks returns another profile
// and leaves the first as it is: columns that do not change are shared, so that
// a filter costs what it changes. That is what pprof copies the whole profile
// for, by writing and reading it.

// shallow returns a copy that shares all columns.
func (p *Profile) shallow() *Profile {
	q := *p
	return &q
}

// rows returns the profile with these samples only, in this order. The
// positions must be of the profile.
func (p *Profile) rows(keep []int32) *Profile {
	if len(keep) == p.Len() {
		return p
	}
	q := p.shallow()
	q.StackIDs = make([]stack.ID, len(keep))
	for i, row := range keep {
		q.StackIDs[i] = p.StackIDs[row]
	}
	if p.LabelSets != nil {
		q.LabelSets = make([]LabelSet, len(keep))
		for i, row := range keep {
			q.LabelSets[i] = p.LabelSets[row]
		}
	}
	q.Values = make([][]int64, len(p.Values))
	for c, column := range p.Values {
		q.Values[c] = make([]int64, len(keep))
		for i, row := range keep {
			q.Values[c][i] = column[row]
		}
	}
	return q
}

// filter returns the profile with the samples that the function keeps.
func (p *Profile) filter(keep func(row int) bool) *Profile {
	rows := make([]int32, 0, p.Len())
	for i := range p.StackIDs {
		if keep(i) {
			rows = append(rows, int32(i))
		}
	}
	return p.rows(rows)
}

// located returns the profile with locations, which one that was put together
// from stacks does not have: every frame, with what was inlined into it, is
// one. Their ids count up from 1 in the order in which the samples use them.
func (p *Profile) located() *Profile {
	if p.Locations != nil || p.Stacks == nil {
		return p
	}
	q := p.shallow()
	q.Stacks = new(stack.Table)
	q.StackIDs = make([]stack.ID, p.Len())
	q.Locations = []Location{}
	mappings := map[string]int{}
	for i, m := range p.Mappings {
		if _, ok := mappings[m.File]; !ok {
			mappings[m.File] = i
		}
	}
	q.Mappings = slices.Clone(p.Mappings)
	for i := range q.Mappings {
		q.Mappings[i].ID = uint64(i) + 1
	}
	known := new(stack.Table) // of groups of frames, in the numbers of p
	moved := make([]stack.ID, p.Stacks.Len())
	var frames []stack.FrameID
	for row, id := range p.StackIDs {
		if id == 0 || moved[id] != 0 {
			q.StackIDs[row] = moved[id]
			continue
		}
		frames = frames[:0]
		for rest := p.Stacks.Frames(id); len(rest) > 0; {
			n := 1 + slices.IndexFunc(rest, func(f stack.FrameID) bool { return !p.Stacks.Frame(f).Inlined })
			if n == 0 {
				n = len(rest) // the writer has forgotten the function around it
			}
			at := int(known.Intern(rest[:n])) - 1
			if at == len(q.Locations) {
				q.locate(p.Stacks, rest[:n], mappings)
			}
			l := &q.Locations[at]
			for i := range l.NumFrames() {
				frames = append(frames, l.First+stack.FrameID(i))
			}
			rest = rest[n:]
		}
		moved[id] = q.Stacks.Append(frames)
		q.StackIDs[row] = moved[id]
	}
	return q
}

// locate adds a location with these frames of another table.
func (p *Profile) locate(from *stack.Table, frames []stack.FrameID, mappings map[string]int) {
	first := from.Frame(frames[0])
	l := Location{ID: uint64(len(p.Locations)) + 1, Mapping: -1, Address: first.Address, Lines: len(frames)}
	if m, ok := mappings[first.Module]; ok {
		l.Mapping = m
	}
	if len(frames) == 1 && first == (stack.Frame{Module: first.Module, Address: first.Address}) {
		l.Lines = 0 // no symbol, no line
	}
	l.First = stack.FrameID(len(p.locationOf))
	for i, id := range frames {
		f := from.Frame(id)
		f.Inlined = i < len(frames)-1
		if f.System == "" {
			f.System = f.Func
		}
		p.Stacks.AppendFrame(f)
		p.locationOf = append(p.locationOf, uint32(len(p.Locations)))
	}
	p.Locations = append(p.Locations, l)
}

// eachLocation calls the function with the positions of the locations of a
// stack, leaf first.
func (p *Profile) eachLocation(id stack.ID, visit func(location int)) {
	frames := p.Stacks.Frames(id)
	for i := 0; i < len(frames); {
		at := p.LocationOf(frames[i])
		visit(at)
		i += p.Locations[at].NumFrames()
	}
}

// rewriting is another version of the locations and stacks of a profile.
type rewriting struct {
	// lines are the frames that a location keeps, by location: nil means all.
	lines [][]stack.FrameID
	// location changes a location, then frame what is left of the frames of
	// all; nil means nothing.
	location func(*Location)
	frame    func(location int, f *stack.Frame)
	// stack returns the locations that a stack keeps, out of all of its own,
	// leaf first, and false to drop the samples with that stack. It may modify
	// the slice. nil means to keep all.
	stack func(locations []int) ([]int, bool)
}

// rewrite returns the profile with the changes applied. All locations stay in
// the table, as in pprof, even those that no stack uses any more.
func (p *Profile) rewrite(r *rewriting) *Profile {
	q := p.shallow()
	if r.lines == nil && r.stack == nil { // every stack stays what it is
		q.reframe(r)
		return q
	}
	q.relocate(p, r)
	q.StackIDs = make([]stack.ID, p.Len())
	moved := make([]stack.ID, p.Stacks.Len())
	const unknown, dropped = 0, ^stack.ID(0)
	var locations []int
	var frames []stack.FrameID
	drops := false
	for row, id := range p.StackIDs {
		if moved[id] == unknown {
			locations = locations[:0]
			p.eachLocation(id, func(at int) { locations = append(locations, at) })
			list, keep := locations, true
			if r.stack != nil {
				list, keep = r.stack(locations)
			}
			frames = frames[:0]
			for _, at := range list {
				l := &q.Locations[at]
				for i := range l.NumFrames() {
					frames = append(frames, l.First+stack.FrameID(i))
				}
			}
			switch {
			case !keep:
				moved[id], drops = dropped, true
			case len(frames) > 0:
				moved[id] = q.Stacks.Append(frames)
			}
		}
		q.StackIDs[row] = moved[id]
	}
	if !drops {
		return q
	}
	return q.filter(func(row int) bool { return q.StackIDs[row] != dropped })
}

// reframe changes locations and frames, none of which goes.
func (q *Profile) reframe(r *rewriting) {
	if r.location != nil {
		q.Locations = slices.Clone(q.Locations)
		for at := range q.Locations {
			r.location(&q.Locations[at])
		}
	}
	if r.frame != nil && q.Stacks != nil {
		q.functionOf = nil
		q.Stacks = q.Stacks.WithFrames(func(id stack.FrameID, f *stack.Frame) { r.frame(int(q.locationOf[id]), f) })
	}
}

// relocate fills in the locations and the frames of p after r.
func (q *Profile) relocate(p *Profile, r *rewriting) {
	q.Stacks = new(stack.Table)
	q.Stacks.Grow(p.Stacks.Len(), 0)
	q.Stacks.GrowFrames(p.Stacks.NumFrames())
	q.Locations = slices.Clone(p.Locations)
	q.locationOf, q.functionOf = make([]uint32, 0, len(p.locationOf)), nil
	for at := range q.Locations {
		l := &q.Locations[at]
		from, n := l.First, l.Lines
		var chosen []stack.FrameID
		if r.lines != nil {
			if chosen = r.lines[at]; chosen != nil {
				n = len(chosen)
			}
		}
		if l.First, l.Lines = stack.FrameID(len(q.locationOf)), n; r.location != nil {
			r.location(l)
		}
		for i := range max(n, 1) {
			id := from + stack.FrameID(i)
			if chosen != nil && n > 0 {
				id = chosen[i]
			}
			f := p.Stacks.Frame(id)
			if n == 0 {
				f = stack.Frame{Module: f.Module, Address: f.Address}
			}
			if f.Inlined = i < n-1; r.frame != nil {
				r.frame(at, &f)
			}
			q.Stacks.AppendFrame(f)
			q.locationOf = append(q.locationOf, uint32(at))
		}
	}
}

// matcher remembers which names a regular expression matches: a profile has
// many times more frames than names.
type matcher struct {
	match func(string) bool
	known map[string]bool
}

func newMatcher(match func(string) bool) *matcher { return &matcher{match, map[string]bool{}} }

func (m *matcher) matches(name string) bool {
	yes, ok := m.known[name]
	if !ok {
		yes = m.match(name)
		m.known[name] = yes
	}
	return yes
}

// nameMatcher matches frames by function or file.
func nameMatcher(re *regexp.Regexp) *matcher {
	if re == nil {
		return nil
	}
	return newMatcher(re.MatchString)
}

func (m *matcher) frame(f stack.Frame) bool { return m.matches(f.Func) || m.matches(f.File) }

// WithMappings returns the profile with other facts about its mappings: the
// function gets a copy to change. A profile without mappings gets one that all
// locations belong to, if add says so: with it addresses can be looked up in a
// binary that was not loaded elsewhere than it was linked for.
func (p *Profile) WithMappings(add bool, change func([]Mapping)) *Profile {
	p = p.located()
	q := p.shallow()
	q.Mappings = slices.Clone(p.Mappings)
	only := add && len(q.Mappings) == 0
	if only {
		q.Mappings = []Mapping{{ID: 1}}
	}
	if change != nil {
		change(q.Mappings)
	}
	if p.Stacks == nil || !only && slices.EqualFunc(p.Mappings, q.Mappings, func(a, b Mapping) bool { return a.File == b.File }) {
		return q
	}
	r := &rewriting{}
	if only {
		r.location = func(l *Location) { l.Mapping = 0 }
	}
	if !only || q.Mappings[0].File != "" {
		r.frame = func(at int, f *stack.Frame) {
			if m := q.Locations[at].Mapping; m >= 0 {
				f.Module = q.Mappings[m].File
			}
		}
	}
	q.reframe(r)
	q.functionOf = p.functionOf // names stay
	return q
}

// WithLines returns the profile with other lines at its locations: the function
// gets those that a location has, the innermost call first, and returns those
// that it shall have. Binary, address and inlining are filled in.
func (p *Profile) WithLines(change func(l *Location, lines []stack.Frame) []stack.Frame) *Profile {
	p = p.located()
	q := p.shallow()
	q.Stacks, q.Locations, q.locationOf, q.functionOf = new(stack.Table), slices.Clone(p.Locations), nil, nil
	var lines []stack.Frame
	for at := range q.Locations {
		l := &q.Locations[at]
		lines = lines[:0]
		for i := range l.Lines {
			lines = append(lines, p.Stacks.Frame(l.First+stack.FrameID(i)))
		}
		now := change(l, lines)
		module := p.Stacks.Frame(l.First).Module
		l.First, l.Lines = stack.FrameID(len(q.locationOf)), len(now)
		if len(now) == 0 {
			now = []stack.Frame{{}}
		}
		for i, f := range now {
			f.Module, f.Address, f.Inlined = module, l.Address, i < len(now)-1
			if f.System == "" {
				f.System = f.Func
			}
			q.Stacks.AppendFrame(f)
			q.locationOf = append(q.locationOf, uint32(at))
		}
	}
	q.StackIDs = make([]stack.ID, p.Len())
	moved := make([]stack.ID, p.Stacks.Len())
	var frames []stack.FrameID
	for row, id := range p.StackIDs {
		if id != 0 && moved[id] == 0 {
			frames = frames[:0]
			p.eachLocation(id, func(at int) {
				l := &q.Locations[at]
				for i := range l.NumFrames() {
					frames = append(frames, l.First+stack.FrameID(i))
				}
			})
			moved[id] = q.Stacks.Append(frames)
		}
		q.StackIDs[row] = moved[id]
	}
	return q
}

// Rename returns the profile with other function names.
func (p *Profile) Rename(name func(*stack.Frame) string) *Profile {
	return p.located().rewrite(&rewriting{frame: func(_ int, f *stack.Frame) { f.Func = name(f) }})
}
