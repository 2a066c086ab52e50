package insight

import (
	"go/ast"
	"go/token"
	"slices"
)

// How a value goes on without a call by name: over a channel, and to a function that the
// caller has handed down.

// passedOn is what goes into a channel at a line.
type passedOn struct {
	channel string // as the source names it: "work", "s.jobs"
	file    string
	line    int
	taint   taint
}

// handed is what a function calls one of its parameters with.
type handed struct {
	fn   *ast.FuncDecl
	args []taint
	at   int // the number of the parameter
}

// handDown notes that a function calls a parameter of its own with the value.
func handDown(k *keeper, name string, n *ast.CallExpr, vars map[string]taint) {
	if k.fn == nil {
		return
	}
	at := slices.Index(parameters(k.fn.Type), name)
	args := make([]taint, len(n.Args))
	for i, arg := range n.Args {
		args[i] = k.of(arg, vars)
	}
	if at >= 0 && slices.Max(append(args, clean)) > clean {
		k.handed = append(k.handed, handed{k.fn, args, at})
	}
}

// takeHanded follows what functions have called their parameters with into what a line, which
// calls them, has passed as that.
func takeHanded(k *keeper, file string, line int) {
	all := k.handed
	k.handed = nil
	k.c.parse(file).onLine(line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		for _, h := range all {
			if calledName(call) != h.fn.Name.Name || h.at >= len(call.Args) {
				continue
			}
			given := declaration{file: file}
			switch f := call.Args[h.at].(type) {
			case *ast.FuncLit:
				given.FuncDecl = &ast.FuncDecl{Name: ast.NewIdent("func"), Type: f.Type, Body: f.Body}
			case *ast.Ident, *ast.SelectorExpr:
				if fitting := k.fitting(&ast.CallExpr{Fun: f, Args: make([]ast.Expr, len(h.args))}, anyArgument); len(fitting) == 1 {
					given = fitting[0]
				}
			}
			if given.FuncDecl == nil {
				continue
			}
			own := map[string]taint{}
			for i, p := range parameters(given.Type) {
				if i < len(h.args) {
					own[p] = h.args[i]
				}
			}
			k.body(given, own)
		}
	})
}

// callBack follows a value into a function that was handed down.
func (k *keeper) callBack(f *ast.FuncLit, file string, n *ast.CallExpr, vars map[string]taint) {
	own := map[string]taint{}
	for i, p := range parameters(f.Type) {
		if i < len(n.Args) {
			own[p] = k.of(n.Args[i], vars)
		}
	}
	k.body(declaration{&ast.FuncDecl{Name: ast.NewIdent("func"), Type: f.Type, Body: f.Body}, file}, own)
}

// fileOf is the file that a function is written in.
func (k *keeper) fileOf(f *ast.FuncLit) string {
	for file, s := range k.c.parsed {
		if s != nil && s.file.FileStart <= f.Pos() && f.Pos() < s.file.FileEnd {
			inside := false
			ast.Inspect(s.file, func(n ast.Node) bool {
				inside = inside || n == f
				return !inside
			})
			if inside {
				return file
			}
		}
	}
	return ""
}

// receiveSent follows what has been sent on channels to where it is received, and forgets that the
// channels have it where that finds what keeps it.
func receiveSent(k *keeper) {
	for i := 0; i < len(k.sent); i++ {
		before := len(k.stores)
		receiveFrom(k, k.sent[i])
		if len(k.stores) > before {
			k.stores = slices.DeleteFunc(k.stores, func(s keepsAt) bool {
				return s.kind == intoChannel && s.container == k.sent[i].channel && s.file == k.sent[i].file
			})
		}
	}
}

// receiveFrom follows the value of one channel: a variable within the function that has it, and
// in a caller that passes it, a field in all functions.
func receiveFrom(k *keeper, s passedOn) {
	x, field := lastName(s.channel), s.channel != lastName(s.channel)
	follow := func(d declaration, name string) {
		delete(k.seen, d.FuncDecl)
		k.channel = name
		k.body(d, map[string]taint{name: s.taint})
	}
	if field {
		k.channels[x] = s.taint
		for _, all := range k.funcs {
			for _, d := range all {
				if receives(d.Body, x) {
					follow(d, "")
				}
			}
		}
		return
	}
	fn := enclosing(k, s)
	if fn == nil {
		return
	}
	follow(declaration{fn, s.file}, x)
	at := slices.Index(parameters(fn.Type), x)
	if at < 0 {
		return
	}
	for _, all := range k.funcs {
		for _, d := range all {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || at >= len(call.Args) || calledName(call) != fn.Name.Name {
					return true
				}
				if id, ok := call.Args[at].(*ast.Ident); ok && d.FuncDecl != fn {
					follow(d, id.Name)
				}
				return true
			})
		}
	}
}

// isChannel tells of what is ranged over that it is a channel: the one that is followed, or a
// parameter.
func isChannel(k *keeper, x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		_, ok := k.channels[x.Sel.Name]
		return ok
	case *ast.Ident:
		if x.Name == k.channel || k.fn == nil {
			return x.Name == k.channel
		}
		for _, p := range k.fn.Type.Params.List {
			if _, ok := p.Type.(*ast.ChanType); ok && isAmong(p.Names, x.Name) {
				return true
			}
		}
	}
	return false
}

// enclosing is the function that has the line of something sent in it.
func enclosing(k *keeper, s passedOn) (fn *ast.FuncDecl) {
	for _, all := range k.funcs {
		for _, d := range all {
			if d.file == s.file && k.lineOf(d.file, d.Pos()) <= s.line && s.line <= k.lineOf(d.file, d.End()) {
				fn = d.FuncDecl
			}
		}
	}
	return fn
}

// receives tells whether a function receives from a channel whose last name is that.
func receives(body *ast.BlockStmt, name string) (found bool) {
	is := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == name
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && is(n.X)
		case *ast.RangeStmt:
			found = found || is(n.X)
		}
		return !found
	})
	return found
}

// builderOf is the type of a variable of a function that is a strings.Builder or a bytes.Buffer;
// empty of any other.
func builderOf(fn *ast.FuncDecl, x ast.Expr) string {
	if fn == nil {
		return ""
	}
	if of := declaredAs(fn, x); of == "strings.Builder" || of == "bytes.Buffer" {
		return of
	}
	return ""
}

// sharesBuilder tells whether a call returns the memory of a builder, and no copy of it.
func sharesBuilder(fn *ast.FuncDecl, call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	of := builderOf(fn, f.X)
	return of == "strings.Builder" && f.Sel.Name == "String" || of == "bytes.Buffer" && f.Sel.Name == "Bytes"
}
