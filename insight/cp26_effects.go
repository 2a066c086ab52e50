package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a call does besides returning something, by the source: followed through names, as a call of an interface may
// come to each method of that name.

// callEffects searches for one.
type callEffects struct {
	c    *code
	d    *derivations
	seen map[*ast.FuncDecl]bool
	at   codeLine
	what string
	in   string // the file of the function that is looked at
}

// Limits of the search. Chosen: a name that more functions have says nothing.
const (
	effectDepth = 5
	effectNames = 8
	effectFuncs = 300
)

// effectOfCall is a line of a function, or of what it may call, that does something which a call has to be made for, and what
// that is; empty where there is none. Where given is false, changes of what the function is given have been looked for
// while it ran.
func effectOfCall(c *code, at stack.Frame, given bool) (line codeLine, what string) {
	fn := c.function(at)
	if fn == nil {
		return line, ""
	}
	e := &callEffects{c: c, d: derivationsOf(c), seen: map[*ast.FuncDecl]bool{}}
	outside := map[string]bool{}
	if given {
		for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
			for name := range givenNames(list) {
				outside[name] = true
			}
		}
	}
	e.look(declaration{fn, at.File}, outside, 0)
	return e.at, e.what
}

// givenNames are the names of a list of parameters.
func givenNames(list *ast.FieldList) map[string]bool {
	out := map[string]bool{}
	if list != nil {
		for _, f := range list.List {
			for _, n := range f.Names {
				out[n.Name] = n.Name != "_"
			}
		}
	}
	return out
}

// look searches a function. outside are its receiver and parameters that lead to what is not its own.
func (e *callEffects) look(fn declaration, outside map[string]bool, depth int) {
	if e.what != "" || depth > effectDepth || e.seen[fn.FuncDecl] || len(e.seen) > effectFuncs {
		return
	}
	e.seen[fn.FuncDecl] = true
	defer func(before string) { e.in = before }(e.in)
	e.in = fn.file
	own := givenNames(fn.Type.Params)
	for name := range givenNames(fn.Recv) {
		own[name] = true
	}
	for name := range givenNames(fn.Type.Results) {
		own[name] = true
	}
	isOutside := func(x ast.Expr) bool {
		if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
			x = u.X
		}
		name := rootName(x)
		return outside[name] || !own[name] && isPackageVariable(e.c, name)
	}
	note := func(n ast.Node, text string) {
		if e.what == "" {
			e.at, e.what = codeLine{fn.file, e.c.parse(fn.file).fset.PositionFor(n.Pos(), false).Line}, text
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if e.what != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.SendStmt:
			note(n, "sends to a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !strings.HasSuffix(types.ExprString(n.X), "Done()") {
				note(n, "receives from a channel")
			}
		case *ast.DeclStmt:
			if g, ok := n.Decl.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							own[name.Name] = true
						}
					}
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[id.Name] = true
					outside[id.Name] = isOutside(n.X)
				}
			}
		case *ast.IncDecStmt:
			e.set(n, n.X, own, isOutside, note)
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				id, ok := x.(*ast.Ident)
				switch {
				case n.Tok == token.DEFINE && ok:
					own[id.Name] = true
					if len(n.Rhs) == len(n.Lhs) {
						outside[id.Name] = mayLeadTo(n.Rhs[i]) && isOutside(n.Rhs[i])
					}
					if i == 0 && hasCall(n.Rhs[0], func(call *ast.CallExpr) bool { return ownCallName(call) == "Value" && len(call.Args) == 1 }) {
						outside[id.Name] = true // of a context
					}
				default:
					e.set(n, x, own, isOutside, note)
				}
			}
		case *ast.CallExpr:
			e.call(n, isOutside, note, depth)
		}
		return true
	})
}

// mayLeadTo tells of a value that it may lead to what another one leads to: no call, no number, no text.
func mayLeadTo(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND
	case *ast.StarExpr, *ast.ParenExpr:
		return true
	}
	return false
}

// set looks at a place that is written to.
func (e *callEffects) set(n ast.Node, x ast.Expr, own map[string]bool, isOutside func(ast.Expr) bool, note func(ast.Node, string)) {
	if id, ok := x.(*ast.Ident); ok && (own[id.Name] || id.Name == "_") {
		return // a variable of the function
	}
	if isOutside(x) && !e.isFresh(x) {
		note(n, "changes "+types.ExprString(x))
	}
}

// isFresh tells of a place that is written to that it belongs to what the function has made, as a field of its own copy of a struct.
func (e *callEffects) isFresh(x ast.Expr) bool {
	return isFreshAt(e.d, stack.Frame{File: e.in, Line: e.c.parse(e.in).fset.PositionFor(x.Pos(), false).Line}, x)
}

// waitsOnPurpose are functions of package time that let it pass, atomicChanges methods that change a counter or a flag.
var (
	waitsOnPurpose = []string{"time.Sleep", "time.After", "time.NewTimer", "time.NewTicker", "time.Tick"}
	atomicChanges  = regexp.MustCompile(`^(Add|Store|Swap|CompareAndSwap|Or|And)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)?$`)
	waitGroups     = regexp.MustCompile(`(?i)(wg|wait|group)$`)
)

// movesOn are functions and methods that read what comes next, and move on.
var movesOn = regexp.MustCompile(`^(Read|ReadFull|ReadAtLeast|ReadAll|ReadByte|ReadBytes|ReadRune|ReadString|ReadLine|ReadSlice|ReadFrom|Copy|CopyN|CopyBuffer|Fscan|Fscanf|Fscanln|Decode|Token|Scan|Next|NextPart|Recv|ReadMessage|ReadRecord)$`)

// changesNothing are functions of the library whose names say that they write, and that only make something.
var changesNothing = []string{"bytes.Replace", "bytes.ReplaceAll", "strings.Replace", "strings.ReplaceAll", "slices.Insert", "slices.Delete", "slices.Replace", "delete"}

// call looks at a call and, where that is of the program, into what it may come to.
func (e *callEffects) call(n *ast.CallExpr, isOutside func(ast.Expr) bool, note func(ast.Node, string), depth int) {
	name, text := ownCallName(n), types.ExprString(n.Fun)
	sel, selects := n.Fun.(*ast.SelectorExpr)
	of := e.c.functions()[name]
	fromLibrary := e.d.t.fromPackage(n.Fun) != ""
	switch {
	case slices.Contains(waitsOnPurpose, text):
		note(n, "lets time pass")
	case name == "delete" && len(n.Args) > 0 && isOutside(n.Args[0]), name == "clear" && len(n.Args) > 0 && isOutside(n.Args[0]):
		note(n, "changes "+types.ExprString(n.Args[0]))
	case selects && atomicChanges.MatchString(name) && (strings.HasPrefix(text, "atomic.") || isOutside(sel.X) && len(of) == 0 && !waitGroups.MatchString(types.ExprString(sel.X))):
		note(n, "counts or stores in "+types.ExprString(sel.X))
	case selects && len(of) == 0 && (name == "LoadOrStore" || name == "LoadAndDelete" || name == "CompareAndDelete") && isOutside(sel.X):
		note(n, "counts or stores in "+types.ExprString(sel.X))
	case len(of) == 0 && movesOn.MatchString(name) && (slices.ContainsFunc(n.Args, isOutside) || selects && isOutside(sel.X)):
		note(n, "reads on by "+text)
	case writesOut(e.d, n), strings.HasPrefix(text, "fmt.Print"), strings.HasPrefix(text, "log."), strings.HasPrefix(text, "slog."):
		note(n, "writes")
	case len(of) == 0 && !slices.Contains(changesNothing, text) && (writeNames.MatchString(name) || executes.MatchString(name)):
		note(n, "by the name of "+name+" changes something")
	}
	if e.what != "" || len(of) == 0 || len(of) > effectNames || fromLibrary {
		return
	}
	for _, d := range of {
		outside := map[string]bool{}
		if d.Recv != nil && selects {
			for name := range givenNames(d.Recv) {
				outside[name] = isOutside(sel.X)
			}
		}
		i := 0
		for _, f := range d.Type.Params.List {
			for _, p := range f.Names {
				if i < len(n.Args) && mayLeadTo(n.Args[i]) && isOutside(n.Args[i]) {
					outside[p.Name] = true
				}
				i++
			}
		}
		e.look(d, outside, depth+1)
	}
}

// makesForEach are names of functions that make something of its own for each who asks.
var makesForEach = regexp.MustCompile(`^(?i:new|make|create|clone|copy|alloc|spawn|start|begin|acquire|dial|connect|handshake|accept|listen)([A-Z_0-9].*)?$`)

// hold says what speaks against keeping the result: then the finding is a remark.
func (r *repeatedCall) hold(in *Input, f *Finding) {
	w, decl := r.Inner, stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line}
	if r.Func.Caller != "" {
		decl = r.way[0]
	}
	remark := func(format string, args ...any) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
	}
	fn := in.code.function(decl)
	if fn == nil {
		remark("its source is not in the recording: what else it does is not known")
		return
	}
	if at, what := effectOfCall(in.code, decl, w.Partial); what != "" {
		remark("it %s at %s: if each call has to do that, split it from what can be kept", what, at.text())
	}
	if why, _ := maybeOther(in.code, fn, decl.File); why != "" && !strings.HasSuffix(why, "reads a value of the context") {
		remark("another call may give another result: %s", why)
	}
	if carriesContext(fn) {
		remark("what it does with the context that it is given may differ from call to call: contexts were not compared")
	}
	if at, of := readsVariable(in.code, declaration{fn, decl.File}); of != "" {
		remark("it reads %s, which is no argument and is changed at %s: another call may give another result", of, at)
	}
	switch {
	case r.holdResults(in, decl, f, remark):
	case w.Refers && makesForEach.MatchString(ownName(r.Func.Name)):
		remark("by its name it makes a value for each who asks: that can be shared only if nobody changes it, or tells it from others")
	case w.Refers && !w.Plain && toldApart(in.code, callerOf(r.way, r.site), ownName(r.Func.Name)):
		remark("what it returns is a key, or is compared: if it is told from others by where it is, each needs one of its own")
	case w.Refers:
		d := newDerivations(in.code)
		if at, ok := parsedWritten(d, ownFrames(in, r.way), 0); ok {
			remark("what it returns is changed at %s: whoever does that needs a copy of his own", at.text())
			return
		}
		f.Doubts = append(f.Doubts, "what it returns has pointers, slices or maps: whoever changes what they hold needs a copy of his own")
	}
}

// holdResults says what of the results, by the counts alone, speaks against keeping them; false where nothing does.
func (r *repeatedCall) holdResults(in *Input, decl stack.Frame, f *Finding, remark func(format string, args ...any)) bool {
	switch w := r.Inner; {
	case w.Changed > 0:
		remark("what it returned was changed afterwards, by its users or by its own methods: whoever changes it needs a value of his own")
	case w.Handles:
		remark("what it returns has a connection, a file, a channel or a function in it: only one may be able to use that at a time")
	case w.Maps && w.Vague && computesAlone(in.code, decl):
		f.Doubts = append(f.Doubts, "what it returns has maps, whose entries were not compared: by the source it makes all of what it is given and reads, and changes nothing")
		return false
	case w.Maps && w.Vague:
		remark("what it returns has maps, whose entries were not compared: each call may return others")
	default:
		return false
	}
	return true
}

// computesAlone tells of the function at a frame that it makes what it returns of its arguments and of what it reads, files and the environment among that,
// and changes nothing: as long as these stay the same, so does all that it returns.
func computesAlone(c *code, at stack.Frame) bool {
	d := newDerivations(c)
	d.files = true
	in, ok := d.at(at)
	if !ok || in.lit != nil {
		return false
	}
	f := d.value(in.decl)
	return f != nil && (f.asks == nil || !writesKeptFiles(d))
}

// writesKeptFiles tells that the program writes to a file that a field or a variable of a package keeps open: which one that is, is not known.
func writesKeptFiles(d *derivations) bool {
	kept := map[string]bool{}
	note := func(of ast.Expr, names []*ast.Ident) {
		if of == nil || strings.TrimPrefix(types.ExprString(of), "*") != "os.File" {
			return
		}
		for _, id := range names {
			kept[id.Name] = true
		}
		kept["File"] = kept["File"] || len(names) == 0 // embedded
	}
	for _, f := range d.t.files {
		for _, x := range f.file.Decls {
			if decl, ok := x.(*ast.GenDecl); ok {
				ast.Inspect(decl, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.Field:
						note(n.Type, n.Names)
					case *ast.ValueSpec:
						note(n.Type, n.Names)
					}
					return true
				})
			}
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(d.t.decls)), func(decl *ast.FuncDecl) bool {
		return hasCall(decl.Body, func(call *ast.CallExpr) bool {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			return ok && (strings.HasPrefix(sel.Sel.Name, "Write") || sel.Sel.Name == "Truncate") && kept[lastName(types.ExprString(sel.X))]
		})
	})
}

// callerOf is the frame that calls the first one of a way; otherwise where none was seen.
func callerOf(way []stack.Frame, otherwise stack.Frame) stack.Frame {
	if len(way) > 1 {
		return way[1]
	}
	return otherwise
}

// ownFrames are the frames of the program at the begin of a way.
func ownFrames(in *Input, way []stack.Frame) []stack.Frame {
	for i, f := range way {
		if !in.Session.Scope().IsUser(f) {
			return way[:i]
		}
	}
	return way
}
