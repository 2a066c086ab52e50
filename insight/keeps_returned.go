package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A function that reads a text may return parts of it: a decoder, a parser. What its callers keep then is parts, which
// keep the whole; whether they are most of it, only what becomes of the others tells.

// returned is what is known of a part that a function has returned to the one that called it.
type returned struct {
	// came tells that it was.
	came bool
	// intoFile and intoLine are the last composite literal that it was put into: where it is stored, it is to be copied.
	intoFile string
	intoLine int
	// rest is a line that only reads other parts: "decodeChunk at wire.go:100".
	rest string
}

// comesUp is how what a function returns has to do with what was allocated; direct tells that the line itself returns it.
// Where it returns the whole as well, by one way or another, what is kept may be that.
func comesUp(k *keeper, fn *ast.FuncDecl, t taint, direct bool) taint {
	switch {
	case k.both[fn] || direct && k.up == whole:
		return whole
	case t.isPart():
	case direct:
		t = k.up
	default:
		return whole
	}
	k.cuts[t-part].came = true
	return t
}

// tellCame says of a part that a function has returned where it is put into what is kept: there it is to be copied, as what is
// not kept needs no copy. That it ends before the whole does counts only where other parts are not kept.
func tellCame(c *code, h *holding, s keepsAt) {
	h.ends = h.ends && s.rest != ""
	if s.rest != "" && s.copied == "" {
		h.says += "; other parts are only read, by " + s.rest
	}
	if s.intoFile == "" || s.intoFile == s.cutFile && s.intoLine == s.cutLine {
		return
	}
	h.first = true
	h.shows = append([]Evidence{c.shownAt(s.intoFile, s.intoLine, "the part goes into what is kept here, without a copy")}, h.shows...)
}

// noteWhole notes that a function returns the whole, by one way at least.
func noteWhole(k *keeper, fn *ast.FuncDecl) {
	if k.both == nil {
		k.both = map[*ast.FuncDecl]bool{}
	}
	k.both[fn] = true
}

// together is the taint of what has two things in it: with the whole, a part keeps nothing more.
func together(a, b taint) taint {
	if a == whole || b == whole {
		return whole
	}
	return max(a, b)
}

// putInto notes that a part is an element of a composite literal.
func putInto(k *keeper, t taint, at ast.Expr) {
	if t.isPart() {
		c := &k.cuts[t-part]
		c.intoFile, c.intoLine = k.file, k.lineOf(k.file, at.Pos())
	}
}

// bulkReaders are functions and methods, by their names, that read all of what they are given and keep none of it.
var bulkReaders = []string{"Unmarshal", "Write", "Sum256", "ChecksumIEEE", "Checksum"}

// noteRest notes of a call with a part that it only reads it, from its begin to its end: a function of the sources with a loop
// over its parameter, whose results have nothing of it, or one of the library that decodes, writes or sums it.
func noteRest(k *keeper, call *ast.CallExpr, arg int, t taint, vars map[string]taint) {
	if !t.isPart() || k.rest != "" || k.of(call, vars) != clean {
		return
	}
	fns := k.fitting(call, arg)
	reads := len(fns) == 0 && slices.Contains(bulkReaders, calledName(call))
	if len(fns) == 1 {
		names := parameters(fns[0].Type)
		reads = arg < len(names) && readsThrough(fns[0].Body, names[arg])
	}
	if reads {
		k.rest = fmt.Sprintf("%s at %s:%d", calledName(call), baseName(k.file), k.lineOf(k.file, call.Pos()))
	}
}

// readsThrough tells of a function that it loops over a parameter until nothing is left of it, and stores nothing outside of its variables.
func readsThrough(body *ast.BlockStmt, name string) (reads bool) {
	stores := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			reads = reads || n.Cond != nil && mentions(n.Cond, name)
		case *ast.RangeStmt:
			reads = reads || mentions(n.X, name)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if _, local := lhs.(*ast.Ident); !local && mentions(n.Rhs[min(i, len(n.Rhs)-1)], name) {
					stores = true
				}
			}
		}
		return true
	})
	return reads && !stores
}

// lacksLittle tells of a part that it lacks a few elements alone, by their number: a header at its
// begin, or a mark at its end.
func lacksLittle(e *ast.SliceExpr) bool {
	few := func(x ast.Expr) bool {
		lit, ok := x.(*ast.BasicLit)
		if !ok {
			return false
		}
		n, err := strconv.Atoi(lit.Value)
		return err == nil && n <= 64
	}
	if e.Slice3 || e.Low != nil && !few(e.Low) {
		return false
	}
	switch end := e.High.(type) {
	case nil:
		return true
	case *ast.BinaryExpr:
		return end.Op == token.SUB && types.ExprString(end.X) == "len("+types.ExprString(e.X)+")" && few(end.Y)
	}
	return false
}

// endsBefore tells of what cuts a part that it says where the part ends, so that it may well be
// small: of a split all pieces may be kept, and what begins somewhere may be nearly all.
func endsBefore(expr string) bool {
	x, err := parser.ParseExpr(expr)
	if err != nil {
		return false
	}
	switch x := x.(type) {
	case *ast.SliceExpr:
		return x.High != nil
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.SelectorExpr)
		return ok && strings.HasPrefix(f.Sel.Name, "Find") && !strings.Contains(f.Sel.Name, "All")
	}
	return false
}

// carry taints the variable of a function that a value is stored in, and notes the field.
func (k *keeper) carry(lhs ast.Expr, vars map[string]taint, t taint) {
	x, ok := lhs.(*ast.SelectorExpr)
	if !ok || !k.text {
		return
	}
	k.fields[x.Sel.Name] = true
	if id, ok := x.X.(*ast.Ident); ok {
		vars[id.Name] = together(t, vars[id.Name])
		carryBack(k, id.Name, vars, t)
	}
}
