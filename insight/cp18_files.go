package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"iter"
	"maps"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// reread is a function of the program that reads files and parses what is in them.
type reread struct {
	name         string
	samples      int64
	reads, turns int64                  // of them in reading, and in parsing
	lines        map[stack.Frame]int64  // its own lines, by their samples
	outwards     map[string]*wayOutward // by the text of the way
	parses       map[string]*wayOutward // those from what parses
}

// wayOutward is a way from a read to what it is for.
type wayOutward struct {
	frames  []stack.Frame // of the program alone, what is nearest to the read first
	samples int64
}

// readsAgain finds functions that read the same file and parse it, for each request or in a
// loop. That it is the same is known where the source shows its name to be one that no call
// changes.
func readsAgain(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil
	}
	v := in.view(w.Profile)
	samples := w.Profile.Samples(w.Index)
	both := readAndParse(v, samples)
	total := int64(0)
	all := map[string]*reread{}
	for id, n := range samples {
		total += n
		frames := v.t.Frames(id)
		at := slices.IndexFunc(frames, func(f stack.FrameID) bool { return both[v.t.Frame(f).Func] })
		if at < 0 || !opensAgain(in.code, v, frames, at) {
			continue
		}
		name := v.t.Frame(frames[at]).Func
		if all[name] == nil {
			all[name] = &reread{name: name, lines: map[stack.Frame]int64{}, outwards: map[string]*wayOutward{}, parses: map[string]*wayOutward{}}
		}
		all[name].add(v, frames, at, n)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x := all[name]
		share := stats.Wilson(float64(x.samples), float64(total), compare.Confidence)
		if x.reads == 0 || x.turns == 0 || share.Low < r.param("share") {
			continue
		}
		if call, at, from, ok := x.sameFile(in.code); ok && !ofKernel(in.code, from) {
			f := rereadFinding(r, in, w, x, share, call, at)
			if wrote, ok := writesFile(in.code, from); ok {
				f.isWritten(wrote)
				f.Advice = "Keep what was written instead of reading it back, if nobody else writes the file; otherwise check its modification time (os.Stat) and read it again only when it has changed."
			}
			if at, ok := x.changed(in.code); !ok {
				f.Doubts = append(f.Doubts, "whoever changes what he is given, or what it points to, needs a copy of his own")
			} else {
				f.keptChanged(in.code, at, "Read and parse it once and keep the result; if it may change while the program runs, check its modification time (os.Stat) and read it again only when it has changed.")
			}
			found = append(found, f)
		}
	}
	return found
}

// opensAgain tells whether the function at a place of a stack, which reads a file, is called more than
// once, or opens one in a loop of its own: one over the lines of a file reads it once.
func opensAgain(c *code, v *view, frames []stack.FrameID, at int) bool {
	if filledOnce(c, v, frames) || doneOnce(v.t, frames, at) {
		return false
	}
	if repeatsFrom(c, v, frames, at+1) {
		return true
	}
	f, again := v.t.Frame(frames[at]), false
	fn := c.scopeAt(f)
	if fn == nil {
		return false
	}
	for _, open := range fn.opened() {
		eachNode(fn.body, func(n ast.Node, around []ast.Node) {
			again = again || n == ast.Node(open) && inTurns(append(slices.Clone(around), n))
		})
	}
	return again
}

// readAndParse are the functions of the program that read a file and parse, as far as samples show,
// without those that only call one that does.
func readAndParse(v *view, samples iter.Seq2[stack.ID, int64]) map[string]bool {
	reads, turns := map[string]bool{}, map[string]bool{}
	for id, n := range samples {
		frames := v.t.Frames(id)
		read, turn := passes(v, frames, "file.read"), passes(v, frames, "parse")
		if n <= 0 || !read && !turn {
			continue
		}
		for _, f := range frames {
			if v.origins[f] == stack.User {
				name := v.t.Frame(f).Func
				reads[name], turns[name] = reads[name] || read, turns[name] || turn
			}
		}
	}
	both := map[string]bool{}
	for name := range reads {
		if reads[name] && turns[name] {
			both[name] = true
		}
	}
	return both
}

// passes tells whether a stack has a function of a set.
func passes(v *view, frames []stack.FrameID, set string) bool {
	marks := v.marks(set)
	return slices.ContainsFunc(frames, func(f stack.FrameID) bool { return marks[f] })
}

// add counts samples of a stack, in which the function is the at-th frame.
func (x *reread) add(v *view, frames []stack.FrameID, at int, n int64) {
	x.samples += n
	if passes(v, frames[:at], "file.read") {
		x.reads += n
	}
	if passes(v, frames[:at], "parse") {
		x.turns += n
	}
	x.lines[v.t.Frame(frames[at])] += n
	to := x.parses
	if passes(v, frames[:at], "file.read") {
		to = x.outwards
	} else if !passes(v, frames[:at], "parse") {
		return
	}
	way := &wayOutward{}
	for _, f := range frames {
		if v.origins[f] == stack.User {
			way.frames = append(way.frames, v.t.Frame(f))
		}
	}
	text := fmt.Sprint(way.frames)
	if to[text] == nil {
		to[text] = way
	}
	to[text].samples += n
}

// changed finds where what the function has parsed is changed by those who get it.
func (x *reread) changed(c *code) (at codeLine, ok bool) {
	d := newDerivations(c)
	for _, ways := range []map[string]*wayOutward{x.parses, x.outwards} {
		for _, key := range slices.Sorted(maps.Keys(ways)) {
			way := ways[key].frames
			if at, ok := parsedWritten(d, way, slices.IndexFunc(way, func(f stack.Frame) bool { return f.Func == x.name })); ok {
				return at, true
			}
		}
	}
	return at, false
}

// sameFile tells whether the name of what is read is the same in each call, by most of the
// ways to the function: the call that opens it, and its place.
func (x *reread) sameFile(c *code) (call string, at stack.Frame, from []given, ok bool) {
	same, whole, most := int64(0), int64(0), int64(0)
	for _, key := range slices.Sorted(maps.Keys(x.outwards)) {
		way := x.outwards[key]
		whole += way.samples
		text, place, values, fixed := fixedName(c, way.frames)
		if !fixed {
			continue
		}
		if same += way.samples; way.samples > most {
			most, call, at, from = way.samples, text, place, values
		}
	}
	return call, at, from, 2*same > whole
}

// fixedName finds the call that opens a file on a way outward, in the function nearest to the
// read that has any, and tells whether the file's name is the same each time.
func fixedName(c *code, way []stack.Frame) (call string, at stack.Frame, from []given, fixed bool) {
	for i := range way {
		fn := c.scopeAt(way[i])
		if fn == nil {
			return "", at, nil, false
		}
		for _, open := range fn.opened() {
			o := newOrigins(c)
			if !o.fixed(open.Args[0], fn, way[i:]) || o.ofOthers() {
				return "", at, nil, false
			}
			from = append(from, o.from...)
			line, _ := c.parse(way[i].File).lines(open)
			call, at = types.ExprString(open), stack.Frame{Func: way[i].Func, File: way[i].File, Line: line}
		}
		if call != "" {
			return call, at, from, true
		}
	}
	return "", at, nil, false
}

// ofKernel tells of the names of files that one is made by the kernel for each read: its time of modification tells nothing.
func ofKernel(c *code, from []given) bool {
	t := typedOf(c)
	return slices.ContainsFunc(from, func(g given) bool {
		if len(g.way) == 0 {
			return false
		}
		file := g.way[0].File
		text := types.ExprString(g.x)
		if x := t.same(c.parse(file), file, g.x); x != nil {
			if tv := t.info.Types[x]; tv.Value != nil {
				text = tv.Value.ExactString()
			} else if id, ok := x.(*ast.Ident); ok {
				text = initialText(t, t.info.Uses[id])
			}
		}
		return kernelFiles.MatchString(text)
	})
}

// kernelFiles are the beginnings of such names.
var kernelFiles = lazily("^[\"`]/(proc|sys|dev)(/|[\"`])")

// initialText is the text that a variable of a package is declared with, with its quotes.
func initialText(t *typed, v types.Object) (text string) {
	for _, f := range t.files {
		if v == nil || f.file.FileStart > v.Pos() || v.Pos() >= f.file.FileEnd {
			continue
		}
		eachAssigned(f.file, func(lhs, rhs ast.Expr) {
			if id, ok := lhs.(*ast.Ident); ok && t.info.Defs[id] == v {
				if tv := t.info.Types[rhs]; tv.Value != nil {
					text = tv.Value.ExactString()
				}
			}
		})
	}
	return text
}

// writesFile finds where the program, while it runs, writes a file whose name is one of some values.
func writesFile(c *code, from []given) (at Evidence, found bool) {
	for _, w := range sourceWrites(c) {
		for _, x := range w.names {
			for _, to := range targets(c, x, w.in, 0) {
				root, fields := chain(to.x)
				for _, g := range from {
					if _, literal := g.x.(*ast.BasicLit); literal && slices.ContainsFunc(from, func(all given) bool { return all.x != g.x && within(all.x, g.x) }) {
						continue // a part of a path
					}
					if root != "" && !w.runs && g.changedAt(c, change{in: to.in, root: root, fields: fields}) || g.isPathOf(c, to) {
						return w.shown(c), true
					}
				}
			}
		}
	}
	return at, false
}

// opens are the calls whose first argument is the name of a file that is read.
var opens = []string{"os.ReadFile", "os.Open", "os.OpenFile", "ioutil.ReadFile"}

// opened are the calls of a function that open a file.
func (fn *scope) opened() (calls []*ast.CallExpr) {
	ast.Inspect(fn.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && len(call.Args) > 0 && slices.Contains(opens, types.ExprString(call.Fun)) {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

func rereadFinding(r *Rule, in *Input, w *facts.Weights, x *reread, share stats.Interval, call string, at stack.Frame) Finding {
	f := r.answer(Found, "%s of the CPU time goes into repeatedly reading and parsing a file whose name is the same each time: %s%s",
		unit.Percent(share.Estimate), call, atFrame(at))
	f.takes(r, share)
	lines := slices.SortedFunc(maps.Keys(x.lines), func(a, b stack.Frame) int {
		return cmp.Or(cmp.Compare(x.lines[b], x.lines[a]), cmp.Compare(a.Line, b.Line))
	})
	f.Evidence = []Evidence{in.lineAt(w.Entry, at, "the file is opened here")}
	f.costs = []cost{{file: at.File, line: at.Line}}
	for _, line := range lines[:min(3, len(lines))] {
		f.Evidence = append(f.Evidence, in.lineAt(w.Entry, line, "%d of the %d samples in it", x.lines[line], x.samples))
		f.costs = append(f.costs, cost{file: line.File, line: line.Line})
	}
	f.Advice = "Read and parse it once and keep the result; if it may change while the program runs, check its modification time (os.Stat) and read it again only when it has changed."
	f.Doubts = append(f.Doubts, "if the file does differ each time after all, there is nothing to cache")
	return f
}

// takes says how much CPU time goes into what can be done once.
func (f *Finding) takes(r *Rule, share stats.Interval) {
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.Severity, f.Score, f.saves = Info, score(share.Estimate, 0.10, 0.40), true
	if share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	f.Verify = fmt.Sprintf("Record again under the same load: the share should fall below %s.", unit.Percent(r.param("share")))
}
