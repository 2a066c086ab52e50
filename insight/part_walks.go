package insight

import (
	"go/ast"
	"go/types"
	"slices"
)

// Walks through a tree of files of which hardly any is used, by a condition on the path: whole folders could be left out.

// walkFunctions walk through a tree of files, by the paths of their packages.
var walkFunctions = map[string][]string{"path/filepath": {"WalkDir", "Walk"}, "io/fs": {"WalkDir"}}

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
	path := p.d.variable(kind.Params.List[0].Names[0])
	if !mentionsVars(p.d, t.decides, map[types.Object]bool{path: true}) || hasCall(t.decides, byEnding) {
		return nil
	}
	return &partUse{by: types.ExprString(call.Fun), of: p.d.placeOf(call), walk: true,
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

// byEnding tells of a call that it asks for the name of a file alone, or its ending: those that are left out stand beside those that are used.
func byEnding(call *ast.CallExpr) bool {
	switch lastName(types.ExprString(call.Fun)) {
	case "Ext", "Base", "HasSuffix", "Name", "Match", "TrimSuffix":
		return true
	}
	return false
}
