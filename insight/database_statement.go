package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Which statement of a database a line executes, by the constant text that reaches it, and which kind of database it is.

// writingTexts are the beginnings of statements that change rows.
var writingTexts = lazily(`(?is)^\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*(insert|update|delete|replace|upsert|merge)\b`)

// statementChanging is the word that a statement of a line begins with, where that changes rows: "UPDATE". own are the frames of the program on its
// stack, the line first: the text may be what one of them hands to the next. It is empty where the source does not show it.
func statementChanging(c *code, own []stack.Frame) string {
	if m := writingTexts.FindStringSubmatch(executedText(c, own)); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

// executedText is how the text of a statement begins that the first of some frames of the program executes.
func executedText(c *code, own []stack.Frame) (text string) {
	if len(own) == 0 {
		return ""
	}
	c.parse(own[0].File).onLine(own[0].Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.Contains(sessionMethods, calledName(call)) {
			return
		}
		x := queryOf(call)
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isIdent(sel.X) {
			if fn := c.scopeAt(own[0]); fn != nil { // a statement that was prepared before
				if made := preparedAs(fn, rootName(sel.X)); made != nil {
					x = queryOf(made)
				}
			}
		}
		if t := textHanded(c, own, x); t != "" && (text == "" || writingTexts.MatchString(t)) {
			text = t
		}
	})
	return text
}

// preparedAs is the call by which a function prepares a statement that it calls by a name; nil where there is none, or several.
func preparedAs(fn *scope, name string) (made *ast.CallExpr) {
	n := 0
	ast.Inspect(fn.body, func(node ast.Node) bool {
		a, ok := node.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || !isNamed(a.Lhs[0], name) {
			return true
		}
		n++
		if call, ok := a.Rhs[0].(*ast.CallExpr); ok && strings.HasPrefix(calledName(call), "Prepare") {
			made = call
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return made
}

// queryOf is the argument of a call that is the text of a query; nil where there is none.
func queryOf(call *ast.CallExpr) ast.Expr {
	for _, x := range call.Args[:min(2, len(call.Args))] {
		if !isContext(x) {
			return x
		}
	}
	return nil
}

// textHanded is how a text begins that the first of some frames has, as far as it is constant; of a parameter it is what the next frame gives.
func textHanded(c *code, own []stack.Frame, x ast.Expr) string {
	for range closedDepth {
		switch y := x.(type) {
		case *ast.BinaryExpr:
			x = leftmost(y)
			continue
		case *ast.CallExpr:
			if types.ExprString(y.Fun) == "fmt.Sprintf" && len(y.Args) > 0 {
				x = y.Args[0]
				continue
			}
		case *ast.Ident:
			if fn := c.scopeAt(own[0]); fn != nil && fn.made(y.Name) != nil {
				x = fn.made(y.Name)
				continue
			}
			if i := parameterIndex(c.function(own[0]), y.Name); i >= 0 {
				if x = argumentOn(c, own, i); x == nil {
					return ""
				}
				own = own[1:]
				continue
			}
		case nil:
			return ""
		}
		text, _ := constantText(c, x, 0)
		return text
	}
	return ""
}

// parameterIndex is which parameter of a function has a name; -1 where none has.
func parameterIndex(fn *ast.FuncDecl, name string) int {
	if fn == nil {
		return -1
	}
	i := 0
	for _, field := range fn.Type.Params.List {
		for _, id := range field.Names {
			if id.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}

// argumentOn is what the second of some frames gives the first for its parameter of a number; nil where that is not known.
func argumentOn(c *code, own []stack.Frame, i int) (x ast.Expr) {
	if len(own) < 2 {
		return nil
	}
	name := ownName(own[0].Func)
	c.parse(own[1].File).onLine(own[1].Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && calledName(call) == name && i < len(call.Args) {
			x = call.Args[i]
		}
	})
	return x
}

// oneWriter are the packages of databases within the program that let one connection, or transaction, write at a time.
var oneWriter = []string{"modernc.org/sqlite", "github.com/mattn/go-sqlite3", "github.com/ncruces/go-sqlite3", "github.com/glebarez/go-sqlite", "github.com/glebarez/sqlite",
	"zombiezen.com/go/sqlite", "crawshaw.io/sqlite", "github.com/tailscale/sqlite", "github.com/mutecomm/go-sqlcipher", "go.etcd.io/bbolt", "github.com/boltdb/bolt"}

// serverDrivers are packages of drivers whose database is a server.
var serverDrivers = []string{"github.com/lib/pq", "github.com/jackc/pgx", "github.com/go-sql-driver/mysql", "github.com/microsoft/go-mssqldb", "github.com/denisenkom/go-mssqldb", "github.com/godror/godror",
	"github.com/sijms/go-ora", "github.com/ClickHouse/clickhouse-go", "github.com/tursodatabase/libsql-client-go", "github.com/snowflakedb/gosnowflake", "github.com/trinodb/trino-go-client"}

// isOfPackages tells of a package that it is one of some, or below one.
func isOfPackages(pkg string, all []string) bool {
	return slices.ContainsFunc(all, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// oneWriterIn is the package among frames that is such a database; empty where there is none.
func oneWriterIn(frames []stack.Frame) string {
	for _, f := range frames {
		if pkg := stack.Package(f.Func); isOfPackages(pkg, oneWriter) {
			return pkg
		}
	}
	return ""
}

// oneWriterOf is the database of the program that lets one connection write at a time, where package database/sql has no other one: by the names
// that the source opens databases with, or else by the drivers that are built in.
func oneWriterOf(in *Input) string {
	lite, others := "", false
	sort := func(pkg string) {
		if isOfPackages(pkg, serverDrivers) {
			others = true
		} else if isOfPackages(pkg, oneWriter) && !strings.Contains(pkg, "bolt") && lite == "" {
			lite = pkg
		}
	}
	named, other := false, false
	in.code.eachSource(func(_ string, s *syntax) {
		for _, i := range s.file.Imports {
			sort(strings.Trim(i.Path.Value, "\"`"))
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(opensDatabase, types.ExprString(call.Fun)) {
				return true
			}
			switch name, known := constantText(in.code, queryOf(call), 0); {
			case !known:
			case strings.Contains(name, "sqlite"):
				named = true
			default:
				other = true
			}
			return true
		})
	})
	if other {
		return ""
	}
	for _, e := range in.Session.Manifest().Of(recording.BuildInfo) {
		if info, err := session.BuildInfo(in.Session, e.Path); err == nil {
			for _, m := range info.Deps {
				sort(m.Path)
			}
		}
	}
	switch {
	case named && lite == "":
		return "SQLite"
	case others && !named:
		return ""
	}
	return lite
}

// poolHolders are those who have the connections that others wait for, by what the account of units says that they do meanwhile.
type poolHolders struct {
	told, writes time.Duration
	most         *facts.UnitRow // of the lines in statements that only read, the one that is there for the longest
	time         time.Duration  // that one is there
}

// holdersOf are those of some waits.
func holdersOf(in *Input, rows []*facts.UnitRow) (h poolHolders) {
	type line struct {
		file string
		line int
	}
	u, by := in.Facts.Units(), map[line]time.Duration{}
	for _, row := range rows {
		if u.Err != nil || row.Cause.Site.Frame.Func == "" || slices.Contains([]string{"", "none", "unknown", "pool"}, row.Cause.Kind.Key()) {
			continue
		}
		frames := facts.Frames(u.Reader.Stacks(), row.Cause.Site.Stack)
		own := slices.IndexFunc(frames, in.Session.Scope().IsUser)
		if own <= 0 || !slices.ContainsFunc(frames[:own], func(f stack.Frame) bool { return strings.HasPrefix(f.Func, sqlPackage) }) {
			continue
		}
		h.told += row.Time
		if called := frames[own-1].Func; strings.HasSuffix(called, ".Commit") || statementChanging(in.code, ownFrames(in, frames[own:])) != "" {
			h.writes += row.Time
			continue
		}
		at := line{frames[own].File, frames[own].Line}
		if by[at] += row.Time; h.most == nil || by[at] > h.time {
			h.most, h.time = row, by[at]
		}
	}
	return h
}

// adviseOneWriter makes a finding about waits for a connection to a database that lets one connection write at a time say what to do: about writes only where
// those write who have the connections; where they read, about the line that has them for the longest, which is then told first.
func adviseOneWriter(in *Input, of string, rows []*facts.UnitRow, f *Finding) {
	h := holdersOf(in, rows)
	within := "The database is within the program (" + of + "), and lets one connection write at a time"
	switch {
	case float64(h.writes) >= muchOfAll*float64(h.told) && h.told > 0:
		f.Advice = within + ": more connections (SetMaxOpenConns) do not let more of them write, which then wait for each other in the database, and try again there. " +
			"Write less often, and hold the database for a shorter time: several statements in one transaction, none that waits for something else before it ends. A handle of its own for writing, with one connection (SetMaxOpenConns(1)), keeps queries that only read from waiting behind writes; " +
			"to these, more connections help as far as there are CPUs, and readers go on during a write (for SQLite the WAL mode)."
	case h.most != nil:
		frames := facts.Frames(in.Facts.Units().Reader.Stacks(), h.most.Cause.Site.Stack)
		own := ownFrames(in, frames[slices.IndexFunc(frames, in.Session.Scope().IsUser):])
		at, doing := own[0], h.most.Cause.Kind.Clause()
		share := unit.Percent(float64(h.time) / float64(h.told))
		f.Summary += fmt.Sprintf("; who has one meanwhile reads, and is mostly at %s (%s of what is known of them)", place(at), share)
		if f.Rule == "LK06" { // WT01 shows what the goroutines do that it waits for
			f.Evidence = slices.Insert(f.Evidence, 0, in.code.shownAt(at.File, at.Line, "a connection is held here meanwhile, for %s of what is known of the holders: %s", share, doing))
			f.Evidence[0].Function = at.Func
		}
		_, text := queryOn(in.code, own)
		f.Advice = "The database is within the program (" + of + "), and who holds the connections reads: make what is done at " + at.Func[strings.LastIndexByte(at.Func, '/')+1:] + fmt.Sprintf(" (%s:%d) quicker, since the others wait for that. ", baseName(at.File), at.Line) +
			indexAdvice(text) + " More connections (SetMaxOpenConns) help queries that only read as far as there are CPUs."
	default:
		f.Advice = within + ". Find out first who holds the connections: if it is a slow query, make that quicker (EXPLAIN QUERY PLAN, an index, fewer rows); more connections (SetMaxOpenConns) help queries that only read as far as there are CPUs. " +
			"If they are held by writes, more connections do not let more of them write: then put several statements into one transaction, none that waits for something else before it ends."
	}
}

// loadOnlyReads tells of the requests that were sent that all of them only read by their method, and which methods these are: "GET".
func loadOnlyReads(in *Input) (methods string, ok bool) {
	var all []string
	for _, l := range in.Facts.Loads() {
		sent := []string{l.Log.Method}
		if len(l.Log.Targets) > 0 {
			sent = nil
			for _, t := range l.Log.Targets {
				sent = append(sent, t.Method)
			}
		}
		for _, m := range sent {
			if m != "GET" && m != "HEAD" {
				return "", false
			}
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " or "), len(all) > 0
}
