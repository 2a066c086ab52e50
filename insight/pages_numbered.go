package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// Pages that go by numbers: which one comes next is known without the answer of the one before, so that they are no chain.

// pagesAdvice is what to do about them.
const pagesAdvice = "The pages go by numbers, so that none has to wait for the one before: ask for several at a time, with a limit (errgroup with SetLimit, each page into its own place of a slice). If the total or the last page is known, from the first answer or elsewhere, ask for all the rest; else for a group of pages at a time, until one is empty or not full. Larger pages, as far as the peer allows them, make them fewer."

// saidPagesAdvice is what to do where an answer says the number of the next page.
const saidPagesAdvice = "Each answer says the number of the next page. If that is always one more, as the peer's documentation tells, none has to wait for the one before: ask for several pages at a time, with a limit, and use the next number only to find the end. If the number is a cursor, or skips, the pages are a chain: larger pages, as far as the peer allows them, make them fewer, and the next one can be fetched while this one is processed."

// pagesDoubt is what speaks against it.
const pagesDoubt = "the peer may limit how many calls it takes at a time, and whether the numbers have no gaps is known from its documentation alone"

var (
	// pageNames are names of variables that number pages, or say where one begins.
	pageNames = lazily(`(?i)^(p|pg|off|skip|from|start|begin)$|^(cur|current|start|next)?_?(page|offset)_?(no|num|number|index|idx)?$`)
	// pageKeys are the keys of a query that do so.
	pageKeys = lazily(`(?i)^(p|page|page_?(no|num|number|index)|start_?page|offset|skip)$`)
)

// numbering is where the numbers of pages come from.
type numbering int

const (
	noPages        numbering = iota // no pages by numbers
	pagesByCount                    // the loop counts them
	pagesByAnswer                   // each answer says the next one
	pagesOfSession                  // the loop counts them, and what names a session of the peer is sent along
	pagesCarried                    // they have numbers, and depend on each other by something else
	pagesUntil                      // the loop counts them, and what is in an answer ends it
)

// asksByNumber tells of a loop which a call on a frame's line ends by its answer that it asks for pages by numbers, which it
// counts itself, or which are put into a query as such.
func asksByNumber(l loop, c *code, f stack.Frame) numbering {
	n, _ := pagesOf(l, c, f)
	return n
}

// pagesOf tells as well what makes the pages depend on those before.
func pagesOf(l loop, c *code, f stack.Frame) (n numbering, by pageCarry) {
	if n = countedPages(l, c, f); n == noPages {
		return n, by
	}
	called := calledOn(l.source, f.Line)
	if by, ok := carriedBetween(l, c, called); ok {
		return pagesCarried, by
	}
	if n == pagesByCount {
		if by, ok := endsByItem(l, c, l.answers(f.Line)); ok {
			return pagesUntil, by
		}
	}
	return n, by
}

// countedPages is that without what else they depend on.
func countedPages(l loop, c *code, f stack.Frame) numbering {
	w := l.answers(f.Line)
	called := calledOn(l.source, f.Line)
	for _, x := range pagesCounted(l, w) {
		name := rootName(x)
		fed := madeOfPage(l, name, f.Line)
		given := eachPageGiven(l, called, func(call *ast.CallExpr, arg ast.Expr) (gives, fine bool) {
			gives = mentionsAny(arg, fed)
			return gives, isNamed(arg, name) || isError(rootName(arg)) || !w.hasAt(arg, call.Pos()) || hasCall(arg, called)
		})
		last := lastName(types.ExprString(x))
		if given && !tries.MatchString(last) && (pageNames.MatchString(last) || queriesBy(l, c, name, called)) {
			if sendsSession(l, c, called) {
				return pagesOfSession
			}
			return pagesByCount
		}
	}
	for _, name := range nextPages(l, w) {
		given := eachPageGiven(l, called, func(call *ast.CallExpr, arg ast.Expr) (gives, fine bool) {
			if isNamed(arg, name) {
				return true, true
			}
			return false, isError(rootName(arg)) || !w.hasAt(arg, call.Pos()) || hasCall(arg, called)
		})
		if given && queriesBy(l, c, name, called) {
			return pagesByAnswer
		}
	}
	for _, name := range nextPageFields(l, w) {
		given := eachPageGiven(l, called, func(call *ast.CallExpr, arg ast.Expr) (gives, fine bool) {
			if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.AND {
				arg = u.X
			}
			if isNamed(arg, name) {
				return true, true
			}
			return false, isError(rootName(arg)) || !w.hasAt(arg, call.Pos()) || hasCall(arg, called)
		})
		if given {
			return pagesByAnswer
		}
	}
	return noPages
}

// isSelector tells of an expression that it is a field of something.
func isSelector(x ast.Expr) bool {
	_, ok := x.(*ast.SelectorExpr)
	return ok
}

// eachPageGiven tells of the calls of a loop that are wanted that each has an argument which gives something, and none that is
// not fine.
func eachPageGiven(l loop, wanted func(*ast.CallExpr) bool, of func(*ast.CallExpr, ast.Expr) (gives, fine bool)) bool {
	some, all := false, true
	ast.Inspect(l.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !wanted(call) {
			return true
		}
		for _, arg := range call.Args {
			gives, fine := of(call, arg)
			some, all = some || gives, all && fine
		}
		return true
	})
	return some && all
}

// pagesCounted are the variables and fields that the turns of a loop add something to which is known without their answers,
// and set in no other way.
func pagesCounted(l loop, w *turns) (all []ast.Expr) {
	seen := map[string]int{}
	by := map[string]ast.Expr{}
	inner := false // in a loop within, which decides how often
	note := func(x ast.Expr, counts bool) {
		text := types.ExprString(x)
		if seen[text]++; counts && seen[text] == 1 && !inner {
			by[text] = x
		} else {
			delete(by, text)
		}
	}
	see := func(n ast.Node) {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			note(n.X, n.Tok == token.INC)
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				y := n.Rhs[min(i, len(n.Rhs)-1)]
				if n.Tok == token.ASSIGN {
					if sum, ok := y.(*ast.BinaryExpr); ok && sum.Op == token.ADD && types.ExprString(sum.X) == types.ExprString(x) {
						note(x, pageStep(w, sum.Y))
						continue
					}
				}
				note(x, n.Tok == token.ADD_ASSIGN && pageStep(w, y))
			}
		}
	}
	if n, ok := l.stmt.(*ast.ForStmt); ok && n.Post != nil {
		see(n.Post)
	}
	eachNode(l.body, func(n ast.Node, around []ast.Node) {
		inner = slices.ContainsFunc(around, isLoop)
		see(n)
	})
	for text, x := range by {
		beside := slices.ContainsFunc(w.named[rootName(x)], func(s *set) bool { // a cursor in the same struct
			return slices.ContainsFunc(s.from, func(n ast.Node) bool { return w.has(n) }) && text != rootName(x)
		})
		if !beside {
			all = append(all, x)
		}
	}
	return all
}

// pageStep tells of what is added in a turn that it is a number which no answer says.
func pageStep(w *turns, x ast.Expr) bool {
	anyCall := func(*ast.CallExpr) bool { return true }
	return !hasCall(x, anyCall) && !w.has(x)
}

// madeOfPage are the names of a variable and of those that a turn makes of it before a line.
func madeOfPage(l loop, name string, line int) map[string]bool {
	made := map[string]bool{name: true}
	ast.Inspect(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		if first, _ := l.source.lines(a); first > line || !slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return mentionsAny(x, made) }) {
			return true
		}
		for _, x := range a.Lhs {
			if id, ok := x.(*ast.Ident); ok && id.Name != "_" && !isError(id.Name) {
				made[id.Name] = true
			}
		}
		return true
	})
	return made
}

// nextPages are the variables that a turn sets to what its answer says, and to nothing else.
func nextPages(l loop, w *turns) (names []string) {
	set := map[string]int{}
	ast.Inspect(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return true
		}
		for i, x := range a.Lhs {
			id, ok := x.(*ast.Ident)
			if !ok {
				continue
			}
			if set[id.Name]++; a.Tok == token.ASSIGN && set[id.Name] == 1 && w.has(a.Rhs[min(i, len(a.Rhs)-1)]) && saysNext(l, a, a.Rhs[min(i, len(a.Rhs)-1)], 0) {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(name string) bool { return set[name] > 1 || isError(name) })
}

// saysNext tells of what a statement of a loop gives the number of the next page that an answer says it, and that it is not computed of what the answer
// has: a variable or a field as it is, or as another type.
func saysNext(l loop, at *ast.AssignStmt, x ast.Expr, depth int) bool {
	within := false // a loop in the loop
	eachNode(l.body, func(n ast.Node, around []ast.Node) {
		within = within || n == at && slices.ContainsFunc(around, isLoop)
	})
	if within || at.Tok != token.ASSIGN && at.Tok != token.DEFINE || depth > pageDepth {
		return false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		said := true
		ast.Inspect(l.body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a == at {
				return true
			}
			for i, to := range a.Lhs {
				if isNamed(to, x.Name) && len(a.Lhs) == len(a.Rhs) {
					said = said && saysNext(l, a, a.Rhs[i], depth+1)
				}
			}
			return true
		})
		return said
	case *ast.SelectorExpr, *ast.BasicLit:
		return true
	case *ast.StarExpr:
		return saysNext(l, at, x.X, depth)
	case *ast.CallExpr:
		if len(x.Args) == 0 { // r.GetNextPage()
			return true
		}
		_, basic := types.Universe.Lookup(types.ExprString(x.Fun)).(*types.TypeName)
		converts := basic || strings.HasPrefix(types.ExprString(x.Fun), "strconv.")
		return converts && saysNext(l, at, x.Args[0], depth)
	}
	return false
}

// nextPageFields are the variables of which a turn sets a field that is named as the number of a page to what its answer says, and no other field to that; that
// it is a number a condition shows, which holds it against 0.
func nextPageFields(l loop, w *turns) (names []string) {
	set := map[string]int{}
	ast.Inspect(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			return true
		}
		for i, x := range a.Lhs {
			sel, ok := x.(*ast.SelectorExpr)
			y := a.Rhs[min(i, len(a.Rhs)-1)]
			if !ok || !isNamed(sel.X, rootName(x)) || !w.has(y) || !saysNext(l, a, y, 0) {
				continue
			}
			name := rootName(x)
			if set[name]++; set[name] == 1 && pageNames.MatchString(sel.Sel.Name) && (comparedToZero(l, y) || comparedToZero(l, x)) {
				names = append(names, name)
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(name string) bool { return set[name] > 1 })
}

// comparedToZero tells of an expression that the loop or its body holds it against 0.
func comparedToZero(l loop, x ast.Expr) bool {
	text := types.ExprString(x)
	return hasNode(l.stmt, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		return ok && (b.Op == token.EQL || b.Op == token.NEQ || b.Op == token.GTR) && types.ExprString(b.X) == text && types.ExprString(b.Y) == "0"
	})
}

// queriesBy tells whether a variable is put into a query as the number of a page, in the loop or by what the calls are of.
func queriesBy(l loop, c *code, name string, called func(*ast.CallExpr) bool) bool {
	if putsPage(l.body, name) {
		return true
	}
	return hasCall(l.body, func(call *ast.CallExpr) bool { return called(call) && givesPage(c, call, name, 0) })
}

// pageDepth is how many functions the number of a page is followed through.
const pageDepth = 3

// givesPage tells whether a call hands a variable to functions of the program that put it into a query.
func givesPage(c *code, call *ast.CallExpr, name string, depth int) bool {
	arg := slices.IndexFunc(call.Args, func(x ast.Expr) bool { return isNamed(x, name) })
	all := c.functions()[calledName(call)]
	if arg < 0 || len(all) == 0 || depth == pageDepth {
		return false
	}
	for _, d := range all {
		names := parameters(d.Type)
		if d.Body == nil || arg >= len(names) {
			return false
		}
		param := names[arg]
		if !putsPage(d.Body, param) && !hasCall(d.Body, func(call *ast.CallExpr) bool { return givesPage(c, call, param, depth+1) }) {
			return false
		}
	}
	return true
}

// putsPage tells whether a body puts a variable into a query as the number of a page: by a format with page=%d, or
// under such a key.
func putsPage(body ast.Node, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch calledName(n) {
			case "Sprintf", "Appendf", "Fprintf":
				return formatsPage(n, name)
			case "Set", "Add":
				return len(n.Args) == 2 && isPageKey(n.Args[0]) && isNumberOf(n.Args[1], name)
			}
		case *ast.KeyValueExpr: // url.Values{"page": {strconv.Itoa(page)}}
			return isPageKey(n.Key) && (isNumberOf(n.Value, name) || isListOf(n.Value, name))
		case *ast.AssignStmt: // q["page"] = []string{strconv.Itoa(page)}
			x, ok := n.Lhs[0].(*ast.IndexExpr)
			return ok && len(n.Lhs) == 1 && isPageKey(x.Index) && (isNumberOf(n.Rhs[0], name) || isListOf(n.Rhs[0], name))
		case *ast.BinaryExpr: // base + "?page=" + strconv.Itoa(page)
			return n.Op == token.ADD && isNumberOf(n.Y, name) && endsInPageKey(n.X)
		}
		return false
	})
}

// isListOf tells of an expression that it is a list of the text of a variable that is a number alone.
func isListOf(x ast.Expr, name string) bool {
	list, ok := x.(*ast.CompositeLit)
	return ok && len(list.Elts) == 1 && isNumberOf(list.Elts[0], name)
}

// endsInPageKey tells of a sum of texts that it ends in the key of a page's number: …?page=
func endsInPageKey(x ast.Expr) bool {
	if sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		x = sum.Y
	}
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(l.Value)
	key, is := strings.CutSuffix(text, "=")
	return err == nil && is && pageKeys.MatchString(key[strings.LastIndexAny(key, "?&")+1:])
}

// isPageKey tells of an expression that it is the key of a page's number, as a text.
func isPageKey(x ast.Expr) bool {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(l.Value)
	return err == nil && pageKeys.MatchString(text)
}

// isNumberOf tells of an expression that it is the text of a variable that is a number.
func isNumberOf(x ast.Expr, name string) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch types.ExprString(call.Fun) {
	case "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint":
		return mentions(call.Args[0], name)
	case "fmt.Sprint":
		return isNamed(call.Args[0], name)
	case "fmt.Sprintf":
		return len(call.Args) == 2 && strings.Contains(types.ExprString(call.Args[0]), "%d") && isNamed(call.Args[1], name)
	}
	return false
}

// verbs are the verbs of a format, those of numbers by what stands before: page=%d.
var verbs = lazily(`(?:[?&]([A-Za-z_]+)=)?%[-+# 0]*[0-9]*(?:\.[0-9]+)?([a-zA-Z%])`)

// formatsPage tells of a call with a format that it writes a variable as the number of a page.
func formatsPage(call *ast.CallExpr, name string) bool {
	at := slices.IndexFunc(call.Args, func(x ast.Expr) bool {
		l, ok := x.(*ast.BasicLit)
		return ok && l.Kind == token.STRING
	})
	if at < 0 {
		return false
	}
	text, err := strconv.Unquote(call.Args[at].(*ast.BasicLit).Value)
	if err != nil {
		return false
	}
	i := at
	for _, v := range verbs.FindAllStringSubmatch(text, -1) {
		if v[2] == "%" {
			continue
		}
		if i++; i < len(call.Args) && isNamed(call.Args[i], name) && v[2] == "d" && pageKeys.MatchString(v[1]) {
			return true
		}
	}
	return false
}

// ends is how a loop ends that makes a call again, as a clause with a verb for its place.
func (a asking) ends() string {
	switch {
	case a.chained:
		return "; each turn of the loop%s needs what an earlier one has given"
	case a.seeks:
		return "; the loop%s ends at the first answer that suits"
	case a.pages == pagesByCount:
		return "; the loop%s asks for page after page, by their numbers"
	case a.pages == pagesOfSession:
		return "; the loop%s asks for page after page, by their numbers, and names a session of the peer with each"
	case a.pages == pagesCarried, a.pages == pagesUntil:
		return "; the loop%s asks for page after page, by their numbers; " + a.carried.what
	case a.pages == pagesByAnswer:
		return "; the loop%s asks for page after page, by numbers of which each answer says the next"
	case a.leads && !a.retries:
		return "; each turn of the loop%s needs what an earlier one has given"
	case a.follows && !a.retries:
		return "; the loop%s asks for part after part, until the last"
	}
	return "; the loop that asks again%s ends with the answer"
}

// why says of the calls of such a loop what they are for, and whether they can be made at the same time.
func (a asking) why() string {
	switch {
	case a.pages == pagesByCount:
		return "for page after page: as these go by numbers, several could be asked for at a time"
	case a.pages == pagesOfSession:
		return "for page after page of a session of the peer: if that answers them in any order, several could be asked for at a time"
	case a.pages == pagesCarried:
		return "for page after page: these have numbers, but " + a.carried.what
	case a.pages == pagesUntil:
		return "for page after page, by their numbers, until one that is not known before: " + a.carried.what
	case a.pages == pagesByAnswer:
		return "for page after page, by numbers of which each answer says the next: if that is always one more, several could be asked for at a time"
	case a.leads && !a.retries:
		return "each of which needs what an earlier one has given: they cannot be combined, nor made concurrently"
	case a.follows && !a.retries:
		return "for part after part of one whole: where the next one begins, or that there is one, an answer says, so the calls cannot be made concurrently"
	}
	return "until the answer is accepted: the calls cannot be combined, nor made concurrently"
}
