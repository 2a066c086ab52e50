package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Calls that a request makes on a Transport of its own may be a session: the peer knows by the connection who has logged in on it, and what is asked next on
// the same connection is that user's. With one Transport for all, a request would get what belongs to another user.

// transportSession is what speaks for that; empty where nothing does.
type transportSession struct {
	sign string
	at   codeLine
	sure bool // it is more than that there are several calls
	one  bool // the Transport has only one connection to a host
}

// Names of calls and paths of those that log in, and packages of the ways to do so that count for a connection.
var (
	logsIn      = lazily(`(?i)(^|[^a-z])(log|sign)[-_]?(in|on)([^a-z]|$)|(^|[^a-z])(auth|authenticate|authorize|session|negotiate|ntlm)([^a-z]|$)`)
	logsInNames = lazily(`^(?i:login|logon|signin|signon|authenticate|negotiate)|(Login|LogIn|Logon|SignIn|Authenticate)`)
	logsInWith  = lazily(`(?i)ntlm|spnego|negotiate|krb5|kerberos|sspi`)
)

// sessionOf looks at what a request does with the Transport that it has made, and with what has it.
func (x ownTransport) sessionOf(d *derivations) (s transportSession) {
	for _, set := range transportSettings(d, x) {
		if v := d.t.info.Types[set.x].Value; set.field == "MaxConnsPerHost" && v != nil && v.ExactString() == "1" {
			return transportSession{"MaxConnsPerHost is 1", d.placeOf(set.x), true, true}
		}
	}
	steps, several := x.steps(), transportSession{}
	for i, decl := range x.in {
		if i >= len(steps) {
			break
		}
		calls := usesOfMade(d, decl, steps[i])
		for _, call := range calls {
			if logsInBy(call) {
				return transportSession{types.ExprString(call.Fun) + " may log in", d.placeOf(call), true, false}
			}
		}
		if looped := slices.IndexFunc(calls, func(call *ast.CallExpr) bool { return withinLoopBehind(decl, call, steps[i]) }); len(calls) > 1 || looped >= 0 {
			several = transportSession{"it makes several calls with it", d.placeOf(calls[max(0, looped)]), false, false}
		}
		if at := importsOf(d, decl, logsInWith.compiled()); at != nil {
			return transportSession{strings.Trim(at.Path.Value, "\"`") + " is in use", d.placeOf(at), true, false}
		}
	}
	return several
}

// importsOf is the import of the file of a function whose path is one of some; nil where there is none.
func importsOf(d *derivations, decl *ast.FuncDecl, of *regexp.Regexp) *ast.ImportSpec {
	for _, f := range d.t.files {
		if f.file.Pos() <= decl.Pos() && decl.Pos() < f.file.End() {
			for _, i := range f.file.Imports {
				if of.MatchString(i.Path.Value) {
					return i
				}
			}
		}
	}
	return nil
}

// notUses are names of methods by which a client or a Transport is set up or ended, and of functions that make one of another.
var notUses = lazily(`^(CloseIdleConnections|Close|Clone|RegisterProtocol|New|new|With|with|make|append)`)

// usesOfMade are the calls that a function makes on what it makes at a step, or with it.
func usesOfMade(d *derivations, decl *ast.FuncDecl, step ast.Node) (calls []*ast.CallExpr) {
	vars := map[types.Object]bool{}
	has := func(x ast.Expr) bool { return x != nil && (within(x, step) || mentionsVars(d, x, vars)) }
	for range 3 {
		eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
			v := d.variable(innermost(lhs))
			_, lit := unrefer(rhs).(*ast.CompositeLit)
			call, calling := ast.Unparen(rhs).(*ast.CallExpr)
			if v != nil && isLocal(decl, v) && (within(rhs, step) || (lit || !isIdent(lhs) || isIdent(rhs) || calling && notUses.MatchString(calledName(call))) && has(rhs)) {
				vars[v] = true
			}
		})
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || within(call, step) || notUses.MatchString(calledName(call)) || slices.ContainsFunc(around, func(n ast.Node) bool { _, is := n.(*ast.DeferStmt); return is }) {
			return
		}
		if slices.ContainsFunc(append([]ast.Expr{receiverOf(call)}, call.Args...), has) && !slices.ContainsFunc(calls, func(c *ast.CallExpr) bool { return within(c, call) }) {
			calls = append(calls, call)
		}
	})
	return calls
}

// withinLoopBehind tells of a call that a loop makes it which does not make what it is made with.
func withinLoopBehind(decl *ast.FuncDecl, call *ast.CallExpr, step ast.Node) bool {
	return hasNode(decl.Body, func(n ast.Node) bool {
		body := bodyOfLoop(n)
		return body != nil && within(body, call) && !within(body, step)
	})
}

// logsInBy tells of a call, by its name and what it is given, that it may log in.
func logsInBy(call *ast.CallExpr) bool {
	return logsInNames.MatchString(calledName(call)) || slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
		return hasNode(x, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			return ok && logsIn.MatchString(lit.Value)
		})
	})
}

// tell puts the condition before the advice to make the Transport once.
func (s transportSession) tell(f *Finding) {
	if s.sign == "" {
		return
	}
	if s.sure {
		f.Severity = Info
	}
	f.Advice = fmt.Sprintf("Find out first whether the peer knows the user by the connection (NTLM, Negotiate, a login that counts for the connection): %s (%s). If it does, each user needs a Transport of its own, as one for all would give a user what belongs to another: keep one for each user, or leave it so. "+
		"If each call says for itself who asks (a header, a cookie, a token): ", s.sign, s.at.text()) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	if s.one {
		f.Advice += " Raise MaxConnsPerHost then: with one connection for all, each request would wait for the others."
	}
}
