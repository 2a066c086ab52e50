package account

import (
	"cmp"
	"slices"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Spent is a number of times and how long they were together.
type Spent = sched.Spent

// wallKey is what one stack of a profile counts.
type wallKey struct {
	key   keyID
	stack stack.ID
}

// wallTable is a profile of the time of units in the making. A nil one takes nothing.
type wallTable struct {
	words *words
	kinds [units]wallPart
}

// wallPart is that of units of one kind.
type wallPart struct {
	spent   map[wallKey]*Spent
	samples map[stack.ID]int64
}

// draw adds time at a stack to the profile of a unit.
func (c *collector) draw(u *open, k keyID, id stack.ID, d timeline.Time) {
	if c.wall == nil || d <= 0 {
		return
	}
	if u.wall == nil {
		u.wall = map[wallKey]*Spent{}
	}
	count(u.wall, wallKey{k, id}, Spent{Count: 1, Time: time.Duration(d)})
}

func count(m map[wallKey]*Spent, k wallKey, s Spent) {
	if m[k] == nil {
		m[k] = &Spent{}
	}
	m[k].Count += s.Count
	m[k].Time += s.Time
}

// take adds the profile of a unit that counts.
func (w *wallTable) take(u *open) {
	if w == nil {
		return
	}
	part := &w.kinds[u.unit]
	if part.spent == nil {
		*part = wallPart{map[wallKey]*Spent{}, map[stack.ID]int64{}}
	}
	for k, s := range u.wall {
		count(part.spent, k, *s)
	}
	for _, s := range u.samples {
		part.samples[s.stack] += s.n
	}
}

// Wall is the time of units as a profile, those of [Account.Best]: what they waited for by their stacks,
// with the kind of wait as a leaf, and above it the line that was waited for and what
// that did; and running time, by CPU samples where at least [MinSamples] hit the units,
// else by where each run ended. It adds
// stacks to the reader's table, which nobody else may use meanwhile; it is nil unless
// [Options] asked for it.
func (a *Account) Wall() *sched.StateProfile {
	if a.wall == nil {
		return nil
	}
	w, part := a.wall.words, wallPart{}
	if len(a.Groups) > 0 {
		part = a.wall.kinds[a.Groups[0].Unit]
	}
	table := w.r.Stacks()
	by := map[stack.ID]*Spent{}
	add := func(id stack.ID, s Spent) {
		if by[id] == nil {
			by[id] = &Spent{}
		}
		by[id].Count += s.Count
		by[id].Time += s.Time
	}
	samples := int64(0)
	for _, n := range part.samples {
		samples += n
	}
	var running Spent
	for k, s := range part.spent {
		if w.keys[k.key].kind == Running && samples >= MinSamples {
			running.Count += s.Count
			running.Time += s.Time
			continue
		}
		add(w.drawn(k), *s)
	}
	if samples >= MinSamples && running.Time > 0 {
		for id, s := range divided(part.samples, samples, running) {
			add(id, s)
		}
	}
	p := &sched.StateProfile{Kind: sched.ProfileWall, Stacks: table}
	for id := range by {
		p.IDs = append(p.IDs, id)
	}
	slices.Sort(p.IDs)
	for _, id := range p.IDs {
		p.Counts, p.Nanos = append(p.Counts, by[id].Count), append(p.Nanos, int64(by[id].Time))
	}
	return p
}

// divided divides running time by samples; what rounding leaves goes to the first.
func divided(samples map[stack.ID]int64, all int64, running Spent) map[stack.ID]Spent {
	out := map[stack.ID]Spent{}
	first, left := stack.ID(0), running.Time
	for id, n := range samples {
		d := time.Duration(float64(running.Time) * float64(n) / float64(all))
		out[id] = Spent{Count: n, Time: d}
		left -= d
		if first == 0 || cmp.Less(id, first) {
			first = id
		}
	}
	s := out[first]
	s.Time += left
	out[first] = s
	return out
}

// drawn is the stack of a part of the profile.
func (w *words) drawn(k wallKey) stack.ID {
	table := w.r.Stacks()
	settled, _ := w.settled(k.key)
	what := w.keys[settled]
	if what.kind == Running {
		return k.stack
	}
	named := func(kind Kind) stack.FrameID {
		name := kind.String()
		if kind == Stopped {
			name += " (" + exectrace.StopReason(w.r.Name(what.what)) + ")"
		}
		return table.InternFrame(stack.Frame{Func: "[" + name + "]"})
	}
	var frames []stack.FrameID
	if what.cause != None {
		if what.cause != Running {
			frames = append(frames, named(what.cause))
		}
		if what.at != 0 {
			frames = append(frames, table.InternFrame(w.sites[what.at].Frame))
		}
	}
	frames = append(frames, named(what.kind))
	return table.Intern(append(frames, table.Frames(k.stack)...))
}
