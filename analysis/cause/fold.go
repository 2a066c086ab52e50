package cause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// folded is the line of the user's that a sample is the cost of.
type folded struct {
	function string // or a name in brackets; "" of what does not count
	doer     string // the function that the line has called, or what that has, outside of the runtime
	at       stack.Frame
}

// place is where a line is.
type place struct {
	file string
	line int
}

// side is a [Side] whose samples are folded into lines of the user's.
type side struct {
	of     *Side
	opt    *Options
	folded [][]folded // by profile and sample
	// lines are the places of lines by their key, decls those of functions.
	lines, decls map[string]place
	keys         map[lineOfFunction]string
	sources      map[string][]string
	reasons      map[string]*whys  // of allocations by the key of the line
	was          map[string]string // names of functions that the other build has by others
}

func newSide(of *Side, opt *Options) *side {
	s := &side{of: of, opt: opt, lines: map[string]place{}, decls: map[string]place{}, keys: map[lineOfFunction]string{}, sources: map[string][]string{}}
	for _, p := range of.Profiles {
		s.folded = append(s.folded, s.fold(p))
	}
	return s
}

// values are those of a profile that are looked at.
func (s *side) values(i int) []int64 {
	p := s.of.Profiles[i]
	index, err := p.Index(s.opt.SampleIndex)
	if err != nil {
		return make([]int64, p.Len()) // compare.Profiles tells of it
	}
	return p.Values[index]
}

// Frames of package testing that tell what a benchmark is run for: once, to see that it
// works, and then as often as it was asked to. One that counts by B.Loop runs in the first
// alone.
const (
	firstRun  = "testing.(*B).run1.func1"
	countRun  = "testing.(*B).launch"
	anyRun    = "testing.(*B).runN"
	mainEntry = "runtime.main"
)

// fold finds the line of the user's of each sample.
func (s *side) fold(p *profile.Profile) []folded {
	has := func(id stack.ID, name string) bool {
		return slices.ContainsFunc(p.Stacks.Frames(id), func(f stack.FrameID) bool { return p.Stacks.Frame(f).Func == name })
	}
	counted := slices.ContainsFunc(p.StackIDs, func(id stack.ID) bool { return has(id, countRun) && has(id, anyRun) })
	byStack := map[stack.ID]folded{}
	out := make([]folded, p.Len())
	for i, id := range p.StackIDs {
		one, ok := byStack[id]
		if !ok {
			if has(id, mainEntry) || counted && has(id, firstRun) {
				one = folded{} // before the benchmark
			} else {
				one = s.innermost(p, id)
			}
			byStack[id] = one
		}
		out[i] = one
	}
	return out
}

// innermost is the user's frame that is nearest to the leaf. What has none is called by what
// it does.
func (s *side) innermost(p *profile.Profile, id stack.ID) folded {
	frames := p.Stacks.Frames(id)
	var own folded
	doer := ""
	for _, f := range frames {
		frame := p.Stacks.Frame(f)
		if !s.opt.Scope.IsUser(frame) {
			if doer == "" && s.opt.Scope.Of(frame) > stack.Runtime {
				doer = stack.FoldGenerics(frame.Func)
			}
			continue
		}
		name := stack.FoldGenerics(frame.Func)
		if frame.StartLine > 0 {
			s.decls[name] = place{frame.File, frame.StartLine}
		}
		if own.function == "" {
			own = folded{name, doer, frame}
		}
	}
	if own.function != "" {
		return own
	}
	what := stack.Categorize(frames, func(f stack.FrameID) stack.Category { return stack.CategoryOf(p.Stacks.Frame(f).Func) })
	if what == stack.Plain {
		return folded{function: "(outside of the module)"}
	}
	return folded{function: "(" + what.String() + " in the background)"}
}

// lineKey names the line of a sample by function and text, so that it is found in the other
// build, where its number is another one. Without a source there is no line.
func (s *side) lineKey(f *folded) string {
	at := lineOfFunction{f.function, place{f.at.File, f.at.Line}}
	key, ok := s.keys[at]
	if !ok {
		key = s.newKey(f)
		s.keys[at] = key
	}
	return key
}

// lineOfFunction is a line as a profile has it.
type lineOfFunction struct {
	function string
	place
}

func (s *side) newKey(f *folded) string {
	if f.at.File == "" || f.at.StartLine <= 0 || f.at.Line < f.at.StartLine {
		return f.function
	}
	lines := s.source(f.at.File)
	if f.at.Line > len(lines) {
		return f.function
	}
	text, nth := strings.TrimSpace(lines[f.at.Line-1]), 0
	for _, other := range lines[f.at.StartLine-1 : f.at.Line-1] {
		if strings.TrimSpace(other) == text {
			nth++
		}
	}
	key := fmt.Sprintf("%s\x00%s\x00%d", f.function, text, nth)
	s.lines[key] = place{f.at.File, f.at.Line}
	return key
}

// find is where the line of a key is, also where it cost nothing. It is looked for in the
// function of that name, up to the brace that ends the declaration it is in.
func (s *side) find(key string) (place, bool) {
	if at, ok := s.lines[key]; ok {
		return at, true
	}
	parts := strings.Split(key, "\x00")
	decl, ok := s.decls[parts[0]]
	if !ok || len(parts) != 3 {
		return place{}, false
	}
	nth, _ := strconv.Atoi(parts[2])
	for i, line := range s.body(decl) {
		if strings.TrimSpace(line) == parts[1] {
			if nth == 0 {
				return place{decl.file, decl.line + i}, true
			}
			nth--
		}
	}
	return place{}, false
}

// readable tells whether the text of a function is there, or it costs nothing here: without
// it a line of the other side would look like a new one.
func (s *side) readable(function string) bool {
	decl, known := s.decls[function]
	return s.of.Source != nil && (!known || len(s.source(decl.file)) > 0)
}

// body are the lines of a declaration, up to the brace that ends it, which begins a line.
func (s *side) body(decl place) []string {
	lines := s.source(decl.file)
	if decl.line > len(lines) {
		return nil
	}
	lines = lines[decl.line-1:]
	for i, line := range lines {
		if strings.HasPrefix(line, "}") || i == 0 && strings.HasSuffix(strings.TrimSpace(line), "}") {
			return lines[:i+1]
		}
	}
	return lines
}

// changedTests are the functions of test files that both sides have, and whose text differs.
func changedTests(sides [2]*side) (names []string) {
	for name, before := range sides[0].decls {
		after, ok := sides[1].decls[name]
		if !ok || !strings.HasSuffix(before.file, "_test.go") {
			continue
		}
		a, b := sides[0].body(before), sides[1].body(after)
		if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// source are the lines of a file; none where it is not there.
func (s *side) source(file string) []string {
	lines, ok := s.sources[file]
	if ok {
		return lines
	}
	if s.of.Source != nil {
		if text, err := s.of.Source(file); err == nil {
			lines = strings.Split(string(text), "\n")
		}
	}
	s.sources[file] = lines
	return lines
}

// rewritten are the profiles with one frame for each sample, of the name that it is given.
func (s *side) rewritten(name func(*side, *folded) string) (out []*profile.Profile) {
	for i, p := range s.of.Profiles {
		q := &profile.Profile{
			SampleTypes: p.SampleTypes, DefaultSampleType: p.DefaultSampleType, PeriodType: p.PeriodType, Period: p.Period,
			Duration: p.Duration, Stacks: new(stack.Table), Values: make([][]int64, len(p.Values)),
		}
		for row := range s.folded[i] {
			f := &s.folded[i][row]
			if f.function == "" {
				continue
			}
			frame := q.Stacks.InternFrame(stack.Frame{Func: name(s, f)})
			q.StackIDs = append(q.StackIDs, q.Stacks.Intern([]stack.FrameID{frame}))
			for column := range p.Values {
				q.Values[column] = append(q.Values[column], p.Values[column][row])
			}
		}
		out = append(out, q)
	}
	return out
}
