package sched

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
)

// answers are what the terms of a filter have said of the names and stacks of a trace, so
// that no text is compared twice.
type answers struct {
	names  map[nameKey]bool
	stacks map[stackKey]bool
}

func newAnswers() answers { return answers{map[nameKey]bool{}, map[stackKey]bool{}} }

type nameKey struct {
	term int
	name exectrace.NameID
}

type stackKey struct {
	term int
	id   stack.ID
}

// ofName tells whether a name holds term i.
func (a *answers) ofName(r *exectrace.Reader, t *term, i int, n exectrace.NameID) bool {
	k := nameKey{i, n}
	ok, known := a.names[k]
	if !known {
		ok = t.Holds(r.Name(n))
		a.names[k] = ok
	}
	return ok
}

// ofStack tells whether some frame of a stack matches term i; for !~ whether none does.
func (a *answers) ofStack(r *exectrace.Reader, t *term, i int, id stack.ID) bool {
	k := stackKey{i, id}
	ok, known := a.stacks[k]
	if !known {
		for _, fr := range r.Stacks().Frames(id) {
			frame := r.Stacks().Frame(fr)
			if t.Re.MatchString(frame.Func) || t.Re.MatchString(frame.File) {
				ok = true
				break
			}
		}
		ok = ok == (t.Op == "~")
		a.stacks[k] = ok
	}
	return ok
}
