package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What has to be closed and never is: a statement, a transaction, a client. Whoever made it keeps it until then, so that what it
// refers to is in use although no variable of the program has it.

// closable is what a function returns that is kept until one of some methods is called.
type closable struct {
	ends []string // such as Close, or Commit and Rollback
	// of is the part of the result that has these methods, such as Body; empty where the result itself has.
	of string
	// what it is, with an article, and who keeps it until it is ended.
	what, keeper string
	// instead is what else may be done.
	instead string
}

// Note: a file, a connection of package net and a ticker are not among them. The collector closes or frees those that nobody refers to,
// so that a missing Close is no reason why memory is in use. The same holds for the rows of a query that are read to the end.

const (
	onceOrDirect = "prepare it once, at the start, and keep it (a sql.Stmt may be used by many goroutines at once); or query directly, with the text and its arguments (QueryContext, ExecContext)"
	oneForAll    = "make one at the start and use it for all"
)

var (
	closableStmt     = closable{ends: []string{"Close"}, what: "a statement", keeper: "the sql.DB keeps it, and the database too", instead: onceOrDirect}
	closableConnStmt = closable{ends: []string{"Close"}, what: "a statement", keeper: "its connection keeps it, and the database too", instead: onceOrDirect}
	closableTx       = closable{ends: []string{"Commit", "Rollback"}, what: "a transaction", keeper: "it keeps its connection"}
	closableBody     = closable{ends: []string{"Close"}, of: "Body", what: "a response", keeper: "its connection stays open, with two goroutines"}
	closableClient   = closable{ends: []string{"Close"}, what: "a client", keeper: "its goroutines and connections keep it", instead: oneForAll}
	closableDB       = closable{ends: []string{"Close"}, what: "a sql.DB", keeper: "its goroutine and its connections keep it", instead: oneForAll}
)

// closables are functions of libraries by the names that profiles have for them.
var closables = map[string]closable{
	"database/sql.(*DB).Prepare":          closableStmt,
	"database/sql.(*DB).PrepareContext":   closableStmt,
	"database/sql.(*Conn).PrepareContext": closableConnStmt,
	"database/sql.(*DB).Begin":            closableTx,
	"database/sql.(*DB).BeginTx":          closableTx,
	"database/sql.(*Conn).BeginTx":        closableTx,
	"database/sql.(*DB).Conn":             {ends: []string{"Close"}, what: "a connection", keeper: "the sql.DB counts it as in use"},
	"database/sql.Open":                   closableDB,
	"database/sql.OpenDB":                 closableDB,
	"net/http.Get":                        closableBody,
	"net/http.Head":                       closableBody,
	"net/http.Post":                       closableBody,
	"net/http.PostForm":                   closableBody,
	"net/http.(*Client).Do":               closableBody,
	"net/http.(*Client).Get":              closableBody,
	"net/http.(*Client).Head":             closableBody,
	"net/http.(*Client).Post":             closableBody,
	"net/http.(*Client).PostForm":         closableBody,
	"google.golang.org/grpc.Dial":         closableClient,
	"google.golang.org/grpc.DialContext":  closableClient,
	"google.golang.org/grpc.NewClient":    closableClient,

	"github.com/jackc/pgx/v4/pgxpool.Connect":       closableClient,
	"github.com/jackc/pgx/v4/pgxpool.ConnectConfig": closableClient,
	"github.com/jackc/pgx/v5/pgxpool.New":           closableClient,
	"github.com/jackc/pgx/v5/pgxpool.NewWithConfig": closableClient,
}

// unclosed is a value that nothing ends.
type unclosed struct {
	closable
	at   stack.Frame
	call string // how the source calls what returns it
	name string // the variable that has it; "_" where it is dropped
}

// missing is the call that is missing, as the source would have it.
func (u unclosed) missing() string {
	name := u.name
	if name == "_" {
		name = "what it returns"
	}
	if u.of != "" {
		name += "." + u.of
	}
	return fmt.Sprintf("%s.%s()", name, u.ends[len(u.ends)-1])
}

// says is what the source tells of it.
func (u unclosed) says() string {
	after := ""
	if u.name != "_" {
		after = ", nor is it returned, stored or handed on"
	}
	return fmt.Sprintf("according to the source, %s that %s returns at %s is never closed%s", u.what, u.call, fileLine(u.at.File, u.at.Line), after)
}

// advice is what to do about it.
func (u unclosed) advice() string {
	text := fmt.Sprintf("Close it on every path (defer %s, behind the check of the error): until then %s.", u.missing(), u.keeper)
	if len(u.ends) > 1 {
		text = fmt.Sprintf("End it on every path (%s, or defer %s, which does nothing after that): until then %s.", u.ends[0], u.missing(), u.keeper)
	}
	if u.instead != "" {
		text += " Or " + u.instead + "."
	}
	return text
}

// unclosedAlong finds a value that one of the lines of some frames makes, the leaf first and from one of them on, and that nothing ends. What
// the line calls is by the frames of a profile. Where its function returns it, the line that calls that has it.
func unclosedAlong(c *code, frames []stack.Frame, from int) (u unclosed, ok bool) {
	for i := max(1, from); i < len(frames); i++ {
		of, known := closables[stack.FoldGenerics(frames[i-1].Func)]
		for ; known && i < len(frames) && c.parse(frames[i].File) != nil; i++ {
			name, call, becomes := releasedIn(c, frames[i], ownName(frames[i-1].Func), of)
			switch becomes {
			case staysOpen:
				return unclosed{of, frames[i], types.ExprString(call.Fun), name}, true
			case isReturned:
				continue
			}
			return u, false
		}
	}
	return u, false
}

// release is what becomes of something that has to be ended.
type release uint8

const (
	maybeEnded release = iota // it is ended, somebody has it who may do that, or nothing is known
	isReturned                // the caller has it
	staysOpen                 // it is dropped, or a variable has it of which only its methods are called
)

// releasedIn tells what becomes of the first result of a call on a line, which is found by the name that it calls.
func releasedIn(c *code, at stack.Frame, called string, of closable) (name string, call *ast.CallExpr, becomes release) {
	fn := c.function(at)
	if fn == nil || fn.Body == nil {
		return "", nil, maybeEnded
	}
	for _, x := range c.lineCalls(at) {
		if calledName(x) == called {
			call = x
		}
	}
	if call == nil {
		return "", nil, maybeEnded
	}
	first, found := call.Pos(), false
	eachWithin(fn.Body, func(n, in ast.Node) {
		x, is := n.(*ast.CallExpr)
		if !is || x.Pos() != first || calledName(x) != called {
			return
		}
		switch p := in.(type) {
		case *ast.ReturnStmt:
			becomes = isReturned
		case *ast.ExprStmt:
			name, found = "_", true
		case *ast.AssignStmt:
			if id, is := p.Lhs[0].(*ast.Ident); is && len(p.Rhs) == 1 {
				name, found = id.Name, true
			}
		case *ast.ValueSpec:
			if len(p.Values) == 1 {
				name, found = p.Names[0].Name, true
			}
		}
	})
	switch {
	case !found:
		return "", call, becomes
	case name == "_":
		return name, call, staysOpen
	}
	if s := c.scopeAt(at); s == nil || !declaredAround(s, name) || namesResult(fn.Type, name) {
		return "", call, maybeEnded // a variable of the package, or a result
	}
	becomes = staysOpen
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == name {
				becomes = min(becomes, afterUse(n, around, of))
			}
		case *ast.FuncLit:
			if namesResult(n.Type, name) {
				becomes = maybeEnded
			}
		}
	})
	return name, call, becomes
}

// namesResult tells of a function that one of its results has a name.
func namesResult(fn *ast.FuncType, name string) bool {
	return fn.Results != nil && slices.ContainsFunc(fn.Results.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == name })
	})
}

// afterUse tells what a use of a variable makes of what it has. It is as open as before if the variable is assigned to or compared, or if one of
// its methods is called that does not end it.
func afterUse(id *ast.Ident, around []ast.Node, of closable) release {
	parent := func(up int) ast.Node {
		if up >= len(around) {
			return nil
		}
		return around[len(around)-1-up]
	}
	open := false
	switch p := parent(0).(type) {
	case *ast.AssignStmt:
		open = slices.Contains(p.Lhs, ast.Expr(id))
	case *ast.ValueSpec:
		open = slices.Contains(p.Names, id)
	case *ast.BinaryExpr:
		open = true
	case *ast.ReturnStmt:
		if len(p.Results) > 0 && p.Results[0] == ast.Expr(id) && !slices.ContainsFunc(around, func(n ast.Node) bool { _, is := n.(*ast.FuncLit); return is }) {
			return isReturned
		}
	case *ast.KeyValueExpr:
		open = p.Key == ast.Expr(id) // the name of a field
	case *ast.SelectorExpr:
		switch call, _ := parent(1).(*ast.CallExpr); {
		case p.Sel == id: // a field or a method of something else
			open = true
		case of.of == "":
			open = !slices.Contains(of.ends, p.Sel.Name) && call != nil && call.Fun == ast.Expr(p)
		case p.Sel.Name != of.of: // a field beside it
			open = true
		case call != nil:
			open = call.Fun != ast.Expr(p) && onlyReadsPart(call)
		}
	}
	if open {
		return staysOpen
	}
	return maybeEnded
}

// onlyReadsPart tells of a call by its name that it makes something of the library which reads from its argument, and neither reads to its end
// nor closes it.
func onlyReadsPart(call *ast.CallExpr) bool {
	switch types.ExprString(call.Fun) {
	case "json.NewDecoder", "xml.NewDecoder", "gob.NewDecoder", "bufio.NewReader", "bufio.NewReaderSize", "bufio.NewScanner", "io.LimitReader", "csv.NewReader", "gzip.NewReader":
		return true
	}
	return false
}

// byUnclosed: the line makes something that has to be closed, and never is.
func byUnclosed(c *code, at stack.Frame, frames []stack.Frame) (h holding, ok bool) {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == at.Func && f.File == at.File && f.Line == at.Line })
	if i < 0 {
		return h, false
	}
	u, ok := unclosedAlong(c, frames, i)
	if !ok {
		return h, false
	}
	h = holding{advice: u.advice(), says: u.says()}
	if line := (codeLine{u.at.File, u.at.Line}); line != (codeLine{at.File, at.Line}) {
		h.shows = append(h.shows, c.shownAt(line.file, line.line, "it is never closed here"))
	}
	return h, true
}
