package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// encodedCopy is a value that a function of the program encodes and decodes right away.
type encodedCopy struct {
	codec          string // the package, as the source names it: "json"
	encode, decode ast.Node
	into           ast.Expr // what it is decoded into; nil where a function of the program makes that
}

// copiesByJSON tells whether a line encodes what its function, or one that it calls for it, decodes, or the other way
// round.
func copiesByJSON(c *code, at stack.Frame) bool {
	s := c.parse(at.File)
	x, ok := encodedCopyIn(c, at)
	return ok && (s.covers(x.encode, at.Line) || s.covers(x.decode, at.Line))
}

// encodedCopyIn finds in the function of a frame what is encoded and decoded right away, by itself or by what it calls for
// it: the very bytes, which nothing else uses. Bytes that are also sent, signed or kept, or that another value was made of
// in between, are no copy.
func encodedCopyIn(c *code, at stack.Frame) (found encodedCopy, ok bool) {
	fn := c.function(at)
	if fn == nil || fn.Body == nil {
		return found, false
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || ok {
			return !ok
		}
		text, codec, into := decodedBy(c, fn, call)
		switch x := converted(text).(type) {
		case *ast.CallExpr:
			if by := encodesOnly(c, fn, x); by != "" && by == codec {
				found, ok = encodedCopy{codec, x, call, into}, true
			}
		case *ast.Ident:
			// Set once, by what encodes, and mentioned there and here alone.
			made := assignedTo(fn, x.Name)
			if len(made) != 1 || timesNamed(fn.Body, x.Name) != 2 {
				break
			}
			if from, is := made[0].(*ast.CallExpr); is && from.Pos() < call.Pos() && codec != "" && encodesOnly(c, fn, from) == codec {
				found, ok = encodedCopy{codec, from, call, into}, true
			}
		}
		return !ok
	})
	if !ok {
		found, ok = streamedCopyIn(fn)
	}
	return found, ok
}

// streamedCopyIn is the same for a buffer that an encoder writes to and a decoder reads from, and nothing else.
func streamedCopyIn(fn *ast.FuncDecl) (found encodedCopy, ok bool) {
	// coder is what a call of a method is made on: NewEncoder(&buf), or a variable that was made by that.
	coder := func(call *ast.CallExpr, method, maker string) (codec, buffer string) {
		if calledName(call) != method || len(call.Args) != 1 {
			return "", ""
		}
		on := receiverOf(call)
		if id, is := on.(*ast.Ident); is {
			made := assignedTo(fn, id.Name)
			if len(made) != 1 || timesNamed(fn.Body, id.Name) != 2 {
				return "", ""
			}
			on = made[0]
		}
		by, is := on.(*ast.CallExpr)
		if !is || len(by.Args) != 1 || calledName(by) != maker {
			return "", ""
		}
		codec = codecOf(by)
		arg := ast.Unparen(by.Args[0])
		if address, is := arg.(*ast.UnaryExpr); is && address.Op == token.AND {
			arg = address.X
		}
		if id, is := arg.(*ast.Ident); is {
			return codec, id.Name
		}
		return "", ""
	}
	var encode *ast.CallExpr
	codec, buffer := "", ""
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || ok {
			return !ok
		}
		if by, to := coder(call, "Encode", "NewEncoder"); to != "" {
			encode, codec, buffer = call, by, to
		}
		if by, from := coder(call, "Decode", "NewDecoder"); from != "" && from == buffer && by == codec && timesNamed(fn.Body, buffer) == 3 {
			found, ok = encodedCopy{codec, encode, call, call.Args[0]}, true
		}
		return !ok
	})
	return found, ok
}

// codecOf is the package of a call of one of its functions; empty of any other.
func codecOf(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := f.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return pkg.Name
}

// marshals is the package whose Marshal, or MarshalIndent, a call is; empty where it is none.
func marshals(x ast.Expr) string {
	call, ok := x.(*ast.CallExpr)
	if !ok || !slices.Contains([]string{"Marshal", "MarshalIndent"}, calledName(call)) {
		return ""
	}
	return codecOf(call)
}

// marshalsGiven is that of a call which encodes what its function was given, as its receiver or a parameter, or a field of
// it. What the function has made itself, who calls it has not had: the text is what it answers with, as the one end of an
// interface, and not one half of a copy.
func marshalsGiven(fn *ast.FuncDecl, x ast.Expr) string {
	by := marshals(x)
	if by == "" {
		return ""
	}
	call, in := x.(*ast.CallExpr), scopeOf(fn)
	if len(call.Args) == 0 {
		return ""
	}
	root := rootName(unrefer(call.Args[0]))
	if root == "" || root != in.receiver && !slices.Contains(parameters(fn.Type), root) || len(assignedTo(fn, root)) > 0 {
		return ""
	}
	return by
}

// converted is an expression without conversions between texts.
func converted(x ast.Expr) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return x
	}
	if to := types.ExprString(call.Fun); to == "string" || to == "[]byte" || to == "json.RawMessage" {
		return converted(call.Args[0])
	}
	return x
}

// decodedBy is the text that a call decodes, the package that does it, and what it is decoded into: itself, or as all that
// a function of the program does with it.
func decodedBy(c *code, in *ast.FuncDecl, call *ast.CallExpr) (text ast.Expr, codec string, into ast.Expr) {
	if text, codec, into = decodesHere(in, call); codec != "" {
		return text, codec, into
	}
	all := methodsOf(c, in, call.Fun)
	if len(all) != 1 || all[0].Type.Params == nil || all[0].Body == nil {
		return nil, "", nil
	}
	for i, p := range parameters(all[0].Type) {
		if i < len(call.Args) && timesNamed(all[0].Body, p) == 1 && hasCall(all[0].Body, func(inner *ast.CallExpr) bool {
			of, by, to := decodesHere(all[0].FuncDecl, inner)
			if by == "" || !isNamed(of, p) {
				return false
			}
			codec, into = by, givenAs(all[0].FuncDecl, to, call)
			return true
		}) {
			return readInMemory(call.Args[i]), codec, into
		}
	}
	return nil, "", nil
}

// decodesHere is that of a call of a package that decodes a text, or one that a decoder reads.
func decodesHere(in *ast.FuncDecl, call *ast.CallExpr) (text ast.Expr, codec string, into ast.Expr) {
	switch name := calledName(call); {
	case name == "Unmarshal" && len(call.Args) == 2:
		return converted(call.Args[0]), codecOf(call), call.Args[1]
	case name == "Decode" && len(call.Args) == 1:
		on := receiverOf(call)
		if id, is := on.(*ast.Ident); is {
			if made := assignedTo(in, id.Name); len(made) == 1 {
				on = made[0]
			}
		}
		if by, is := on.(*ast.CallExpr); is && calledName(by) == "NewDecoder" && len(by.Args) == 1 && codecOf(by) != "" {
			return readInMemory(by.Args[0]), codecOf(by), call.Args[0]
		}
	}
	return nil, "", nil
}

// readInMemory is the text that a reader of it reads; what else there is, as it is.
func readInMemory(x ast.Expr) ast.Expr {
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && slices.Contains([]string{"bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader"}, types.ExprString(call.Fun)) {
		return converted(call.Args[0])
	}
	return converted(x)
}

// givenAs is what a call gives a function as the parameter, or receiver, that an expression in it names; nil where it names none.
func givenAs(fn *ast.FuncDecl, x ast.Expr, call *ast.CallExpr) ast.Expr {
	id, ok := x.(*ast.Ident)
	if !ok {
		return nil
	}
	if scopeOf(fn).receiver == id.Name {
		return receiverOf(call)
	}
	if i := slices.Index(parameters(fn.Type), id.Name); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}

// encodesOnly is the package by which a call gives a text that was encoded, and does nothing else with it: itself, or by a
// function of the program; empty where it does not.
func encodesOnly(c *code, in *ast.FuncDecl, call *ast.CallExpr) (codec string) {
	if by := marshals(call); by != "" {
		return by
	}
	all := methodsOf(c, in, call.Fun)
	if len(all) != 1 || !text(all[0].Type) || all[0].Body == nil {
		return ""
	}
	fn := all[0].FuncDecl
	for _, r := range returnsIn(fn.Body) {
		if len(r.Results) == 0 {
			return "" // by its name
		}
		by := ""
		switch x := converted(r.Results[0]).(type) {
		case *ast.CallExpr:
			by = marshalsGiven(fn, x)
		case *ast.Ident:
			if x.Name == "nil" {
				continue
			}
			if made := assignedTo(fn, x.Name); len(made) == 1 && timesNamed(fn.Body, x.Name) <= 2 {
				by = marshalsGiven(fn, made[0])
			}
		case *ast.BasicLit: // of a failure
			continue
		}
		if by == "" || codec != "" && by != codec {
			return ""
		}
		codec = by
	}
	return codec
}

// returnsIn are the return statements of a function, without those of functions inside.
func returnsIn(body *ast.BlockStmt) (all []*ast.ReturnStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			all = append(all, r)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return all
}

// timesNamed counts where a variable is named, which includes where it is set.
func timesNamed(body ast.Node, name string) (n int) {
	ast.Inspect(body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			n += timesNamed(x.X, name)
			return false
		case *ast.Ident:
			if x.Name == name {
				n++
			}
		}
		return true
	})
	return n
}

// text tells of a function that its first result is a text.
func text(f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) == 0 {
		return false
	}
	of := types.ExprString(f.Results.List[0].Type)
	return of == "string" || of == "[]byte"
}
