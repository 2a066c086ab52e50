package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A connection to a peer for each accepted one, whose bytes pass from the one to the other: it belongs to that client, and cannot
// serve the next one.

// relayAdvice is what to do about the connections of a relay; "one client for all" is not.
const relayAdvice = "Each accepted connection has one of its own to the peer, and passes on what comes: such a connection cannot serve another client. There are as many as clients connect: let those keep theirs open (keep-alive), or carry several streams over one connection between the two ends. Connections that are opened in advance only take the dial out of the wait."

// relayDoubtConnects is why the share may be as it should.
const relayDoubtConnects = "a relay connects as often as its clients do"

// acceptedTypes are types of parameters that are an accepted connection.
var acceptedTypes = []string{"net.Conn", "*net.TCPConn", "*net.UnixConn", "*tls.Conn"}

// relaysAt tells of a line that makes a connection, by the source, that its function has another one already, which it is given or
// accepts, and that the bytes of both are copied from one to the other: there, or in what it calls with both.
func relaysAt(c *code, at stack.Frame) bool {
	fn := c.function(at)
	if fn == nil {
		return false
	}
	made, accepted := "", map[string]bool{}
	for _, p := range fn.Type.Params.List {
		for _, name := range p.Names {
			if slices.Contains(acceptedTypes, types.ExprString(p.Type)) {
				accepted[name.Name] = true
			}
		}
	}
	s := c.parse(at.File)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			return true
		}
		call, ok := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
		id, named := set.Lhs[0].(*ast.Ident)
		if !ok || !named {
			return true
		}
		first, last := s.lines(set)
		if strings.HasPrefix(calledName(call), "Accept") {
			accepted[id.Name] = true
		} else if first <= at.Line && at.Line <= last {
			made = id.Name
		}
		return true
	})
	if made == "" || len(accepted) == 0 {
		return false
	}
	return hasCall(fn.Body, func(call *ast.CallExpr) bool {
		both := namesAny(call.Args, func(name string) bool { return name == made }) && namesAny(call.Args, func(name string) bool { return accepted[name] })
		return both && (copiesStream(call) || slices.ContainsFunc(c.functions()[calledName(call)], func(d declaration) bool {
			return d.Body != nil && hasCall(d.Body, copiesStream)
		}))
	})
}

// namesAny tells whether a wanted name stands in expressions.
func namesAny(all []ast.Expr, wanted func(name string) bool) bool {
	return slices.ContainsFunc(all, func(x ast.Expr) bool {
		return hasNode(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && wanted(id.Name)
		})
	})
}

// copiesStream tells of a call that it copies from a reader to a writer until the end.
func copiesStream(call *ast.CallExpr) bool {
	return slices.Contains([]string{"io.Copy", "io.CopyBuffer"}, types.ExprString(call.Fun))
}
