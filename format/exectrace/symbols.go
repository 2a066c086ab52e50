package exectrace

import (
	"cmp"
	"fmt"
	"strings"

	"loupe/value/stack"
)

// symbols are the names and stacks that events refer to: those of the whole trace,
// and what the numbers in the current generation stand for.
type symbols struct {
	tables   tables // of the generation
	names    *names
	stacks   *stack.Table
	roots    []NameID // by stack, as far as somebody has asked
	stwNames map[NameID]NameID

	problems *problems
	missed   bool // a missing stack or string of this generation was told
}

func newSymbols(p *problems) symbols {
	return symbols{names: newNames(), stacks: new(stack.Table), stwNames: make(map[NameID]NameID), problems: p}
}

// load reads the tables of a generation.
func (s *symbols) load(g *generation, data []byte, version Version) {
	s.missed = false
	s.tables.read(g, data, version, s.names, s.stacks, s.problems.tell)
}

// stack returns the interned stack with this number.
func (s *symbols) stack(id uint64) stack.ID {
	if dense := s.tables.stacks.dense; id < uint64(len(dense)) && dense[id].off != 0 { // nearly always
		return dense[id].id
	}
	entry, ok := s.tables.stacks.get(id)
	if !ok {
		s.missing("stack", id)
	}
	return entry.id
}

// name returns the interned string with this number.
func (s *symbols) name(id uint64) NameID {
	n, ok := s.tables.name(id, s.names)
	if !ok {
		s.missing("string", id)
	}
	return n
}

// missing tells once in a generation that an event refers to what is not in
// the tables. A generation whose end is missing has none, and has told so.
func (s *symbols) missing(what string, id uint64) {
	if s.missed || s.tables.absent {
		return
	}
	s.missed = true
	s.problems.tell(-1, fmt.Sprintf("an event refers to %s %d, which the generation does not have; its name is empty", what, id))
}

// stwName is the name of the range of one kind of stop-the-world.
func (s *symbols) stwName(kind NameID) NameID {
	if n, ok := s.stwNames[kind]; ok {
		return n
	}
	n := s.names.intern(stopName(s.names.all()[kind]))
	s.stwNames[kind] = n
	return n
}

// stopBegins and ")" are around the reason in the name of a stop of the world.
const stopBegins = "stop-the-world ("

// stopName is the name of the range of a stop of the world.
func stopName(reason string) string {
	return stopBegins + cmp.Or(reason, Unnamed) + ")"
}

// Unnamed is what stands for a name that the trace does not have: its table of names
// is lost, in a trace that was cut for example.
const Unnamed = "not named in the trace"

// StopReason takes what a stop of the world was for ("GC mark termination") out of
// the name of its range; [Unnamed] where the trace does not say.
func StopReason(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, stopBegins), ")")
}

// Name returns the string of an id. It stays the same for the whole trace.
func (s *symbols) Name(id NameID) string { return s.names.all()[id] }

// NameID returns the id of a string that some event so far has had, or false.
func (s *symbols) NameID(text string) (NameID, bool) {
	return s.names.find(text)
}

// Names returns how many names there are: every NameID so far is below it.
func (s *symbols) Names() int { return len(s.names.all()) }

// Stacks returns the table of all stacks so far. The reader adds to it.
func (s *symbols) Stacks() *stack.Table { return s.stacks }

// Root returns the name of a stack's outermost function: of a goroutine's
// stack, the function that the goroutine began with.
func (s *symbols) Root(id stack.ID) NameID {
	for len(s.roots) <= int(id) {
		n := NameNone
		if f := s.stacks.Frames(stack.ID(len(s.roots))); len(f) > 0 {
			n = s.names.intern(s.stacks.Frame(f[len(f)-1]).Func)
		}
		s.roots = append(s.roots, n)
	}
	return s.roots[id]
}
