package tiles

import (
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
)

// Older are the goroutines that were there before a trace, as [FindOlder] finds
// them.
type Older struct {
	all   map[exectrace.GoID]olderLife
	order []exectrace.GoID // in which the trace tells of them
}

// olderLife is one of them: the state that it was in when the trace began, why,
// and the function that it began with.
type olderLife struct {
	state            exectrace.State
	reason, function string
}

// FindOlder reads the first generation of a trace for the goroutines that are
// older. Most of them are told of only when they first do something, or at the
// generation's end, a second later. Formats before Go 1.22 tell all at once.
func FindOlder(t *exectrace.Trace) (*Older, error) {
	o := &Older{all: map[exectrace.GoID]olderLife{}}
	if len(t.Generations()) == 0 {
		return o, nil
	}
	pass, syncs := sweep.New(t), 0
	r, gs := pass.Reader(), pass.Goroutines()
	pass.Join(sweep.On(sweep.Of(exectrace.KindSync, exectrace.KindGoTransition), func(e *exectrace.Event) {
		if e.Kind == exectrace.KindSync {
			if syncs++; syncs > 1 {
				pass.End()
			}
			return
		}
		if e.From == e.To || !gs.Is.Older {
			return
		}
		l, known := o.all[e.Goroutine()]
		if e.From == exectrace.Undetermined && e.To != exectrace.NotExist {
			if !known {
				o.order = append(o.order, e.Goroutine())
			}
			l, known = olderLife{state: e.To, reason: r.WaitReason(e.Name, e.SubjectStack)}, true
		}
		if known {
			l.function = r.Name(gs.Is.Name)
			o.all[e.Goroutine()] = l
		}
	}))
	return o, pass.Run(nil)
}

// beginOlder counts those that are older than the trace from its begin on.
func (b *Builder) beginOlder() {
	if b.opts.Older == nil {
		return
	}
	b.older = make(map[exectrace.GoID]uint32, len(b.opts.Older.all))
	table := b.r.Stacks()
	for _, id := range b.opts.Older.order {
		l := b.opts.Older.all[id]
		group := uint32(0)
		if l.function != "" {
			name, ok := b.r.NameID(l.function)
			if !ok {
				name = b.r.Root(table.Intern([]stack.FrameID{table.InternFrame(stack.Frame{Func: l.function})}))
			}
			group = b.lanes.groups.of(b.r, name, b.now)
		}
		b.older[id] = group
		count := b.lanes.groups.list[group]
		count.change(b.now, l.class(count.gc), +1)
		b.lanes.states.change(b.now, l.state, +1)
	}
}

// class is [waits.of] for one of whom no event has told; gc says that its group
// works for the collector.
func (l *olderLife) class(gc bool) uint8 {
	switch l.state {
	case exectrace.Running:
		if gc {
			return uint8(GoGC)
		}
		return uint8(GoRuns)
	case exectrace.Runnable:
		return uint8(GoRunnable)
	case exectrace.Syscall:
		return uint8(GoSyscall)
	}
	return uint8(waitClass(l.reason))
}
