package pgo

import (
	"slices"
	"strings"

	"loupe/format/compiler"
	"loupe/value/stack"
)

// Fate is what became of a call of a profile in the source of now.
type Fate string

// Fates of calls.
const (
	// Found: the compiler finds a call on that line of the caller which may be it.
	Found Fate = "found"
	// Moved: the caller still makes the call, on another line; the compiler does not find it.
	Moved Fate = "moved"
	// Changed: caller and callee are there, and the caller does not call it by that name any more.
	Changed Fate = "changed"
	// Gone: the caller or the callee is no longer in the program.
	Gone Fate = "gone"
	// Sourceless: no line of the source makes the call, or the profile has no name for it that the
	// compiler knows: allocation, map access and other calls that the compiler makes itself,
	// assembly, deferred calls, instances of generic functions. It was of no use when the profile
	// was new.
	Sourceless Fate = "sourceless"
)

// Match says how much of a profile the compiler still finds in the source.
type Match struct {
	Total int64
	// Weight is that of the calls of each fate.
	Weight map[Fate]int64
	// Lost are the calls that are moved, changed or gone, the heaviest first.
	Lost []LostCall
	// Functions are those that are gone, with the weight of their calls, the heaviest first.
	Functions []LostFunction
	// Hot are how many calls the compiler takes for hot, without the sourceless ones, and
	// HotFound how many of these it finds.
	Hot, HotFound int
}

// LostFunction is a function that is no longer in the program.
type LostFunction struct {
	Name   string
	Weight int64 // of the calls that it makes and takes
}

// Usable is the weight of the calls that the source can have: all but the sourceless ones.
func (m *Match) Usable() int64 { return m.Total - m.Weight[Sourceless] }

// Share is the part of the usable weight whose calls are found, 0 to 1; 1 where nothing is usable.
func (m *Match) Share() float64 {
	if m.Usable() == 0 {
		return 1
	}
	return float64(m.Weight[Found]) / float64(m.Usable())
}

// Names are the functions of the calls.
func (c *Calls) Names() map[string]bool {
	out := map[string]bool{}
	for one := range c.Weight {
		out[one.Caller], out[one.Callee] = true, true
	}
	return out
}

// Against holds the calls of a profile against what the compiler has said of the source when it
// was built with this very profile. Names of functions that are in the program, but of which the
// compiler has not spoken, such as those that nobody calls by name, may be given by exists.
func Against(calls *Calls, g *compiler.Guided) *Match {
	m := &Match{Total: calls.Total, Weight: map[Fate]int64{}}
	s := sitesOf(calls, g)
	gone := map[string]int64{}
	hot := map[Call]bool{}
	for _, c := range calls.Hot(HotShare) {
		hot[c] = true
	}
	for c, v := range calls.Weight {
		fate, why := s.fate(c)
		m.Weight[fate] += v
		if hot[c] && fate != Sourceless {
			m.Hot++
		}
		switch fate {
		case Found:
			if hot[c] {
				m.HotFound++
			}
			continue
		case Sourceless:
			continue
		case Gone:
			for _, name := range []string{c.Caller, c.Callee} {
				if !s.known(name) {
					gone[name] += v
				}
			}
		}
		m.Lost = append(m.Lost, LostCall{c, v, why})
	}
	sortLost(m.Lost)
	for name, v := range gone {
		m.Functions = append(m.Functions, LostFunction{name, v})
	}
	slices.SortFunc(m.Functions, func(a, b LostFunction) int {
		if a.Weight != b.Weight {
			if a.Weight > b.Weight {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return m
}

// sites are the calls in the source, by their callers.
type sites struct {
	of    map[string][]compiler.CallSite
	start map[string]int // where callers begin, of those that the compiler has found a weight in
	named map[string]bool
}

func sitesOf(calls *Calls, g *compiler.Guided) *sites {
	s := &sites{of: map[string][]compiler.CallSite{}, start: map[string]int{}, named: g.Known}
	for _, one := range g.Sites {
		s.of[one.Caller] = append(s.of[one.Caller], one)
	}
	weights := map[string]map[int]int64{} // by caller and offset
	for c, v := range calls.Weight {
		if weights[c.Caller] == nil {
			weights[c.Caller] = map[int]int64{}
		}
		weights[c.Caller][c.Offset] += v
	}
	for caller, all := range s.of {
		if start, ok := startOf(all, weights[caller]); ok {
			s.start[caller] = start
		}
	}
	return s
}

// startOf finds the line where a function begins by the weights that the compiler has given to
// its lines: at each line the sum of the calls of the profile that far from the begin. Where
// several lines would explain them, either explains the same weight.
func startOf(all []compiler.CallSite, weights map[int]int64) (start int, ok bool) {
	tried := map[int]bool{}
	best := 0
	for _, one := range all {
		if one.Weight == 0 {
			continue
		}
		for offset, v := range weights {
			at := one.Line - offset
			if v != one.Weight || tried[at] {
				continue
			}
			tried[at] = true
			explained := 0
			for _, other := range all {
				if weights[other.Line-at] == other.Weight {
					explained++
				}
			}
			if explained > best || explained == best && at < start {
				best, start, ok = explained, at, true
			}
		}
	}
	return start, ok
}

// known tells whether a function is in the program.
func (s *sites) known(name string) bool { return s.named[name] }

// fate says what became of a call, and why.
func (s *sites) fate(c Call) (Fate, string) {
	name := lastName(c.Callee)
	elsewhere, other := false, ""
	start, started := s.start[c.Caller]
	for _, one := range s.of[c.Caller] {
		if started && one.Line-start == c.Offset {
			if !one.Direct || one.Called == "" || one.Called == name || isClosure(name) || stack.IsStandard(stack.Package(c.Caller)) {
				return Found, ""
			}
			other = one.Called
		}
		elsewhere = elsewhere || one.Called == name
	}
	switch {
	case s.unnamed(c.Caller) || s.unnamed(c.Callee):
		return Sourceless, ""
	case !s.known(c.Caller) && !stack.IsRuntime(stack.Package(c.Caller)):
		return Gone, c.Caller + " is gone"
	case elsewhere:
		return Moved, "it is on another line now"
	case !s.known(c.Callee) && !stack.IsRuntime(stack.Package(c.Callee)):
		return Gone, c.Callee + " is gone"
	case stack.IsRuntime(stack.Package(c.Callee)), stack.IsRuntime(stack.Package(c.Caller)):
		return Sourceless, ""
	case other != "":
		return Changed, "it calls " + other + " there now"
	}
	return Changed, "it no longer calls it by name"
}

// unnamed tells whether the compiler cannot know a function by its name in a profile.
func (s *sites) unnamed(function string) bool {
	return nameless(function) || !s.known(function) && copied(function)
}

// copied tells whether a func literal was compiled once more, within a function that the one
// around it was inlined into: its name goes through both, as in p.(*T).run.(*Set).each.func1, and
// the compiler has it after it has read the profile.
func copied(function string) bool {
	names := 0
	local := stack.Local(function)
	if !isClosure(lastName(local)) {
		return false
	}
	for part := range strings.SplitSeq(local, ".") {
		if !strings.HasPrefix(part, "(") && !isClosure(part) && part != "init" && part != "glob" && part != "" {
			names++
		}
	}
	return names > 1
}

// nameless tells whether the compiler cannot know a function by the name that profiles have for
// it: generic functions have no type arguments there, assembly may have no package, and what
// the compiler makes has no place in the source.
func nameless(function string) bool {
	name := lastName(function)
	return function == "" || strings.Contains(function, "[...]") || !strings.Contains(function, ".") ||
		strings.HasPrefix(function, "type:") || strings.HasPrefix(function, "go:") ||
		strings.HasPrefix(name, "deferwrap") || strings.HasPrefix(name, "gowrap") || strings.HasSuffix(name, "-fm") || strings.Contains(name, "-range")
}

// lastName is the name behind the last dot, without type arguments: Write of
// bytes.(*Buffer).Write, take of p.take[go.shape.int].
func lastName(function string) string {
	var b strings.Builder
	depth := 0
	for i := range len(function) {
		switch c := function[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	name := b.String()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// isClosure tells whether a last name is that of a func literal: func1, or a number within one.
func isClosure(name string) bool {
	name = strings.TrimPrefix(name, "func")
	return name != "" && strings.Trim(name, "0123456789") == ""
}
