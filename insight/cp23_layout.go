package insight

import (
	"fmt"
	"go/ast"
	exact "go/constant"
	"go/types"
	"strconv"
	"time"
)

// knownLayouts are the constants of package time that name layouts with digits at fixed places alone, or nearly RFC 3339.
var knownLayouts = map[string]string{
	"RFC3339": time.RFC3339, "RFC3339Nano": time.RFC3339Nano, "DateTime": time.DateTime, "DateOnly": time.DateOnly, "TimeOnly": time.TimeOnly,
}

var (
	// nearRFC3339 are layouts of which time.RFC3339 takes all texts: it takes a fraction of any length, and Z.
	nearRFC3339 = lazily(`^2006-01-02T15:04:05([.,](0+|9+))?(Z07:00|Z)$`)
	// digitLayout are layouts of digits at fixed places.
	digitLayout = lazily(`^(2006|06|01|02|15|03|04|05|[.,]0+|[-/:T ,.Z_])+$`)
)

// tellLayout says of a line that parses times in a constant layout that package time has no way of its own for it, where
// the source shows another way: then its share is no purpose. It tells whether that is so.
func tellLayout(h *hit, f *Finding) bool {
	line := h.lines[0]
	name := lastName(line.Callee)
	if name != "Parse" && name != "ParseInLocation" {
		return false
	}
	layout, ok := layoutOn(h, line, name)
	if !ok || layout == time.RFC3339 || layout == time.RFC3339Nano {
		return false
	}
	const digits = "the digits are at fixed places, so that a function which reads them there (n = 10*n + int(c-'0'), with checks of what stands between them and of the ranges) and calls time.Date takes a fraction of that"
	switch {
	case nearRFC3339.MatchString(layout):
		f.Advice = fmt.Sprintf("Parse with time.RFC3339: that layout, written exactly so, has a way of its own that is several times faster, and it takes what %s takes, with a fraction of any length. Faster still: %s.", strconv.Quote(layout), digits)
	case digitLayout.MatchString(layout):
		f.Advice = fmt.Sprintf("%s is read again for each time, piece by piece; only time.RFC3339 has a way of its own. Here %s.", strconv.Quote(layout), digits)
	default:
		return false
	}
	f.Title = "Parsing times in a layout that has no fast way uses much of the CPU"
	f.Summary += fmt.Sprintf("; by the source the layout is always %s", strconv.Quote(layout))
	f.Advice += " Where consecutive texts begin with the same second, keep that part's time and add the fraction; parse only where somebody looks at the time."
	return true
}

// layoutOn is the layout that a line parses with, where it is a constant.
func layoutOn(h *hit, line *hitLine, name string) (layout string, ok bool) {
	d := newDerivations(h.in.code)
	in, found := d.at(line.Caller)
	if !found {
		return "", false
	}
	for i, call := range d.callsOn(in, line.Caller, name) {
		if len(call.Args) < 2 {
			return "", false
		}
		text, constant := layoutText(d, h.in.code, call.Args[0], 0)
		if !constant || i > 0 && text != layout {
			return "", false
		}
		layout, ok = text, true
	}
	return layout, ok
}

// layoutText is the text of a constant expression, also of the constants of package time.
func layoutText(d *derivations, c *code, x ast.Expr, depth int) (string, bool) {
	if v := d.t.info.Types[x].Value; v != nil && v.Kind() == exact.String {
		return exact.StringVal(v), true
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil
	case *ast.SelectorExpr:
		if types.ExprString(x.X) == "time" {
			text, ok := knownLayouts[x.Sel.Name]
			return text, ok
		}
	case *ast.Ident:
		v, isConst := d.t.info.ObjectOf(x).(*types.Const)
		if value := constantOf(c, x.Name); isConst && v.Parent() == v.Pkg().Scope() && value != nil && depth < 3 {
			return layoutText(d, c, value, depth+1)
		}
	}
	return "", false
}
