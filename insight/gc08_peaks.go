package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// The heap profiles at the peaks of the live heap show which lines keep more from peak to peak, also where what grows is
// made at several lines, none of which has much of what is in use.

// risingLine is a line of which more is in use at each peak.
type risingLine struct {
	*facts.Line
	from, to int64
}

// fewPeaks is how many heap profiles show a rise. Research: five consecutive ones, and one that confirms it.
const fewPeaks = 6

// risingAtPeaks are the lines of the program of which more and more is in use from one heap profile to the next, those
// that grew most first, and their part of all growth. There are none where the profiles are too few, or where the whole
// falls back.
func risingAtPeaks(r *Rule, in *Input) (rising []risingLine, share float64) {
	all, _ := facts.RetentionIn(in.Facts)
	if all == nil {
		return nil, 0
	}
	looks := slices.DeleteFunc(slices.Clone(all.Looks), func(l *facts.Look) bool { return l.AtExit || l.Entry.Partial || l.Entry.Run != all.Most.Entry.Run })
	if len(looks) < fewPeaks || all.Most.AtExit {
		return nil, 0
	}
	totals, courses, lines := []float64{}, map[stack.Frame][]float64{}, map[stack.Frame]*facts.Line{}
	for i, look := range looks {
		totals = append(totals, float64(look.Bytes))
		for _, l := range look.Lines() {
			at := stack.Frame{Func: l.At.Func, File: l.At.File, Line: l.At.Line}
			if courses[at] == nil {
				courses[at] = make([]float64, len(looks))
			}
			courses[at][i], lines[at] = float64(l.Weight), l
		}
	}
	grows := func(course []float64) bool {
		_, p := stats.MannKendall(course)
		first, last := course[0], course[len(course)-1]
		return p < r.param("p") && last >= 2*first && slices.Max(course) <= 1.25*last
	}
	if !grows(totals) {
		return nil, 0
	}
	sum, whole := 0.0, totals[len(totals)-1]-totals[0]
	for _, at := range sortedLines(lines, func(a, b *facts.Line) int { return int(max(-1, min(1, b.Weight-a.Weight))) }) {
		course := courses[at]
		if !grows(course) {
			continue
		}
		from, to := course[0], course[len(course)-1]
		rising = append(rising, risingLine{lines[at], int64(from), int64(to)})
		sum += to - from
	}
	return rising, sum / max(1, whole)
}

// tellRising names the lines that keep more from peak to peak, where these make most of the growth, and what holds it; false
// where they do not, or where the source shows a bound.
func tellRising(r *Rule, in *Input, f *Finding) bool {
	rising, share := risingAtPeaks(r, in)
	if len(rising) == 0 || share < r.param("kept") {
		return false
	}
	looks, _ := facts.RetentionIn(in.Facts)
	top := rising[0]
	f.Summary += fmt.Sprintf("; from peak to peak more is in use that was allocated at %s", place(top.At))
	if n := len(rising) - 1; n > 0 {
		f.Summary += fmt.Sprintf(" and %s", unit.Plural(int64(n), "other line"))
	}
	f.Summary += fmt.Sprintf(": %s of the growth", unit.Percent(min(1, share)))
	for _, l := range rising[:min(3, len(rising))] {
		f.Evidence = append(f.Evidence, in.fileAt(looks.Most.Entry, l.At, l.Frames, "in use of what was allocated here: %s at the first peak, %s at the last", unit.BytesOf(float64(l.from)), unit.BytesOf(float64(l.to))))
	}
	bounded := false
	for i, l := range rising[:min(3, len(rising))] {
		other := Finding{Severity: Warning}
		into := f
		if i > 0 {
			into = &other
		}
		tellKeeping(in, into, l.At, l.Frames, heldBy)
		bounded = bounded || into.Severity == Info
	}
	if i := slices.IndexFunc(rising, func(l risingLine) bool { return fillsMap(in.code, l.At) != "" }); i >= 0 && !bounded {
		bounded = tellGrowingMap(in, f, rising[i], looks)
	}
	if !bounded {
		tellHeap(in, f, top.At)
	}
	return !bounded
}

// tellGrowingMap says of a map that grows by itself together with the rest that it holds the rest; true where the source
// shows that it has a bound.
func tellGrowingMap(in *Input, f *Finding, l risingLine, looks *facts.Retention) (bounded bool) {
	name := fillsMap(in.code, l.At)
	f.Summary += fmt.Sprintf("; the map %s, which is filled at %s:%d, grows with it", name, baseName(l.At.File), l.At.Line)
	e := in.fileAt(looks.Most.Entry, l.At, l.Frames, "the map grows: %s at the first peak, %s at the last", unit.BytesOf(float64(l.from)), unit.BytesOf(float64(l.to)))
	f.Evidence = append([]Evidence{e}, f.Evidence...)
	holder := Finding{Severity: Warning}
	tellKeeping(in, &holder, l.At, l.Frames, "")
	if holder.Severity == Info {
		return true
	}
	f.Advice = fmt.Sprintf("See to it that each entry of %s is deleted on every way out of what it is for, also where that ends early or fails; or give the map a bound.", name)
	for _, e := range holder.Evidence { // but for the ways out of which a function that may delete by itself leaves one open
		if !shows(f, evidenceLine(e)) && !strings.HasPrefix(e.Text, "this return leaves") {
			f.Evidence = append(f.Evidence, e)
		}
	}
	return false
}

// fillsMap is what a line stores an entry into, where that is a map for all that the source shows: a place with an index that
// is given to delete or made as a map in the same file, or declared as one; empty for other lines.
func fillsMap(c *code, at stack.Frame) (name string) {
	s := c.parse(at.File)
	if s == nil {
		return ""
	}
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || name != "" {
			return
		}
		for _, x := range a.Lhs {
			if i, ok := x.(*ast.IndexExpr); ok && namesMap(s, lastName(types.ExprString(i.X))) {
				name = types.ExprString(i.X)
			}
		}
	})
	return name
}

// namesMap tells whether a file declares something of a name as a map, makes it one, or deletes from it.
func namesMap(s *syntax, name string) (found bool) {
	isMap := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.MapType:
			return true
		case *ast.CompositeLit:
			_, ok := x.Type.(*ast.MapType)
			return ok
		case *ast.CallExpr:
			if isNamed(x.Fun, "make") && len(x.Args) > 0 {
				_, ok := x.Args[0].(*ast.MapType)
				return ok
			}
		}
		return false
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			found = found || isMap(n.Type) && isAmong(n.Names, name)
		case *ast.ValueSpec:
			for i, id := range n.Names {
				found = found || id.Name == name && (n.Type != nil && isMap(n.Type) || i < len(n.Values) && isMap(n.Values[i]))
			}
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				found = found || len(n.Lhs) == len(n.Rhs) && lastName(types.ExprString(x)) == name && isMap(n.Rhs[i])
			}
		case *ast.CallExpr:
			found = found || isNamed(n.Fun, "delete") && len(n.Args) == 2 && lastName(types.ExprString(n.Args[0])) == name
		}
		return !found
	})
	return found
}
