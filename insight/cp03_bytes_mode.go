package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// How a call decodes: what is set on the decoder, and which package it is of. A value that was decoded in one way is
// not what another way gives, nor are its errors.

// checks tells of a call that it only tells whether a text is valid.
func (of *bytesDecode) checks() bool { return ownName(of.callee) == "Valid" }

// bytesAlike tells of two calls that what the one has decoded can stand for what the other does. What decodes a whole text
// by default also checks it.
func bytesAlike(a, b *bytesDecode) bool {
	if !a.modeKnown || !b.modeKnown || a.mode != b.mode {
		return false
	}
	whole := func(of *bytesDecode) bool {
		return of.checks() || ownName(of.callee) == "Unmarshal" && of.mode == stack.Package(of.callee)
	}
	return a.checks() == b.checks() || whole(a) && whole(b)
}

var (
	// plainDecodes are the names of functions that decode in the same way.
	plainDecodes = []string{"Unmarshal", "UnmarshalRead", "UnmarshalString", "UnmarshalFromString", "Decode", "Valid"}
	// decoderAsks are methods of a Decoder that do not change how it decodes.
	decoderAsks = []string{"Decode", "More", "Token", "Buffered", "InputOffset", "InputPos", "Skip"}
)

// bytesMode is how a call decodes, as a text; known is false where a parameter of the function decides.
func bytesMode(d *derivations, in frameCode, call *ast.CallExpr, callee string) (mode string, known bool) {
	m := &modeText{d: d, in: in, known: true}
	m.text.WriteString(stack.Package(callee))
	name := ownCallName(call)
	if !slices.Contains(plainDecodes, name) {
		m.text.WriteString(" " + name)
	}
	options := call.Args[min(len(call.Args), 2):]
	if name == "Decode" && len(call.Args) == 1 {
		options = nil
		on := ast.Unparen(receiverOf(call))
		if v := d.variable(on); v != nil {
			m.setUp(v, call)
			if defs := d.definitions(in.decl)[v]; len(defs) == 1 && defs[0].x != nil {
				on = ast.Unparen(defs[0].x)
			}
		}
		if by, ok := on.(*ast.CallExpr); ok {
			options = by.Args[min(len(by.Args), 1):]
			m.receiver(by)
		}
	} else {
		m.receiver(call)
	}
	for _, x := range options {
		m.add(x)
	}
	return m.text.String(), m.known
}

// modeText gathers how a call decodes.
type modeText struct {
	d     *derivations
	in    frameCode
	text  strings.Builder
	known bool
}

// add adds an expression that decides on it, with what a variable was set to once.
func (m *modeText) add(x ast.Expr) {
	if v := m.d.variable(ast.Unparen(x)); v != nil && !ofPackage(v) {
		if defs := m.d.definitions(m.in.decl)[v]; len(defs) == 1 && defs[0].x != nil && !defs[0].ranged {
			x = defs[0].x
		}
	}
	m.text.WriteString(" " + types.ExprString(x))
	if lit, ok := ast.Unparen(unrefer(ast.Unparen(x))).(*ast.CompositeLit); ok { // whose elements are no part of its text
		for _, e := range lit.Elts {
			m.text.WriteString(" ")
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				m.text.WriteString(types.ExprString(kv.Key) + ":")
				e = kv.Value
			}
			m.add(e)
		}
		return
	}
	m.asks(x)
}

// asks looks whether an expression has parameters of the function in it, other than the receiver.
func (m *modeText) asks(x ast.Node) {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := m.d.variable(id)
			m.known = m.known && (!isGiven(m.in.decl, v) || v.Pos() < m.in.decl.Name.Pos())
		}
		return true
	})
}

// receiver adds what a method is called on, where it is no function of a package.
func (m *modeText) receiver(call *ast.CallExpr) {
	if sel, ok := ast.Unparen(uninstantiated(call)).(*ast.SelectorExpr); ok && m.d.t.fromPackage(sel) == "" {
		m.add(sel.X)
	}
}

// setUp adds what a function sets on a decoder before a call. One that is handed to another function may be set up there.
func (m *modeText) setUp(v types.Object, call *ast.CallExpr) {
	body := m.in.decl.Body
	guarded := func(n ast.Node) {
		for _, around := range nodesAround(body, n) {
			if s, ok := around.(*ast.IfStmt); ok && !within(s, call) {
				m.text.WriteString(" if " + types.ExprString(s.Cond))
				m.asks(s.Cond)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || n.Pos() >= call.Pos() {
			return n == nil
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && m.d.variable(ast.Unparen(sel.X)) == v && !slices.Contains(decoderAsks, sel.Sel.Name) {
				m.text.WriteString(" " + sel.Sel.Name)
				guarded(n)
				for _, x := range n.Args {
					m.add(x)
				}
			}
			if slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return m.d.variable(ast.Unparen(x)) == v }) {
				m.known = false
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && m.d.variable(ast.Unparen(sel.X)) == v {
					m.text.WriteString(" " + sel.Sel.Name + "=")
					guarded(n)
					m.add(n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		}
		return true
	})
}
