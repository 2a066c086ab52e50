package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Sorts that come once in a run: there is no change after which they would be made again.

// tellSortOnce says of sorts that the source shows to come once in a run what makes a single sort cheaper, if anything does. That it is to
// be sorted once is no advice there. It tells whether that is so.
func tellSortOnce(h *hit, f *Finding) bool {
	if !h.sortsOnce() {
		return false
	}
	f.Severity = Info
	f.Summary += "; by the source it is sorted once in a run"
	line := h.lines[0]
	var ways []string
	switch name := stack.FoldGenerics(line.Callee); name {
	case "sort.Slice", "sort.Sort":
		ways = append(ways, fmt.Sprintf("slices.SortFunc in place of %s compares and moves the elements without reflection or calls of an interface", name))
	case "sort.SliceStable", "sort.Stable":
		ways = append(ways, fmt.Sprintf("slices.SortStableFunc in place of %s compares and moves the elements without reflection or calls of an interface", name))
	}
	if few, ok := firstFew(h.in.code, line.Caller); ok {
		ways = append(ways, fmt.Sprintf("only the first of them are used (%s): a heap of that many elements (container/heap) does not put the others in order", few.text()))
	}
	f.Advice = "There is no other sort to save. "
	if len(ways) > 0 {
		f.Advice += "This one may be made cheaper: " + strings.Join(ways, "; ") + "."
	} else {
		f.Advice += "Whether all of it has to be in order is for who uses it to say."
	}
	return true
}

// sortsOnce tells of the sorts of the hit's lines that on each stack nothing comes back to them, by the run that counts or else by the source: all
// of it is there, and no loop is around a line.
func (h *hit) sortsOnce() bool {
	v := h.in.view(h.p)
	known, seen := map[string]bool{}, false // by the frames around a sort
	for id, w := range h.p.Samples(h.index) {
		frames := v.t.Frames(id)
		j := slices.IndexFunc(frames, func(x stack.FrameID) bool { return inSet("sort", v.t.Frame(x).Func) })
		if w <= 0 || j < 0 || !h.hasLine(v, frames, j) {
			continue
		}
		at := nextUser(v, frames, j+1)
		around := fmt.Sprint(frames[at:])
		if known[around] {
			continue
		}
		for i, x := range frames[at:] {
			if v.origins[x] == stack.User && h.in.code.parse(v.t.Frame(frames[at+i]).File) == nil {
				return false
			}
		}
		if again, sure := sortTurns(h.in.code, v, frames, at); again || !sure {
			return false
		}
		known[around], seen = true, true
	}
	return seen
}

// firstFew finds that all that a function does with a slice that it sorts is to use its first elements, by a number or a part that begins
// with them.
func firstFew(c *code, at stack.Frame) (use codeLine, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil || s == nil {
		return use, false
	}
	sort, outer := sortCallAt(s, fn.body, at.Line)
	if sort == nil || slices.ContainsFunc(outer, isLoop) {
		return use, false
	}
	list, named := ast.Unparen(sort.Args[0]).(*ast.Ident)
	if !named || !declares(fn.body, list.Name) {
		return use, false
	}
	all := true
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if !is || id.Name != list.Name || id.Pos() < sort.End() || !all {
			return
		}
		few := false
		switch x := around[len(around)-1].(type) {
		case *ast.SliceExpr:
			few = x.X == id && x.Low == nil && x.High != nil
		case *ast.IndexExpr:
			_, number := numberOf(x.Index)
			few = x.X == id && number
		case *ast.CallExpr:
			if isNamed(x.Fun, "len") {
				return
			}
		}
		if all = few; few && use.line == 0 {
			use = codeLine{at.File, s.fset.PositionFor(id.Pos(), false).Line}
		}
	})
	return use, all && use.line > 0
}
