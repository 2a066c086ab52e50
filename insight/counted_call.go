package insight

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
)

// countedCall is a function of which the calls were counted, with where the program calls it.
type countedCall struct {
	name  string        // of its symbol
	in    string        // the function around
	at    stack.Frame   // where that begins
	way   []stack.Frame // from the function out to what is around, as a sample has seen it; nil where none has
	costs []cost
	rows  []*facts.UnitRow
	site  stack.Frame // where it is called, as far as that is known
	every bool        // the counts are of all its calls, whatever is around
	loop  int         // the first line of the loop that it is called in; 0 where that is not known
	decl  stack.Frame // where it begins, as the counts have it
	// sampled are the CPU samples that go through it, of all.
	sampled, samplesAll int64
}

// newCounted looks for the calls of a function within another in the samples and in the source.
func newCounted(in *Input, fn, within stack.Frame, every bool) countedCall {
	c := countedCall{name: fn.Func, decl: fn, in: within.Func, at: within, every: every}
	c.samples(in)
	c.waited(in)
	c.calledAt(in)
	return c
}

// isCounted tells whether a function of a stack is one of the counts: those have no type parameters.
func isCounted(frame, counted string) bool {
	return stack.FoldGenerics(frame) == counted || bareGenerics(frame) == counted
}

// bareGenerics is the name of a function without type parameters.
func bareGenerics(name string) string {
	return strings.ReplaceAll(stack.FoldGenerics(name), "[...]", "")
}

// literalNumbers end the name of a function literal.
var literalNumbers = lazily(`^\d+(\.\d+)*$`)

// isFrame tells of a frame that it is of the function. The counts have function literals without a number: of these it is the one that begins where
// they say.
func (r *countedCall) isFrame(c *code, f stack.Frame) bool {
	if isCounted(f.Func, r.name) {
		return true
	}
	number, literal := strings.CutPrefix(bareGenerics(f.Func), r.name)
	if !literal || !strings.HasSuffix(r.name, ".func") || !literalNumbers.MatchString(number) || f.File != r.decl.File {
		return false
	}
	s, found := c.parse(f.File), false
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if lit, ok := n.(*ast.FuncLit); ok {
			first, _ := s.lines(lit)
			found = found || first == r.decl.Line
		}
	})
	return found
}

// cpuShare is the part of the CPU time that passes in the function, by the CPU profile; it is false where no sample has seen it.
func (r *countedCall) cpuShare() (share stats.Interval, ok bool) {
	if r.sampled == 0 {
		return share, false
	}
	return stats.Wilson(float64(r.sampled), float64(r.samplesAll), compare.Confidence), true
}

// samples finds the CPU time of the function and its heaviest way.
func (r *countedCall) samples(in *Input) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return
	}
	lines, most, within := map[cost]bool{}, int64(0), false
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		frames := facts.Frames(cpu.Profile.Stacks, id)
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return r.isFrame(in.code, f) })
		if r.samplesAll += max(0, w); w <= 0 || at < 0 {
			continue
		}
		r.sampled += w
		lines[cost{file: frames[at].File, line: frames[at].Line}] = true
		if in := r.isWithin(frames[at:]); in && !within || in == within && w > most {
			most, within, r.way = w, in, frames[at:]
		}
	}
	r.costs = slices.SortedFunc(maps.Keys(lines), func(a, b cost) int { return a.line - b.line })
}

// isWithin tells of a way from the function outward that it goes through what is around, of which the counts are.
func (r *countedCall) isWithin(way []stack.Frame) bool {
	return r.every || slices.ContainsFunc(way[1:], func(f stack.Frame) bool { return isCountedIn(f.Func, r.in) })
}

// waited finds the parts of the time of units that pass within the function, and its heaviest way among them where no
// sample has one.
func (r *countedCall) waited(in *Input) {
	t, u := in.trace(), in.Facts.Units()
	if t.Err != nil || u.Err != nil {
		return
	}
	for _, g := range u.Groups {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			frames := t.Frames(row.Site.Stack)
			at := slices.IndexFunc(frames, func(f stack.Frame) bool { return r.isFrame(in.code, f) })
			if at < 0 {
				continue
			}
			r.rows = append(r.rows, row)
			if r.way == nil || !r.isWithin(r.way) && r.isWithin(frames[at:]) {
				r.way = frames[at:]
			}
		}
	}
}

// partOfRows is the part of the time of some rows that those wanted have; 0 where there are none.
func partOfRows(rows []*facts.UnitRow, wanted func(*facts.UnitRow) bool) float64 {
	part, all := time.Duration(0), time.Duration(0)
	for _, row := range rows {
		if all += row.Time; wanted(row) {
			part += row.Time
		}
	}
	return float64(part) / float64(max(1, all))
}

// calledAt finds the line that calls the function, or what calls it, in the loop that repeats it: on a way that was seen, else in
// the source of what is around.
func (r *countedCall) calledAt(in *Input) {
	if r.in != "" && len(r.way) > 1 && !r.isWithin(r.way) { // what was seen is another one's call
		if r.sourceSite(in); r.site.Func != "" {
			r.way = []stack.Frame{r.way[0], r.site}
			return
		}
	}
	for i, f := range r.way {
		if i == 0 {
			continue
		}
		if isUser := in.Session.Scope().IsUser; r.site.Func == "" || !isUser(r.site) && isUser(f) { // a library may call it back
			r.site = f
		}
		if loops := loopsAround(in.code, f); len(loops) > 0 && in.Session.Scope().IsUser(f) {
			r.site = f
			r.loop, _ = loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
			return
		}
		if isCounted(f.Func, r.in) {
			return
		}
	}
	if r.site.Func == "" {
		r.sourceSite(in)
	}
}

// sourceSite finds the line that calls the function in the source of what is around.
func (r *countedCall) sourceSite(in *Input) {
	fn, s := in.code.function(r.at), in.code.parse(r.at.File)
	if fn == nil {
		return
	}
	eachNode(fn.Body, func(n ast.Node, outside []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || r.site.Func != "" || ownCallName(call) != ownName(r.name) {
			return
		}
		line, _ := s.lines(call)
		r.site = stack.Frame{Func: r.in, File: r.at.File, Line: line}
		for _, o := range slices.Backward(outside) {
			if isLoop(o) {
				r.loop, _ = s.lines(o)
				return
			}
		}
	})
}

// evidence shows the call, and the function, which begins at decl, with what is said of it; nothing where which is empty.
func (r *countedCall) evidence(in *Input, f *Finding, entry recording.Entry, decl stack.Frame, counts, which string) {
	if r.site.Func == "" {
		f.Evidence = []Evidence{in.fileAt(entry, decl, []stack.Frame{decl}, "%s", counts)}
		return
	}
	frames := r.way
	if len(frames) == 0 {
		frames = []stack.Frame{decl, r.site}
	}
	f.Evidence = []Evidence{in.fileAt(entry, r.site, frames, "%s", counts)}
	if r.loop > 0 {
		f.Summary += fmt.Sprintf("; the loop at %s comes to it in each turn", fileLine(r.site.File, r.loop))
	}
	if len(r.way) > 1 && fileLine(r.way[1].File, r.way[1].Line) != fileLine(r.site.File, r.site.Line) && in.Session.Scope().IsUser(r.way[1]) {
		f.Summary += ", by way of " + place(r.way[1])
		f.Evidence = append(f.Evidence, in.code.shownAt(r.way[1].File, r.way[1].Line, "%s is called here", stack.Short(decl.Func)))
	}
	if which != "" {
		f.Evidence = append(f.Evidence, in.code.shownAt(decl.File, decl.Line, "%s, %s, begins here", stack.Short(decl.Func), which))
	}
}
