package static

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	graph "loupe/value/callgraph"
)

// Calls returns who may call whom in packages and all that they import, by variable type
// analysis (Sundaresan et al. 2000, as in golang.org/x/tools): a call through an interface or a
// func value may go to each function whose value can flow there. It counts code that is never
// reached, and does not see calls by reflection, assembly, C and linkname. cached tells that the
// graph was kept from an earlier time.
func Calls(ctx context.Context, opt Options) (g *graph.Graph, cached bool, err error) {
	l, err := opt.list(ctx)
	if err != nil {
		return nil, false, err
	}
	g = &graph.Graph{}
	if kept(opt.Cache, l.key+".calls", g) {
		return g, true, nil
	}
	opt.progress("type-checking %s and all that it imports", strings.Join(opt.Patterns, " "))
	roots, err := opt.whole(ctx, opt.Patterns)
	if err != nil {
		return nil, false, err
	}
	g = analyse(roots, opt.progress)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	opt.keepIfSame(ctx, l, l.key+".calls", g)
	return g, false, nil
}

// analyse computes the graph of packages that are loaded whole.
func analyse(roots []*packages.Package, progress func(string, ...any)) *graph.Graph {
	prog, _ := ssautil.AllPackages(roots, ssa.InstantiateGenerics)
	prog.Build()
	all := ssautil.AllFunctions(prog)
	progress("following values through %d functions", len(all))
	cg := vta.CallGraph(all, nil)
	cg.DeleteSyntheticNodes()
	w := &writer{g: &graph.Graph{}, fset: prog.Fset, asked: map[string]bool{}, ids: map[string]int32{}, files: map[string]int32{}}
	for _, p := range roots {
		w.asked[p.PkgPath] = true
	}
	for f := range all { // also what nobody calls
		if f.Syntax() != nil {
			w.function(f)
		}
	}
	for f, n := range cg.Nodes {
		if f == nil || n == cg.Root {
			continue
		}
		for _, e := range n.Out {
			w.call(e)
		}
	}
	w.order()
	return w.g
}

// writer writes a graph of SSA functions as one of names: instances of one generic function
// become one.
type writer struct {
	g     *graph.Graph
	fset  *token.FileSet
	asked map[string]bool
	ids   map[string]int32 // by path and position
	files map[string]int32
}

func (w *writer) function(f *ssa.Function) int32 {
	if o := f.Origin(); o != nil {
		f = o
	}
	path := packageOf(f)
	local := localName(f)
	pos := w.fset.Position(f.Pos())
	key := fmt.Sprintf("%s.%s %s:%d", path, local, pos.Filename, pos.Line)
	if id, ok := w.ids[key]; ok {
		return id
	}
	prefix := path
	if pkg := typesPackage(f); pkg != nil && pkg.Name() == "main" {
		prefix = "main"
	}
	id := int32(len(w.g.Functions))
	w.ids[key] = id
	w.g.Functions = append(w.g.Functions, graph.Function{
		Name: graph.Symbol(prefix, local), Package: path, File: pos.Filename, Line: pos.Line, Asked: w.asked[path],
	})
	return id
}

func (w *writer) call(e *callgraph.Edge) {
	c := graph.Call{Caller: w.function(e.Caller.Func), Callee: w.function(e.Callee.Func)}
	pos := w.fset.Position(e.Pos())
	switch e.Site.(type) {
	case *ssa.Go:
		c.Way = graph.Go
	case *ssa.Defer:
		c.Way = graph.Deferred
	}
	file, ok := w.files[pos.Filename]
	if !ok {
		file = int32(len(w.g.Files))
		w.files[pos.Filename] = file
		w.g.Files = append(w.g.Files, pos.Filename)
	}
	c.File, c.Line = file, int32(pos.Line)
	w.g.Calls = append(w.g.Calls, c)
}

// order makes the graph the same on each run, whatever the order of maps.
func (w *writer) order() {
	g := w.g
	order := make([]int32, len(g.Functions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &g.Functions[a], &g.Functions[b]
		return cmp.Or(cmp.Compare(x.Package, y.Package), cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	to := make([]int32, len(order))
	sorted := make([]graph.Function, len(order))
	for i, old := range order {
		to[old], sorted[i] = int32(i), g.Functions[old]
	}
	g.Functions = sorted
	for i := range g.Calls {
		c := &g.Calls[i]
		c.Caller, c.Callee = to[c.Caller], to[c.Callee]
	}
	g.Sort()
}

// typesPackage is the package that a function belongs to; nil for one of no package.
func typesPackage(f *ssa.Function) *types.Package {
	for f.Parent() != nil {
		f = f.Parent()
	}
	if f.Pkg != nil {
		return f.Pkg.Pkg
	}
	if o := f.Object(); o != nil {
		return o.Pkg()
	}
	return nil
}

func packageOf(f *ssa.Function) string {
	if pkg := typesPackage(f); pkg != nil {
		return pkg.Path()
	}
	return ""
}

// localName is the name of a function within its package as the compiler writes it:
// "run", "(*T).M", "T.M", "Map[...]", "run.func1.2", "init.0".
func localName(f *ssa.Function) string {
	if o := f.Origin(); o != nil {
		f = o
	}
	if parent := f.Parent(); parent != nil {
		number := 1 + slices.Index(parent.AnonFuncs, f)
		outer := localName(parent)
		if parent.Parent() != nil { // main.run.func1.2
			return outer + "." + strconv.Itoa(number)
		}
		return outer + ".func" + strconv.Itoa(number)
	}
	if recv := f.Signature.Recv(); recv != nil {
		typ, star := recv.Type(), false
		if p, ok := types.Unalias(typ).(*types.Pointer); ok {
			typ, star = p.Elem(), true
		}
		name := types.TypeString(typ, func(*types.Package) string { return "" })
		if named, ok := types.Unalias(typ).(*types.Named); ok {
			name = named.Obj().Name()
			if named.TypeArgs().Len()+named.TypeParams().Len() > 0 {
				name += "[...]"
			}
		}
		if star {
			name = "(*" + name + ")"
		}
		return name + "." + f.Name()
	}
	name := f.Name()
	if number, ok := strings.CutPrefix(name, "init#"); ok { // SSA counts from 1, the compiler from 0
		if n, err := strconv.Atoi(number); err == nil {
			return "init." + strconv.Itoa(n-1)
		}
	}
	if f.TypeParams().Len() > 0 {
		name, _, _ = strings.Cut(name, "[")
		name += "[...]"
	}
	return name
}
