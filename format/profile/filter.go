package profile

import (
	"fmt"
	"regexp"
	"strings"

	"loupe/value/stack"
)

// NameFilter selects samples and frames by the names of functions, source
// files and binaries. A frame matches an expression when one of the three
// does; nil matches nothing and filters nothing.
type NameFilter struct {
	Focus  *regexp.Regexp // keep samples with a matching frame
	Ignore *regexp.Regexp // drop samples with a matching frame
	Hide   *regexp.Regexp // remove matching frames
	Show   *regexp.Regexp // remove all other frames
}

// NameMatches tells which expressions of a [NameFilter] have matched anything.
type NameMatches struct{ Focus, Ignore, Hide, Show bool }

// FilterNames applies all four at once, as pprof does: what Focus and Ignore
// look at is not what Hide and Show leave over, but the whole stack. A sample
// whose frames are all removed is removed, too.
func (p *Profile) FilterNames(f NameFilter) (*Profile, NameMatches) {
	if f == (NameFilter{}) {
		return p, NameMatches{Focus: true}
	}
	p = p.located()
	n := names{p: p, NameFilter: f, verdict: make([]verdict, len(p.Locations))}
	n.focus, n.ignore, n.hide, n.show = nameMatcher(f.Focus), nameMatcher(f.Ignore), nameMatcher(f.Hide), nameMatcher(f.Show)
	if f.Hide != nil || f.Show != nil {
		n.lines = make([][]stack.FrameID, len(p.Locations))
	}
	for at := range p.Locations {
		n.judge(at)
	}
	if n.lines == nil { // no stack changes, some go
		keep := make([]int8, p.Stacks.Len())
		return p.filter(func(row int) bool {
			id := p.StackIDs[row]
			if keep[id] == 0 {
				keep[id] = -1
				if n.wanted(id) {
					keep[id] = 1
				}
			}
			return keep[id] > 0
		}), n.matched
	}
	return p.rewrite(&rewriting{lines: n.lines, stack: n.keep}), n.matched
}

// verdict is what a [NameFilter] says about a location.
type verdict struct{ focused, ignored, hidden bool }

// names is a NameFilter at work.
type names struct {
	NameFilter
	p                         *Profile
	focus, ignore, hide, show *matcher
	verdict                   []verdict         // by location
	lines                     [][]stack.FrameID // by location
	matched                   NameMatches
	anyHidden                 bool
}

func (n *names) judge(at int) {
	l, v := &n.p.Locations[at], &n.verdict[at]
	switch {
	case n.ignore != nil && n.location(l, n.ignore):
		n.matched.Ignore, v.ignored = true, true
	case n.focus == nil || n.location(l, n.focus):
		n.matched.Focus, v.focused = true, true
	}
	frames := make([]stack.FrameID, 0, l.Lines)
	for i := range l.Lines {
		frames = append(frames, l.First+stack.FrameID(i))
	}
	changed := false
	if n.hide != nil && n.location(l, n.hide) {
		n.matched.Hide = true
		frames, changed = n.without(l, frames, n.hide, true), true
		v.hidden = len(frames) == 0
	}
	if n.show != nil {
		if !n.module(l, n.show) {
			frames, changed = n.without(l, frames, n.show, false), true
		}
		if len(frames) == 0 {
			v.hidden = true
		} else {
			n.matched.Show = true
		}
	}
	if changed {
		n.lines[at] = frames
	}
	n.anyHidden = n.anyHidden || v.hidden
}

func (n *names) module(l *Location, m *matcher) bool {
	return l.Mapping >= 0 && m.matches(n.p.Mappings[l.Mapping].File)
}

func (n *names) location(l *Location, m *matcher) bool {
	for i := range l.Lines {
		if m.frame(n.p.Stacks.Frame(l.First + stack.FrameID(i))) {
			return true
		}
	}
	return n.module(l, m)
}

// without returns the frames that match, or all but those.
func (n *names) without(l *Location, frames []stack.FrameID, m *matcher, matching bool) []stack.FrameID {
	kept := frames[:0]
	if matching && n.module(l, m) {
		return kept
	}
	for _, id := range frames {
		if m.frame(n.p.Stacks.Frame(id)) != matching {
			kept = append(kept, id)
		}
	}
	return kept
}

// wanted says whether some location is in focus and none is ignored.
func (n *names) wanted(id stack.ID) bool {
	focused, ignored := false, false
	n.p.eachLocation(id, func(at int) {
		focused = focused || n.verdict[at].focused
		ignored = ignored || n.verdict[at].ignored
	})
	return focused && !ignored
}

func (n *names) keep(locations []int) ([]int, bool) {
	focused := false
	for _, at := range locations {
		if n.verdict[at].ignored {
			return nil, false
		}
		focused = focused || n.verdict[at].focused
	}
	if !focused || !n.anyHidden {
		return locations, focused
	}
	kept := locations[:0]
	for _, at := range locations {
		if !n.verdict[at].hidden {
			kept = append(kept, at)
		}
	}
	return kept, len(kept) > 0
}

// ShowFrom removes the frames that are nearer to the root than the matching
// frame that is nearest to the root, and the samples without a matching one.
// It says whether anything matched.
func (p *Profile) ShowFrom(re *regexp.Regexp) (*Profile, bool) {
	p = p.located()
	m := nameMatcher(re)
	lines := make([][]stack.FrameID, len(p.Locations))
	found, any := make([]bool, len(p.Locations)), false
	for at := range p.Locations {
		l := &p.Locations[at]
		if l.Mapping >= 0 && m.matches(p.Mappings[l.Mapping].File) {
			found[at], any = true, true
			continue
		}
		for i := l.Lines - 1; i >= 0; i-- {
			if m.frame(p.Stacks.Frame(l.First + stack.FrameID(i))) {
				found[at], any = true, true
				lines[at] = l.frames(0, i+1)
				break
			}
		}
	}
	return p.rewrite(&rewriting{lines: lines, stack: func(locations []int) ([]int, bool) {
		for i := len(locations) - 1; i >= 0; i-- {
			if found[locations[i]] {
				return locations[:i+1], true
			}
		}
		return nil, false
	}}), any
}

// frames lists the frames from one to before another.
func (l *Location) frames(from, to int) []stack.FrameID {
	list := make([]stack.FrameID, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, l.First+stack.FrameID(i))
	}
	return list
}

// PruneFrom removes all that a matching function calls; of several such
// functions in a stack, the one nearest to the leaf counts. The expression sees
// names without argument lists, as C++ has them.
func (p *Profile) PruneFrom(re *regexp.Regexp) *Profile {
	p = p.located()
	m := newMatcher(func(name string) bool { return re.MatchString(simplified(name)) })
	lines := make([][]stack.FrameID, len(p.Locations))
	beneath := make([]bool, len(p.Locations))
	for at := range p.Locations {
		l := &p.Locations[at]
		for i := range l.Lines {
			if f := p.Stacks.Frame(l.First + stack.FrameID(i)); f.Func != "" && m.matches(f.Func) {
				beneath[at], lines[at] = true, l.frames(i, l.Lines)
				break
			}
		}
	}
	return p.rewrite(&rewriting{lines: lines, stack: func(locations []int) ([]int, bool) {
		for i, at := range locations {
			if beneath[at] {
				return locations[i:], true
			}
		}
		return locations, true
	}})
}

// RemoveUninteresting removes what the writer of the profile calls not
// interesting (DropFrames, unless KeepFrames matches, too): the allocator's own
// functions, for example. Go writes neither.
func (p *Profile) RemoveUninteresting() (*Profile, error) {
	if p.DropFrames == "" {
		return p, nil
	}
	drop, err := regexp.Compile("^(" + p.DropFrames + ")$")
	if err != nil {
		return nil, fmt.Errorf("cannot compile the profile's drop_frames %q: %w", p.DropFrames, err)
	}
	var keep *regexp.Regexp
	if p.KeepFrames != "" {
		if keep, err = regexp.Compile("^(" + p.KeepFrames + ")$"); err != nil {
			return nil, fmt.Errorf("cannot compile the profile's keep_frames %q: %w", p.KeepFrames, err)
		}
	}
	return p.prune(drop, keep), nil
}

// prune removes a function that matches and all that it calls, but for the
// frames at the root before the first that does not match.
func (p *Profile) prune(drop, keep *regexp.Regexp) *Profile {
	p = p.located()
	m := newMatcher(func(name string) bool {
		name = simplified(name)
		return drop.MatchString(name) && (keep == nil || !keep.MatchString(name))
	})
	lines := make([][]stack.FrameID, len(p.Locations))
	whole, beneath := make([]bool, len(p.Locations)), make([]bool, len(p.Locations))
	for at := range p.Locations {
		l := &p.Locations[at]
		for i := l.Lines - 1; i >= 0; i-- {
			if f := p.Stacks.Frame(l.First + stack.FrameID(i)); f.Func == "" || !m.matches(f.Func) {
				continue
			}
			if beneath[at] = true; i == l.Lines-1 {
				whole[at] = true
			} else {
				lines[at] = l.frames(i+1, l.Lines)
			}
			break
		}
	}
	return p.rewrite(&rewriting{lines: lines, stack: func(locations []int) ([]int, bool) {
		user := false
		for i := len(locations) - 1; i >= 0; i-- {
			switch at := locations[i]; {
			case !beneath[at]:
				user = true
			case !user:
			case whole[at]:
				return locations[i+1:], true
			default:
				return locations[i:], true
			}
		}
		return locations, true
	}})
}

// simplified is a function name without its argument list: what stands before
// the first parenthesis that does not belong to a name of C++.
func simplified(name string) string {
	name = strings.TrimPrefix(name, ".") // PowerPC
	for at := 0; ; {
		i := strings.IndexByte(name[at:], '(')
		if i < 0 {
			return name
		}
		i += at
		switch {
		case strings.HasPrefix(name[i:], "(anonymous namespace)"):
			at = i + len("(anonymous namespace)")
		case strings.HasSuffix(name[:i], "operator") && strings.HasPrefix(name[i:], "()"):
			at = i + len("()")
		default:
			return name[:i]
		}
	}
}

// WithoutInlines returns the profile without inlined calls: of every location
// the function that contains the address is left. Columns go, too, unless they
// are kept. It is what pprof's -noinlines does to an exported profile.
func (p *Profile) WithoutInlines(columns bool) *Profile {
	p = p.located()
	lines := make([][]stack.FrameID, len(p.Locations))
	for at := range p.Locations {
		if l := &p.Locations[at]; l.Lines > 1 {
			lines[at] = l.frames(l.Lines-1, l.Lines)
		}
	}
	r := &rewriting{lines: lines}
	if !columns {
		r.frame = func(_ int, f *stack.Frame) { f.Column = 0 }
	}
	q := p.rewrite(r)
	q.Mappings = append([]Mapping(nil), p.Mappings...)
	for i := range q.Mappings {
		q.Mappings[i].HasInlineFrames = false
	}
	return q
}
