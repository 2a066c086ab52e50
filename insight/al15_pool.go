package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/compiler"
	"loupe/value/stack"
	"loupe/value/unit"
)

var al15 = &Rule{
	ID: "AL15", Title: "sync.Pool allocates instead of reusing",
	About: "A pool helps if Get returns objects that were Put back. If its New function accounts for much of what the program allocates, little is put back, or the collector " +
		"empties the pool first. And a slice put in by value is boxed into an interface: 24 bytes for each Put.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.10, "share of allocated bytes", "chosen: what New may allocate; the research asks for a fifth of the Gets, which no profile counts"},
		{"boxes", 0.03, "share of allocated objects", "chosen: the boxing of what is put in; staticcheck SA6002 finds the pattern"},
		{"warn", 0.30, "share of allocated bytes or objects", "chosen"},
		{"objects", 100, "objects", "chosen: the first objects of a pool are not misuse"},
		g0,
	},
	Check: func(r *Rule, in *Input) []Finding {
		all := check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "pool.get", skip: []string{"startup"},
			direct: true, below: true, perLine: true, objects: 100, accept: poolToChange, what: "came from the New function of a sync.Pool", tell: tellPool})(r, in)
		boxed := check(&look{of: facts.Allocations, sample: "alloc_objects", limit: "boxes", warn: "warn", leaf: true, skip: []string{"startup"},
			perLine: true, objects: 100, accept: (*hit).boxes, what: "came from boxing what is put into a sync.Pool", tell: tellBoxes})(r, in)
		return settle(in2(all, boxed, Found), in2(all, nil, Fine), in2(all, nil, TooLittle))
	},
}

// in2 picks the findings of a state from two lists.
func in2(a, b []Finding, state State) []Finding {
	return slices.DeleteFunc(slices.Concat(a, b), func(f Finding) bool { return f.State != state })
}

// givesFromPool are words with which names of functions begin that give their caller something to bring back.
var givesFromPool = lazily(`^(Get|Acquire|Borrow|Take|New)`)

// poolToChange tells of a line that the program can do something about its pool: the Get or the New function is its own, or it
// takes the object itself from the module that has the pool, by a function whose name says so.
func poolToChange(h *hit, line *hitLine) bool {
	if line.via == "" {
		return true
	}
	v, frames := h.in.view(h.p), h.p.Stacks.Frames(line.heavy)
	get := slices.IndexFunc(frames, func(f stack.FrameID) bool { return h.p.Stacks.Frame(f).Func == "sync.(*Pool).Get" })
	if get < 0 {
		return true
	}
	if own := nextUser(v, frames[:get], 0); own >= 0 {
		return true
	}
	user := nextUser(v, frames, get+1)
	return user > 0 && givesFromPool.MatchString(ownName(h.p.Stacks.Frame(frames[user-1]).Func))
}

func tellPool(h *hit, f *Finding) {
	f.Advice = "Make sure that every path puts back what it took, including early returns; that objects put in are neither larger nor smaller than what is needed next; and that the pool is not created again on each call." + whenDone
	f.Verify = "Record again under the same load: the bytes that New allocates should fall with each missing Put added."
	for _, r := range h.in.Facts.Rounds {
		if r.GC == nil || r.GC.Derived.Collections == 0 || r.Duration <= 0 {
			continue
		}
		every := r.Duration.Seconds() / float64(r.GC.Derived.Collections)
		if every < 0.05 {
			f.Doubts = append(f.Doubts, fmt.Sprintf("with a collection every %s, a pool is emptied within two of them: see GC04 first", unit.Nanoseconds(every*1e9)))
		}
		break
	}
	f.Doubts = append(f.Doubts, "every pool is empty while the program starts")
}

func tellBoxes(h *hit, f *Finding) {
	f.Advice = "Put a pointer: store *[]byte or a pointer to a struct around the slice in the pool, and put back the same pointer that Get returned, with the current slice stored in it (it may have grown)." + whenDone
	set, missing := h.in.compiled()
	if missing != "" {
		f.Doubts = append(f.Doubts, "that Put's argument is what allocates here is inferred from the size of the objects: "+missing)
		return
	}
	if d := boxedAt(set, h.lines[0].Caller); d != nil {
		f.Evidence = append(f.Evidence, Evidence{Text: "the compiler says: " + d.Text + " escapes to heap", File: h.lines[0].Caller.File, Line: h.lines[0].Caller.Line})
	}
}

// boxedAt is what the compiler says of a value that escapes on a line.
func boxedAt(set *compiler.Set, at stack.Frame) *compiler.Diagnostic {
	file, ok := set.File(at.File)
	if !ok {
		return nil
	}
	for _, d := range set.At(file, at.Line) {
		if d.Kind == compiler.Escape && !strings.HasPrefix(d.Text, "&") && !strings.HasPrefix(d.Text, "new(") && !strings.HasPrefix(d.Text, "make(") {
			return d
		}
	}
	return nil
}

// boxSizes are those of what an interface is made to point at: a string, a
// slice.
var boxSizes = map[int64]bool{16: true, 24: true}

// boxes tells whether a line puts something into a sync.Pool that is not a
// pointer: the line says so, and all that it allocates has the size of a
// string or of a slice.
func (h *hit) boxes(line *hitLine) bool {
	for size := range line.sizes {
		if !boxSizes[size] {
			return false
		}
	}
	return putsIntoPool(h.in.code.parse(line.Caller.File), line.Caller.Line)
}

// putsIntoPool tells whether the line calls Put of something that the file
// declares as a sync.Pool, or of a name that ends in pool where another file
// declares it.
func putsIntoPool(source *syntax, line int) bool {
	if source == nil {
		return false
	}
	pools := map[string]bool{}
	isPool := func(e ast.Expr) bool {
		return strings.HasPrefix(strings.TrimLeft(types.ExprString(e), "&*"), "sync.Pool")
	}
	puts := ""
	ast.Inspect(source.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				pools[name.Name] = n.Type != nil && isPool(n.Type) || i < len(n.Values) && isPool(n.Values[i]) || pools[name.Name]
			}
		case *ast.Field:
			for _, name := range n.Names {
				pools[name.Name] = isPool(n.Type) || pools[name.Name]
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && i < len(n.Rhs) && isPool(n.Rhs[i]) {
					pools[id.Name] = true
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Put" && len(n.Args) == 1 && source.covers(n, line) {
				puts = last(s.X)
			}
		}
		return true
	})
	return puts != "" && (pools[puts] || strings.HasSuffix(strings.ToLower(puts), "pool"))
}

// last is the name at the end of an expression: p of a.b.p.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return last(e.X)
	case *ast.ParenExpr:
		return last(e.X)
	case *ast.UnaryExpr:
		return last(e.X)
	}
	return ""
}
