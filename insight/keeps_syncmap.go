package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a sync.Map keeps, and what takes it out again.

// storesInSyncMap tells of a call, by its name and what it is called on, that it may put its key and its last argument into a sync.Map,
// or into what is used like one.
func storesInSyncMap(k *keeper, call *ast.CallExpr, arg int) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch {
	case len(call.Args) == 2 && (f.Sel.Name == "Store" || f.Sel.Name == "LoadOrStore"):
		return len(k.fitting(call, arg)) == 0
	case len(call.Args) == 2 && f.Sel.Name == "Swap", len(call.Args) == 3 && f.Sel.Name == "CompareAndSwap":
		return slices.Contains(k.typesOf(f.X), "sync.Map")
	}
	return false
}

// bySyncMap: the line itself puts something into a sync.Map: what is kept is the entry, and what makes an interface of its key and its
// value.
func bySyncMap(c *code, own []stack.Frame) (h holding, ok bool) {
	k := &keeper{c: c, funcs: c.functions(), file: own[0].File, fn: c.function(own[0])}
	for _, call := range (sourceHolders{c}).lineCalls(own[0]) {
		f, is := call.Fun.(*ast.SelectorExpr)
		if !is || !storesInSyncMap(k, call, anyArgument) || !slices.Contains(k.typesOf(f.X), "sync.Map") {
			continue
		}
		into := keepsAt{kind: intoSyncMap, container: types.ExprString(f.X), file: own[0].File, line: own[0].Line, name: nameOf(k, f.X)}
		h, ok = sourceHolders{c}.stored(into)
		h.into = into
		return h, ok
	}
	return h, false
}

// syncMapHolds is what to do about a sync.Map that holds memory, by whether anything is deleted from it: by its types, where the sources
// tell them, else from one of its name.
func (c sourceHolders) syncMapHolds(s keepsAt, shows []Evidence) holding {
	const kept = "It goes into %s, a sync.Map or similar, which keeps it until it is deleted: "
	r, known := removersOf(c.code, s)
	all := c.removalsFrom(lastName(s.container))
	var lets Evidence
	switch {
	case known && len(r.found) == 0, !known && len(all) == 0:
		return holding{advice: fmt.Sprintf(kept+"nothing in the source deletes from ", s.container) + syncMapNamed(known) + boundIf, shows: shows}
	case known && r.found[0].kind == deletes:
		lets = c.shownAt(r.found[0].file, r.found[0].line, "entries are deleted from it here")
	case len(all) > 0:
		lets = c.shownAt(all[0].in.file, all[0].line, "entries are deleted from it here")
	default: // what may do so tellOthers says
		return holding{advice: fmt.Sprintf(kept+"check what may delete from it, and bound it.", s.container), shows: shows}
	}
	return holding{advice: fmt.Sprintf(kept+"check whether that happens for each key, and bound it.", s.container), shows: append(shows, lets), lets: lets}
}

// syncMapNamed is how sure it is that nothing is deleted: known where all names of the map were followed.
func syncMapNamed(known bool) string {
	if known {
		return "it. "
	}
	return "one of this name. "
}

// ofCore is what to do about what a core shows to hang on a variable, where neither the source nor its type says more.
func ofCore(expr, of string) string {
	name := ofSyncMap(expr, of)
	if name != expr {
		return fmt.Sprintf("It is in %s, a sync.Map, which keeps it until it is deleted: look for what deletes from it, and whether that happens for each key. ", name) + boundIf
	}
	return fmt.Sprintf("Look for what adds to %s, and what takes out of it again: bound it, or release what is no longer needed.", name)
}

// ofSyncMap is the variable of a path that leads into a sync.Map: "hub.hashes" of "hub.hashes.m.root.v", by the type that the path ends at.
// It is the path itself of another.
func ofSyncMap(expr, of string) string {
	if !strings.HasPrefix(of, "sync.") {
		return expr
	}
	for _, inner := range []string{".m.root", ".root.v", ".dirty", ".read"} {
		if i := strings.Index(expr, inner); i > 0 {
			return expr[:i]
		}
	}
	return expr
}
