package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// Walks through a tree of files of which hardly any is used, by a condition on the path: whole folders could be left out.

// walkFunctions walk through a tree of files, by the paths of their packages.
var walkFunctions = map[string][]string{"path/filepath": {"WalkDir", "Walk"}, "io/fs": {"WalkDir"}}

// walkLeaves is how the condition of a walk leaves files out.
type walkLeaves int

const (
	walkUnknown walkLeaves = iota
	walkUnder              // only what has a beginning is used
	walkBelow              // what holds of a folder holds of all below it
)

// walkUse is what is known of a walk besides how much of it is used.
type walkUse struct {
	leaves walkLeaves
	by     string // the part of the condition that decides for folders
	entry  string // the name of what it visits
	skips  string // the error that leaves out a folder
}

// advice says how to leave out folders.
func (w *walkUse) advice() string {
	switch w.leaves {
	case walkBelow:
		return fmt.Sprintf("Leave out whole folders: what %s holds for is not used, and if it holds for a folder (%s.IsDir()), it holds for all that is below. Return %s there, so that it is not even entered.", w.by, w.entry, w.skips)
	case walkUnder:
		return fmt.Sprintf("Return %s for each folder (%s.IsDir()) that neither begins with what %s asks for nor leads to it; or begin the walk at that folder, where it is the name of a whole one: without a separator at its end it is the beginning of other names, too.", w.skips, w.entry, w.by)
	}
	return fmt.Sprintf("Return %s for each folder (%s.IsDir()) in which nothing can be that %s lets through; those that lead to what it lets through have to be entered.", w.skips, w.entry, w.by)
}

// ofWalk is what is used of the files and folders that a call walks through; nil where that is not known, or where whole folders are left out already.
func (p *partFinder) ofWalk(in frameCode, call *ast.CallExpr) *partUse {
	if p.counts == nil || len(call.Args) < 2 || !slices.Contains(walkFunctions[p.d.t.fromPackage(call.Fun)], calledName(call)) {
		return nil
	}
	visit, kind, ok := p.visitor(in, call.Args[len(call.Args)-1])
	if !ok || len(kind.Params.List) == 0 || len(kind.Params.List[0].Names) == 0 || hasAny(visit.body(), func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "SkipDir" || sel.Sel.Name == "SkipAll")
	}) {
		return nil
	}
	t, ok := p.counts.ofBody(visit, visit.body(), nil)
	if !ok || t.all < manyRecords || float64(t.acting) > fewPass*float64(t.all) {
		return nil
	}
	conditions := pathConditions{p.d}
	path := p.d.variable(kind.Params.List[0].Names[0])
	if path == nil || !derivedMentions(p.d, t.decides, path) || conditions.byEnding(t.decides, 0) {
		return nil
	}
	walk := &walkUse{by: types.ExprString(t.decides), entry: visitedName(kind)}
	if leaves, by := conditions.leavesOut(t.decides, path); leaves != walkUnknown {
		walk.leaves, walk.by = leaves, types.ExprString(by)
	}
	if walk.skips = "filepath.SkipDir"; p.d.t.fromPackage(call.Fun) == "io/fs" {
		walk.skips = "fs.SkipDir"
	}
	return &partUse{by: types.ExprString(call.Fun), of: p.d.placeOf(call), walk: walk,
		taken: []partTaken{{kind: partPass, at: t.at, text: types.ExprString(t.decides), all: float64(t.all), used: float64(t.acting)}}}
}

// visitor is the function that an argument is: one without a name, or one of the program's.
func (p *partFinder) visitor(in frameCode, x ast.Expr) (frameCode, *ast.FuncType, bool) {
	if lit, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		return frameCode{decl: in.decl, lit: lit, file: in.file}, lit.Type, true
	}
	fn := p.d.t.callee(&ast.CallExpr{Fun: x})
	if fn == nil || p.d.t.decls[fn] == nil {
		return frameCode{}, nil, false
	}
	decl := p.d.t.decls[fn]
	return frameCode{decl: decl, file: p.d.placeOf(decl).file}, decl.Type, true
}

// visitedName names the second parameter of a function that a walk calls.
func visitedName(kind *ast.FuncType) string {
	var names []string
	for _, f := range kind.Params.List {
		for _, id := range f.Names {
			names = append(names, id.Name)
		}
	}
	if len(names) > 1 && names[1] != "_" {
		return names[1]
	}
	return "the entry"
}
