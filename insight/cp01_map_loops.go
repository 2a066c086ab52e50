package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A map that is gone through or filled for each record, with the same keys each time.

// mapLoop is such a map in a loop over records.
type mapLoop struct {
	outer    ast.Node // the loop over records
	inner    ast.Node // the loop over the keys within it; nil where the keys are constants
	ranged   string   // the map that the inner loop goes through; empty where that is no map
	filled   []string // maps that are given values by the same keys in each turn
	lines    map[int]bool
	channel  bool // the records come from a channel
	whole    bool // what is filled is handed on for each record
	constant int  // how many different constants are keys
}

// fixedKeys are maps of a function, each gone through or filled in a loop over records, with keys that no turn changes.
func fixedKeys(d *derivations, in frameCode) (all []*mapLoop) {
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		body, over := recordsOf(n)
		if body == nil || slices.ContainsFunc(around, func(x ast.Node) bool { _, lit := x.(*ast.FuncLit); return lit }) {
			return
		}
		s := &mapScan{d: d, loop: n, body: body}
		s.note()
		of := d.t.typeOf(over)
		channel := false
		if of != nil {
			_, channel = of.Underlying().(*types.Chan)
		}
		for _, inner := range innerRanges(body) {
			if l := s.keysOf(inner); l != nil {
				l.channel = channel
				all = append(all, l)
			}
		}
		if l := s.constants(); l != nil {
			l.channel = channel
			all = append(all, l)
		}
	})
	return all
}

// recordsOf is the body of a loop that goes through records, and what it goes through, if it says so; nil for any other.
func recordsOf(n ast.Node) (body *ast.BlockStmt, over ast.Expr) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		return n.Body, n.X
	case *ast.ForStmt:
		if n.Cond != nil {
			return n.Body, nil
		}
	}
	return nil, nil
}

// innerRanges are the range statements right within a loop, not those of a loop in between.
func innerRanges(body *ast.BlockStmt) (all []*ast.RangeStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			all = append(all, n)
			return false
		case *ast.ForStmt, *ast.FuncLit:
			return false
		}
		return true
	})
	return all
}

// mapScan looks at what the turns of a loop change.
type mapScan struct {
	d    *derivations
	loop ast.Node
	body *ast.BlockStmt
	// sets are the names that are set in the loop, gives those that are handed to calls, or whose methods are called.
	sets, gives map[string]bool
	// puts are the entries that are set, drops the maps of which entries are taken, as texts.
	puts  []*ast.IndexExpr
	drops map[string]bool
}

// note collects what the loop changes.
func (s *mapScan) note() {
	s.sets, s.gives, s.drops = map[string]bool{}, map[string]bool{}, map[string]bool{}
	set := func(x ast.Expr) {
		if x == nil {
			return
		}
		if entry, ok := ast.Unparen(x).(*ast.IndexExpr); ok && isMap(s.d.t.typeOf(entry.X)) {
			s.puts = append(s.puts, entry)
			return
		}
		s.sets[types.ExprString(x)] = true
	}
	ast.Inspect(s.loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				set(x)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.RangeStmt:
			set(n.Key)
			set(n.Value)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				s.sets[id.Name] = true
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				s.gives[types.ExprString(n.X)] = true
			}
		case *ast.CallExpr:
			switch name := types.ExprString(n.Fun); {
			case name == "delete" || name == "clear":
				s.drops[types.ExprString(n.Args[0])] = true
			case name == "len" || name == "append" || name == "cap":
			default:
				for _, x := range n.Args {
					s.gives[types.ExprString(x)] = true
				}
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					s.gives[types.ExprString(sel.X)] = true
				}
			}
		}
		return true
	})
}

// isMap tells of a type that it is one of maps.
func isMap(of types.Type) bool {
	if of == nil {
		return false
	}
	_, ok := of.Underlying().(*types.Map)
	return ok
}

// stays tells of something that a loop goes through, or whose entries it sets, that each turn has the same: it is a name, or
// fields of one, of which the loop sets none.
func (s *mapScan) stays(x ast.Expr) bool {
	for {
		if s.sets[types.ExprString(x)] {
			return false
		}
		switch n := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = n.X
			if s.gives[types.ExprString(x)] {
				return false
			}
		case *ast.Ident:
			return true
		default:
			return false
		}
	}
}

// keysOf looks at a loop within that over records: one over a map of which no turn changes the keys, or one over a list whose
// elements are the keys of a map that is filled. It is nil for any other.
func (s *mapScan) keysOf(inner *ast.RangeStmt) *mapLoop {
	name, overMap := types.ExprString(inner.X), isMap(s.d.t.typeOf(inner.X))
	if !s.stays(inner.X) || s.gives[name] || s.drops[name] || leavesEarly(inner.Body) {
		return nil
	}
	l := &mapLoop{outer: s.loop, inner: inner, lines: map[int]bool{}}
	key := inner.Value
	if overMap {
		l.ranged, key = name, inner.Key
		l.lines[s.line(inner)] = true
	}
	id, _ := key.(*ast.Ident)
	for _, put := range s.puts {
		of := types.ExprString(put.X)
		same := id != nil && types.ExprString(put.Index) == id.Name && inner.Pos() <= put.Pos() && put.Pos() < inner.End()
		if overMap && of == name && !same {
			return nil // it may come to have more keys
		}
		if same && s.stays(put.X) {
			l.lines[s.line(put)] = true
			l.whole = l.whole || s.gives[of]
			if !slices.Contains(l.filled, of) {
				l.filled = append(l.filled, of)
			}
		}
	}
	if l.ranged == "" && len(l.filled) == 0 {
		return nil
	}
	return l
}

// fewConstants is how many constants have to be keys of a map that is filled for each record. Chosen: fewer are counters.
const fewConstants = 3

// constants looks for a map to which each turn gives values by constants.
func (s *mapScan) constants() *mapLoop {
	keys, lines := map[string]map[string]bool{}, map[string]map[int]bool{}
	for _, put := range s.puts {
		if tv := s.d.t.info.Types[put.Index]; tv.Value == nil || !s.stays(put.X) {
			continue
		}
		of := types.ExprString(put.X)
		if keys[of] == nil {
			keys[of], lines[of] = map[string]bool{}, map[int]bool{}
		}
		keys[of][types.ExprString(put.Index)] = true
		lines[of][s.line(put)] = true
	}
	l := &mapLoop{outer: s.loop, lines: map[int]bool{}}
	for _, of := range slices.Sorted(maps.Keys(keys)) {
		if len(keys[of]) >= fewConstants {
			l.filled = append(l.filled, of)
			l.constant = max(l.constant, len(keys[of]))
			maps.Copy(l.lines, lines[of])
		}
	}
	if l.constant == 0 {
		return nil
	}
	return l
}

func (s *mapScan) line(n ast.Node) int {
	_, line, _ := s.d.t.at(n.Pos())
	return line
}

// leavesEarly tells of a loop's body that it ends the loop where it has found something.
func leavesEarly(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// mapWork are samples of a function's lines below which the runtime works on maps, by what it does.
type mapWork struct{ iterates, assigns, looks, clears int64 }

func (w mapWork) all() int64 { return w.iterates + w.assigns + w.looks + w.clears }

// mapWorkAt counts the samples of lines of a function that are in maps.
func mapWorkAt(w *facts.Weights, at stack.Frame, lines map[int]bool) (work mapWork) {
	t := w.Profile.Stacks
	for id, n := range w.Profile.Samples(w.Index) {
		frames := t.Frames(id)
		i := slices.IndexFunc(frames, func(f stack.FrameID) bool { return t.Frame(f).Func == at.Func })
		if i <= 0 || !lines[t.Frame(frames[i]).Line] {
			continue
		}
		switch called := strings.ToLower(t.Frame(frames[i-1]).Func); {
		case !strings.HasPrefix(called, "runtime.map") && !strings.HasPrefix(called, "internal/runtime/maps."):
		case strings.Contains(called, "iter"):
			work.iterates += n
		case strings.Contains(called, "assign"):
			work.assigns += n
		case strings.Contains(called, "access"):
			work.looks += n
		case strings.Contains(called, "clear"), strings.Contains(called, "delete"):
			work.clears += n
		}
	}
	return work
}

// leastOnMaps is the share of the CPU time from which on work on maps is spoken of. Chosen: as for a hot function.
const leastOnMaps = 0.10

// tellMapLoops says of a hot function that much of its time goes into a map that is gone through or filled for each record,
// with the same keys; false where it does not.
func tellMapLoops(in *Input, d *derivations, w *facts.Weights, h *hotFunction, f *Finding) bool {
	at := h.line.Caller
	code, ok := d.at(at)
	if !ok {
		return false
	}
	var most *mapLoop
	var work mapWork
	for _, l := range fixedKeys(d, code) {
		if x := mapWorkAt(w, at, l.lines); most == nil || x.all() > work.all() {
			most, work = l, x
		}
	}
	if most == nil || work.all() < minHits {
		return false
	}
	all := w.Profile.Total(w.Index)
	share := stats.Wilson(float64(work.all()), float64(all), compare.Confidence)
	if share.Low < leastOnMaps {
		return false
	}
	part := func(n int64) string { return unit.Percent(float64(n) / float64(all)) }
	var parts []string
	for _, x := range []struct {
		n    int64
		name string
	}{{work.iterates, "going through a map"}, {work.assigns, "map assignments"}, {work.looks, "map lookups"}, {work.clears, "clearing a map"}} {
		if x.n > 0 {
			parts = append(parts, part(x.n)+" "+x.name)
		}
	}
	file, outer, _ := d.t.at(most.outer.Pos())
	f.Title = "A map with the same keys is gone through or filled for each record"
	f.Summary += fmt.Sprintf("; %s of the CPU time is work on maps there (%s), for keys that stay the same in each turn of the loop at %s: ", part(work.all()), strings.Join(parts, ", "), fileLine(file, outer))
	filled := "the values of " + andList(most.filled) + " are set by the same keys in each of its turns"
	swap := "Swap the loops: go through the keys outside and through the records inside, with what belongs to a key in a local variable, which is stored once behind the inner loop. Or give each key a number once, and use slices indexed by it instead of maps"
	switch {
	case most.inner == nil:
		f.Summary += fmt.Sprintf("%s (%d constants)", filled, most.constant)
		swap = "Use a struct with a field for each of the keys, or a slice indexed by constants, instead of the map"
	case most.ranged != "":
		_, inner, _ := d.t.at(most.inner.Pos())
		f.Summary += fmt.Sprintf("the loop over %s at %s lies within it", most.ranged, fileLine(file, inner))
		if len(most.filled) > 0 {
			f.Summary += ", and " + filled
		}
		f.Evidence = append(f.Evidence, in.code.shownAt(file, inner, "each record goes through the map here"))
	default:
		f.Summary += filled
	}
	if (most.channel || most.whole) && most.inner != nil {
		swap = "Give each key a number once, before the loop, and use slices indexed by it instead of maps"
	}
	f.Evidence = append(f.Evidence, in.code.shownAt(file, outer, "the loop over the records"))
	f.Advice = swap + ": a map hashes the key and looks for its place at each access, and to go through one costs many times what a slice does."
	f.saves, f.costs = true, nil
	for line := range most.lines {
		f.costs = append(f.costs, cost{file: file, line: line, within: "map"})
	}
	if most.inner != nil && !most.channel && !most.whole {
		f.Doubts = append(f.Doubts, "where a record has to be complete before the next one is read, the loops cannot be swapped: then slices are what helps")
	}
	if share.Low >= dominates {
		f.Severity = Warning
	}
	return true
}
