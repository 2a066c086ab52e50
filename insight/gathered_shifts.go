package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Pages of a list that go by numbers, while the handling of an item may take it out of the list: what comes behind moves up, and the next page begins too late.

// pageShift is a place in the handling that sends a change to a peer.
type pageShift struct {
	at   ast.Node
	text string
	// same tells that the pages are read from the same peer, by the source.
	same bool
}

// pagesByNumber is what speaks against handling them as they come.
const pagesByNumber = "the pages go by numbers"

// pageScan looks for it in what gathers a list.
type pageScan struct {
	d *derivations
	g *gathered
}

// find gives such a place in the loop that handles the items, where the turns ask for pages by numbers; nil where there is none.
func (f pageScan) find(p passThrough) (found *pageShift) {
	if !f.asksPages() {
		return nil
	}
	s := &itemSources{d: f.d, names: &placeNames{d: f.d}, decl: f.g.decl, whole: f.g.whole}
	peers := map[string]bool{}
	for _, part := range reachedParts(f.d, f.g.decl, f.g.whole) {
		s.eachPeer(part, func(call *ast.CallExpr, of []string) {
			for _, name := range of {
				peers[name] = true
			}
		})
	}
	for _, part := range reachedParts(f.d, p.decl, p.body) {
		s.eachPeer(part, func(call *ast.CallExpr, of []string) {
			if !sendsChange(call) {
				return
			}
			x := &pageShift{call, types.ExprString(call.Fun), slices.ContainsFunc(of, func(name string) bool { return peers[name] })}
			if found == nil || x.same && !found.same {
				found = x
			}
		})
	}
	return found
}

// noteShift notes it, or what it speaks against.
func noteShift(f *gatheredUse, p passThrough) {
	switch x := (pageScan{f.d, f.g}).find(p); {
	case x == nil:
	case x.same:
		f.g.shifts = x
		f.speaks(x.at, fmt.Sprintf(pagesByNumber+", and the handling sends changes to where they come from: %s; what leaves that would move the items behind it to pages that were read already", x.text))
	case f.g.shifts == nil:
		f.g.shifts = x
	}
}

// tellShifts says of pages by numbers that the handling may change what they are pages of, where the source does not show that it is something else.
func (x *gatheredHeap) tellShifts(f *Finding) {
	if x.shifts == nil || x.shifts.same {
		return
	}
	f.Advice = fmt.Sprintf("If %s (%s) takes nothing out of what the pages are read from, nor puts anything into it: ", x.shifts.text, x.d.placeOf(x.shifts.at).text()) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	f.Doubts = append(f.Doubts, "the pages go by numbers: if handling an item takes it out of the list, the items behind it move up, and the next page leaves some out; a cursor, or the key of the last item, instead of a number does not")
}

// tellSamePages says of what pages by numbers have gathered why they are not simply handled as they come, and what would allow that.
func (x *gatheredHeap) tellSamePages(f *Finding) {
	if x.shifts == nil || !x.shifts.same || !strings.HasPrefix(x.against, pagesByNumber) || !strings.HasPrefix(f.Advice, bySourceUnknown) {
		return
	}
	at := x.d.placeOf(x.shifts.at)
	f.Advice = fmt.Sprintf("%s gathers all pages in the list %s before the first item is handled. They go by numbers, and the handling sends changes to where they come from (%s at %s): if that takes items out of there, handling each page when it comes would leave some out. "+
		"Where the peer can go on behind a key (a cursor, the last id) instead of a number, ask for the pages so, and handle each when it comes. Otherwise the list has to stay; keep less of each item in it.", x.turnsText(x.d), x.name(), x.shifts.text, at.text())
	f.Advice = strings.ToUpper(f.Advice[:1]) + f.Advice[1:]
}

// reachedParts are a part of a function and the functions that it calls.
func reachedParts(d *derivations, decl *ast.FuncDecl, whole ast.Node) []codePart {
	all := []codePart{{decl, whole.Pos(), whole.End()}}
	reached := d.reached(decl, whole)
	for _, other := range declsInOrder(d) {
		if _, ok := reached[other]; ok && other != decl {
			all = append(all, codePart{other, other.Body.Pos(), other.Body.End()})
		}
	}
	return all
}

// asksPages tells of the turns that they ask for pages by a number which they count.
func (f pageScan) asksPages() (found bool) {
	counted := map[string]bool{}
	ast.Inspect(f.g.whole, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			counted[lastName(types.ExprString(n.X))] = n.Tok == token.INC
		case *ast.AssignStmt:
			sum, ok := ast.Unparen(n.Rhs[0]).(*ast.BinaryExpr)
			if n.Tok == token.ADD_ASSIGN || ok && sum.Op == token.ADD && n.Tok == token.ASSIGN && types.ExprString(sum.X) == types.ExprString(n.Lhs[0]) {
				counted[lastName(types.ExprString(n.Lhs[0]))] = true
			}
		}
		return true
	})
	for name, counts := range counted {
		if !counts || tries.MatchString(name) {
			continue
		}
		found = found || putsPage(f.g.whole, name) || hasCall(f.g.whole, func(call *ast.CallExpr) bool {
			given := slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentions(x, name) })
			return given && (asksOffset(call) || pageNames.MatchString(name) && !isBuiltin(f.d, call) || givesPage(f.d.c, call, name, 0) || f.givesOffset(call, name))
		})
	}
	return found
}

// asksOffset tells of a call that one of its texts is a query which begins at a number.
func asksOffset(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
		lit, ok := x.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && offsetQuery.MatchString(lit.Value)
	})
}

var offsetQuery = lazily(`(?i)\b(offset|skip)\s*(=|\?|\$|%|:|@)|\blimit\s*(\?|\$\d+|%d)\s*,`)

// givesOffset tells of a call of the sources that it has such a query.
func (f pageScan) givesOffset(call *ast.CallExpr, name string) bool {
	return slices.ContainsFunc(calledDecls(f.d, call), func(decl *ast.FuncDecl) bool { return hasCall(decl.Body, asksOffset) })
}

// peerCalls are functions and methods that ask a peer for something, or send it something.
var peerCalls = lazily(`^(Get|Post|PostForm|Put|Patch|Head|Do|NewRequest|NewRequestWithContext|Query\w*|Select\w*|Exec\w*|MustExec\w*|NamedExec\w*|List\w*|Insert\w*|Update\w*|Delete\w*|Remove\w*|Ack\w*|Complete\w*|Create\w*)$`)

// eachPeer calls for each call of a part that may ask a peer, with the names of that: what its address begins with, and what the method is called on.
func (s *itemSources) eachPeer(p codePart, do func(call *ast.CallExpr, of []string)) {
	ast.Inspect(p.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !p.has(call) || !peerCalls.MatchString(calledName(call)) || s.d.t.decls[s.d.t.callee(call)] != nil {
			return true
		}
		pkg := s.d.t.fromPackage(call.Fun)
		if pkg == "os" || pkg == "strings" || pkg == "bytes" || pkg == "slices" {
			return true
		}
		var of []string
		for _, x := range call.Args {
			if first, _ := s.begins(p.decl, x, 0); first != nil && !isContext(first) {
				of = append(of, addresses(s.names.of(p.decl, first, 0))...)
			}
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && pkg == "" && !anyPeer.MatchString(sel.Sel.Name) {
			tables := tablesIn(call)
			for _, name := range s.names.of(p.decl, sel.X, 0) {
				for _, table := range tables {
					of = append(of, name+" "+table)
				}
				if len(tables) == 0 {
					of = append(of, name)
				}
			}
		}
		do(call, of)
		return true
	})
}

// addresses are the names that are no text, and of texts with an address what that begins with.
func addresses(names []string) (all []string) {
	for _, name := range names {
		text, err := strconv.Unquote(name)
		if err != nil {
			all = append(all, name)
			continue
		}
		if scheme, rest, ok := strings.Cut(text, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			all = append(all, scheme+"://"+host)
		}
	}
	return all
}

// anyPeer are methods of a client of HTTP, which serves any peer.
var anyPeer = lazily(`^(Do|Get|Head|Post|PostForm|NewRequest|NewRequestWithContext)$`)

// tableIn finds the tables that a query names.
var tableIn = lazily("(?i)\\b(?:from|into|update|join)\\s+[\"`]?(\\w+)")

// tablesIn are the tables that the texts of a call name.
func tablesIn(call *ast.CallExpr) (all []string) {
	for _, x := range call.Args {
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			for _, m := range tableIn.FindAllStringSubmatch(lit.Value, -1) {
				all = append(all, strings.ToLower(m[1]))
			}
		}
	}
	return all
}

// changingMethods are the methods of HTTP that change something.
var changingMethods = lazily(`^("(POST|PUT|PATCH|DELETE)"|http\.Method(Post|Put|Patch|Delete))$`)

// changingQuery is a statement that changes rows.
var changingQuery = lazily("(?i)^[\"`]\\s*(insert|update|delete|replace|merge|truncate)\\b")

// changingCalls are methods of a client, by their names, that change something.
var changingCalls = lazily(`^(Exec|MustExec|NamedExec|Insert|Update|Delete|Remove|Ack|Complete|Create)`)

// sendsChange tells of a call that it sends a change to a peer.
func sendsChange(call *ast.CallExpr) bool {
	switch name := calledName(call); {
	case name == "Post" || name == "PostForm" || name == "Put" || name == "Patch":
		return true
	case strings.HasPrefix(name, "NewRequest"):
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return changingMethods.MatchString(types.ExprString(x)) })
	case strings.HasPrefix(name, "Query"):
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return changingQuery.MatchString(types.ExprString(x)) })
	default:
		return changingCalls.MatchString(name)
	}
}
