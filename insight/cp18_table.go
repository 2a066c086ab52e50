package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A table that the program makes of what it reads from files, folders or the environment, for each item of a loop
// again, although nothing of the item decides what is in it.

// tablesTitle is that of a finding about such a table.
const tablesTitle = "The same table is made again for each item"

// tableReads are the functions of the library that read files, folders or the environment, by their packages.
var tableReads = map[string]*pattern{
	"os":            lazily(`^(ReadFile|ReadDir|Open|Stat|Lstat|Readlink|Getenv|LookupEnv|Environ|Hostname|Getwd)$`),
	"io/ioutil":     lazily(`^(ReadFile|ReadDir)$`),
	"path/filepath": lazily(`^(Glob|Walk|WalkDir|EvalSymlinks|Abs)$`),
	"io/fs":         lazily(`^(ReadFile|ReadDir|Stat|Glob|WalkDir)$`),
	"net":           lazily(`^(Interfaces|InterfaceAddrs)$`),
	"os/user":       lazily(`^Lookup`),
}

// tableAsks tells of a call that it reads files, folders or the environment.
func tableAsks(d *derivations, n *ast.CallExpr) bool {
	pkg, name := d.t.fromPackage(n.Fun), calledName(n)
	if pkg == "os" && name == "OpenFile" {
		return len(n.Args) == 3 && types.ExprString(n.Args[1]) == "os.O_RDONLY"
	}
	if (name == "Walk" || name == "WalkDir") && len(n.Args) > 0 { // what it calls has to be seen
		if _, lit := ast.Unparen(n.Args[len(n.Args)-1]).(*ast.FuncLit); !lit {
			return false
		}
	}
	of := tableReads[pkg]
	return of != nil && of.MatchString(name)
}

// tableOpens tells of a function of the library that it makes a reader of another one, or reads one to its end.
func tableOpens(pkg, name string) bool {
	switch pkg {
	case "bufio", "encoding/csv", "compress/gzip", "bytes":
		return strings.HasPrefix(name, "NewReader") || name == "NewScanner" || name == "NewBuffer"
	case "encoding/json", "encoding/xml":
		return name == "NewDecoder"
	case "io", "io/ioutil":
		return name == "ReadAll"
	}
	return false
}

var (
	// tableTells are methods of files, entries of folders and regular expressions that change nothing.
	tableTells = lazily(`^(Info|Type|Mode|Perm|Size|ModTime|Sys|IsDir|Find\w*|ReplaceAll\w*)$`)
	// tableLogs are packages whose functions only tell what is done.
	tableLogs = lazily(`^log(/slog)?$`)
)

// tableLibrary tells of a call of the library, in a function that may read files, that it is known here.
func tableLibrary(w *derivedWalk, n *ast.CallExpr) bool {
	pkg, name := w.d.t.fromPackage(n.Fun), calledName(n)
	switch {
	case tableAsks(w.d, n):
		w.f.works = true
		if w.f.asks == nil {
			w.f.asks = n
		}
		return true
	case tableOpens(pkg, name), tableLogs.MatchString(pkg) && !strings.HasPrefix(name, "Fatal") && !strings.HasPrefix(name, "Set"):
		return true
	case pkg == "path/filepath" && (name == "Rel" || name == "Split" || name == "IsAbs" || name == "ToSlash" || name == "SplitList"), pkg == "os" && strings.HasPrefix(name, "Is"):
		return true
	case pkg != "" && name == "Unmarshal" && len(n.Args) == 2:
		w.other = !w.fills(n.Args[1])
		return true
	case pkg != "":
		return false
	}
	for _, x := range n.Args { // what a method may put something into
		if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.AND && !w.fills(u) {
			w.other = true
		}
	}
	_, method := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	return method && tableTells.MatchString(name)
}

// tableMade tells of a function that it makes the table that it returns, a map, a slice or a struct, of what it reads.
func tableMade(d *derivations, decl *ast.FuncDecl) (f *derived, ok bool) {
	if decl.Type.Results == nil {
		return nil, false
	}
	if f = d.value(decl); f == nil || f.asks == nil || f.locks {
		return nil, false
	}
	of := d.t.typeOf(decl.Type.Results.List[0].Type)
	if of == nil || !tableReturned(d, decl) {
		return nil, false
	}
	switch u := of.Underlying().(type) {
	case *types.Map, *types.Slice:
		return f, true
	case *types.Pointer:
		return f, isStruct(u.Elem())
	}
	return nil, false
}

// tableReturned tells of a function that what it returns first is always made by it, or by what it calls: what it has kept
// is not made again.
func tableReturned(d *derivations, decl *ast.FuncDecl) bool {
	made := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			x := ast.Unparen(ret.Results[0])
			_, call := x.(*ast.CallExpr)
			made = made && (call || d.makes(decl, nil, x) || d.isMade(decl, pointed(x)))
		}
		return made
	})
	return made
}

// tableAgain is such a function, with the samples in it.
type tableAgain struct {
	f       *derived
	name    string
	loop    codeLine
	each    string // what the loop goes through
	at      stack.Frame
	most    int64
	samples int64
	lines   map[stack.Frame]int64
	calls   map[stack.Frame]int64
	doubts  []string
}

// tablesAgain finds them by the CPU samples.
func tablesAgain(r *Rule, in *Input, told []Finding) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") || len(in.Session.Manifest().Of(recording.Source)) == 0 {
		return nil
	}
	v, samples := in.view(w.Profile), w.Profile.Samples(w.Index)
	below := map[string]int64{}
	for id, n := range samples {
		seen := map[string]bool{}
		for _, f := range v.t.Frames(id) {
			if fn := v.t.Frame(f).Func; v.origins[f] == stack.User && !seen[fn] {
				seen[fn] = true
				below[fn] += n
			}
		}
	}
	enough := func(fn string) bool { return float64(below[fn]) >= r.param("table")*float64(w.Total()) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(below)), enough) {
		return nil
	}
	s := &tableScan{c: in.code, d: newDerivations(in.code), v: v, enough: enough, known: map[string]*tableTurns{}, all: map[*ast.FuncDecl]*tableAgain{}}
	s.d.files = true
	for id, n := range samples {
		s.add(v.t.Frames(id), n)
	}
	all := slices.SortedFunc(maps.Values(s.all), func(a, b *tableAgain) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), strings.Compare(a.name, b.name))
	})
	for _, x := range all {
		share := stats.Wilson(float64(x.samples), float64(w.Total()), compare.Confidence)
		if share.Low < r.param("table") || tableTold(s.d, x, told) {
			continue
		}
		return []Finding{x.finding(s.d, r, in, w, share)}
	}
	return nil
}

// tableTold tells whether another finding is about work in the function already.
func tableTold(d *derivations, x *tableAgain, told []Finding) bool {
	file, first, _ := d.t.at(x.f.decl.Pos())
	_, last, _ := d.t.at(x.f.decl.End())
	return slices.ContainsFunc(told, func(f Finding) bool {
		return f.State == Found && f.saves && slices.ContainsFunc(f.costs, func(c cost) bool {
			return c.file == file && first <= c.line && c.line <= last || slices.ContainsFunc(slices.Collect(maps.Keys(x.calls)), func(at stack.Frame) bool { return at.File == c.file && at.Line == c.line })
		})
	})
}

// tableScan goes through the stacks.
type tableScan struct {
	c      *code
	d      *derivations
	v      *view
	enough func(string) bool
	known  map[string]*tableTurns
	all    map[*ast.FuncDecl]*tableAgain
}

// add asks of the functions of the program on a stack, the outermost first, whether one is such a function.
func (s *tableScan) add(frames []stack.FrameID, n int64) {
	for i := len(frames) - 1; i >= 0; i-- {
		at := s.v.t.Frame(frames[i])
		if s.v.origins[frames[i]] != stack.User || !s.enough(at.Func) || strings.Contains(at.Func, ".func") || i+1 == len(frames) {
			continue
		}
		in, ok := s.d.at(at)
		if !ok {
			continue
		}
		f, ok := tableMade(s.d, in.decl)
		if !ok {
			continue
		}
		turns := s.ask(f, frames[i:])
		if turns == nil {
			continue
		}
		x := s.all[in.decl]
		if x == nil {
			x = &tableAgain{f: f, name: at.Func, lines: map[stack.Frame]int64{}, calls: map[stack.Frame]int64{}}
			s.all[in.decl] = x
		}
		line := lineOnly(at)
		x.samples += n
		x.calls[lineOnly(s.v.t.Frame(frames[i+1]))] += n
		if x.lines[line] += n; x.lines[line] > x.most {
			x.at, x.most, x.loop, x.each, x.doubts = line, x.lines[line], turns.loop, turns.each, turns.doubts
		}
		return
	}
}

// ask is [tableTurnsOf] for the first of some frames, remembered; nil for none.
func (s *tableScan) ask(f *derived, frames []stack.FrameID) *tableTurns {
	var key strings.Builder
	way, user := make([]stack.Frame, len(frames)), make([]bool, len(frames))
	for i, id := range frames {
		way[i], user[i] = s.v.t.Frame(id), s.v.origins[id] == stack.User
		if i > 0 {
			key.WriteString(way[i].Func + fileLine(way[i].File, way[i].Line) + " ")
		}
	}
	id := f.decl.Name.Name + " " + key.String()
	if turns, ok := s.known[id]; ok {
		return turns
	}
	s.known[id] = nil
	if filledOnce(s.c, s.v, frames) || slices.ContainsFunc(frames, func(f stack.FrameID) bool { return inSet("once", s.v.t.Frame(f).Func) }) {
		return nil
	}
	if turns, ok := tableTurnsOf(s.d, f, way, user); ok {
		s.known[id] = &turns
	}
	return s.known[id]
}

// finding says what table is made again, where, and what to do.
func (x *tableAgain) finding(d *derivations, r *Rule, in *Input, w *facts.Weights, share stats.Interval) Finding {
	asks := d.placeOf(x.f.asks)
	calls := slices.SortedFunc(maps.Keys(x.calls), func(a, b stack.Frame) int {
		return cmp.Or(cmp.Compare(x.calls[b], x.calls[a]), cmp.Compare(a.Line, b.Line))
	})
	f := r.answer(Found, "%s of the CPU time goes into making the same table again: %s, which reads it with %s (%s), is called for each %s of the loop at %s and is given nothing of it",
		unit.Percent(share.Estimate), stack.Short(x.name), types.ExprString(x.f.asks.Fun), asks.text(), x.each, x.loop.text())
	f.Title = tablesTitle
	f.takes(r, share)
	f.Severity = Warning
	f.Evidence = []Evidence{in.lineAt(w.Entry, calls[0], "it is called here, in %d of %d samples", x.calls[calls[0]], w.Total()),
		in.lineAt(w.Entry, x.at, "%d of the samples in %s go through this line", x.most, stack.Short(x.name)),
		in.code.shownAt(x.loop.file, x.loop.line, "in each turn of this loop")}
	for _, at := range calls {
		f.costs = append(f.costs, cost{file: at.File, line: at.Line, callee: stack.FoldGenerics(x.name)})
	}
	f.Advice = "Call it once before the loop at " + x.loop.text() + " and hand the result on, or make it when it is first asked for; if the files can change meanwhile, once for each pass of the loop."
	f.Doubts = []string{"if the files change between the turns and each has to see that, it has to be read again"}
	if wrote, ok := writesName(in.code, tableNames(d, in.code, x.f.decl, map[*ast.FuncDecl]bool{})); ok {
		f.isWritten(wrote)
		f.Advice = "Keep it, and make it again only when the files have been written: when the modification time (os.Stat) of what it is read from has changed, or once for each pass of the loop at " + x.loop.text() + " if that is soon enough."
	}
	if len(x.doubts) > 0 {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, x.doubts...)
	}
	v := derivedValue{f: x.f, calls: x.calls, d: d}
	if at, ok := v.resultWritten(); ok {
		f.Severity, f.saves = Info, false
		f.Summary += "; its callers write to the result, as at " + at.text()
		f.Advice = "Kept as it is, the result would be changed for all of them. Read it once and give each a copy, if a copy costs less."
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "the result is written to here"))
	}
	return f
}

// tableNames are the names of the files that a function, and what it calls, reads.
func tableNames(d *derivations, c *code, decl *ast.FuncDecl, seen map[*ast.FuncDecl]bool) (all []fileName) {
	if seen[decl] || len(seen) > nameWays {
		return nil
	}
	seen[decl] = true
	file, _, _ := d.t.at(decl.Pos())
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if tableAsks(d, call) {
			if !strings.HasPrefix(d.t.fromPackage(call.Fun), "os/") && d.t.fromPackage(call.Fun) != "net" && len(call.Args) > 0 && !strings.HasSuffix(calledName(call), "env") && calledName(call) != "LookupEnv" {
				all = append(all, (&sourceNames{c: c}).of(call.Args[0], declaration{decl, file})...)
			}
			return true
		}
		if fn := d.t.callee(call); fn != nil && d.t.decls[fn] != nil {
			all = append(all, tableNames(d, c, d.t.decls[fn], seen)...)
		}
		return true
	})
	return all
}
