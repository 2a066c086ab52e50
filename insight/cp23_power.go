package insight

import (
	"go/ast"
	exact "go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
)

// mostFactors is the largest whole exponent for which multiplying is said to be less than math.Pow: chosen, four
// multiplications at most.
const mostFactors = 4

// tellPower says of calls of math.Pow what does less for the numbers that the source has; where it has none for which
// something does, the finding is a remark.
func tellPower(h *hit, f *Finding) {
	var hints []string
	known := int64(0)
	for _, line := range h.lines {
		hint, all := powerHints(h.in.code, line)
		if all {
			known += line.Weight
		}
		for _, text := range hint {
			if !slices.Contains(hints, text) {
				hints = append(hints, text)
			}
		}
	}
	if len(hints) > 0 {
		f.Advice = "math.Pow is made for any exponent: " + strings.Join(hints, "; ") + ". The last digits may differ."
	}
	if float64(known) < halfOfAll*float64(h.weight) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "if each power is another one, of numbers that are not whole, there may be nothing that does less")
	}
}

// powerHints are what does less for the calls of math.Pow at a line; all tells that there is something for each.
func powerHints(c *code, line *hitLine) (hints []string, all bool) {
	calls := 0
	for _, call := range c.lineCalls(line.Caller) {
		if types.ExprString(call.Fun) != "math.Pow" || len(call.Args) != 2 {
			continue
		}
		calls++
		if hint := powerHint(c, call); hint != "" {
			hints = append(hints, hint)
		}
	}
	return hints, calls > 0 && len(hints) == calls
}

// powerHint is what does less than one call; empty where nothing is known to.
func powerHint(c *code, call *ast.CallExpr) string {
	base, exponent := types.ExprString(call.Args[0]), types.ExprString(call.Args[1])
	if y, ok := constantFloat(c, call.Args[1], 0); ok {
		switch n := math.Abs(y); {
		case y == math.Trunc(y) && n >= 1 && n <= mostFactors:
			product := strings.TrimSuffix(strings.Repeat("x*", int(n)), "*")
			if y < 0 {
				product = "1/(" + product + ")"
			}
			return "multiply for " + exponent + " (" + product + ", x being " + base + ")"
		case y == 0.5:
			return "use math.Sqrt for " + exponent
		case y == -0.5:
			return "use 1/math.Sqrt(x) for " + exponent
		case math.Abs(y-1./3) < 1e-15:
			return "use math.Cbrt for " + exponent
		case y == 1.5:
			return "use x*math.Sqrt(x) for " + exponent
		}
		return ""
	}
	if x, ok := constantFloat(c, call.Args[0], 0); ok {
		switch x {
		case 2:
			return "use math.Exp2(" + exponent + ") for powers of 2, or math.Ldexp(1, n) for whole ones"
		case math.E:
			return "use math.Exp(" + exponent + ")"
		case 10:
			if isWholeNumber(call.Args[1]) {
				return "use math.Pow10 for whole powers of 10"
			}
		}
	}
	return ""
}

// isWholeNumber tells of an expression that it is a conversion of a whole number: float64(n) of a name, an index or a length.
func isWholeNumber(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && isNamed(call.Fun, "float64") && len(call.Args) == 1 && !hasCall(call.Args[0], func(inner *ast.CallExpr) bool { return !isNamed(inner.Fun, "len") }) &&
		!strings.ContainsAny(types.ExprString(call.Args[0]), "./")
}

// constantFloat is a number that is made of literals and constants.
func constantFloat(c *code, x ast.Expr, depth int) (float64, bool) {
	v := constantOfExpr(c, x, depth)
	if v.Kind() == exact.Unknown {
		return 0, false
	}
	f, _ := exact.Float64Val(exact.ToFloat(v))
	return f, true
}

// constantOfExpr is the same as Go computes it, unknown where it is none.
func constantOfExpr(c *code, x ast.Expr, depth int) exact.Value {
	unknown := exact.MakeUnknown()
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT {
			return exact.MakeFromLiteral(x.Value, x.Kind, 0)
		}
	case *ast.UnaryExpr:
		if v := constantOfExpr(c, x.X, depth); v.Kind() != exact.Unknown && (x.Op == token.SUB || x.Op == token.ADD) {
			return exact.UnaryOp(x.Op, v, 0)
		}
	case *ast.BinaryExpr:
		a, b := constantOfExpr(c, x.X, depth), constantOfExpr(c, x.Y, depth)
		if a.Kind() == exact.Unknown || b.Kind() == exact.Unknown || !slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO}, x.Op) {
			return unknown
		}
		op := x.Op
		if op == token.QUO {
			if exact.Sign(b) == 0 {
				return unknown
			}
			if a.Kind() == exact.Int && b.Kind() == exact.Int {
				op = token.QUO_ASSIGN // of whole numbers
			}
		}
		return exact.BinaryOp(a, op, b)
	case *ast.Ident:
		if value := constantOf(c, x.Name); value != nil && depth < 3 {
			return constantOfExpr(c, value, depth+1)
		}
	case *ast.SelectorExpr:
		if types.ExprString(x) == "math.E" {
			return exact.MakeFloat64(math.E)
		}
	}
	return unknown
}
