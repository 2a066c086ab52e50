package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What the source says of the type of a connection that package database/sql does not give queries to as they are.

// sqlDriver is the path of the package that has the interfaces of drivers.
const sqlDriver = "database/sql/driver"

// directMethods are the methods by which a connection takes a query as it is, of those that return rows and of those that
// return none: the second is the older form of the first.
var directMethods = map[bool][2]string{false: {"QueryContext", "Query"}, true: {"ExecContext", "Exec"}}

// driverInterfaces are the interfaces of package driver that have one of these methods.
var driverInterfaces = map[string]string{"QueryerContext": "QueryContext", "Queryer": "Query", "ExecerContext": "ExecContext", "Execer": "Exec"}

// connType is a type of the sources that is a connection of a driver.
type connType struct {
	c      *code
	folder string
	name   string
	file   string
	line   int
	// wraps tells that it has another connection in it.
	wraps bool
}

// connOf finds the type that a method of a connection belongs to; not ok where the sources do not have it.
func connOf(c *code, method stack.Frame) (t connType, ok bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(method.Func, stack.Package(method.Func)), ".")
	name, _, isMethod := strings.Cut(strings.TrimPrefix(rest, "(*"), ".")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, ")"), "[")
	if !isMethod || name == "" || c.parse(method.File) == nil {
		return t, false
	}
	t = connType{c: c, folder: folderOf(method.File), name: name}
	file, spec := t.spec(name)
	if spec == nil {
		return t, false
	}
	t.file = file
	t.line, _ = c.parse(file).lines(spec)
	t.wraps = hasConn(c.parse(file).file, spec)
	return t, true
}

// spec finds a type of the package.
func (t connType) spec(name string) (file string, found *ast.TypeSpec) {
	t.c.eachSource(func(f string, s *syntax) {
		if found != nil || folderOf(f) != t.folder {
			return
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if of, ok := spec.(*ast.TypeSpec); ok && of.Name.Name == name && found == nil {
					file, found = f, of
				}
			}
		}
	})
	return file, found
}

// ofDriver is the name of a type of package driver; empty where an expression is none.
func ofDriver(file *ast.File, x ast.Expr) string {
	sel, ok := x.(*ast.SelectorExpr)
	if as := importedAs(file, sqlDriver); ok && as != "" && isNamed(sel.X, as) {
		return sel.Sel.Name
	}
	return ""
}

// hasConn tells of a struct that a field of it is a connection of any driver.
func hasConn(file *ast.File, spec *ast.TypeSpec) bool {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range st.Fields.List {
		if ofDriver(file, field.Type) == "Conn" {
			return true
		}
	}
	return false
}

// maxEmbedded is how deep types within types are followed.
const maxEmbedded = 8

// has tells whether a type of the package has a method of one of two names; not known where it has something in it of which
// the sources do not say what it has.
func (t connType) has(name string, methods [2]string, depth int) (has, known bool) {
	t.name = name
	if t.declares(methods[:]...) {
		return true, true
	}
	file, spec := t.spec(name)
	if spec == nil || depth == 0 || spec.Assign.IsValid() {
		return false, false
	}
	var fields *ast.FieldList
	switch of := spec.Type.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	case *ast.SelectorExpr:
		fields = &ast.FieldList{List: []*ast.Field{{Type: of}}} // an interface of another package, by another name, or a type without methods
	case *ast.Ident:
		return false, false
	default:
		return false, true
	}
	known = true
	for _, field := range fields.List {
		if len(field.Names) > 0 {
			for _, id := range field.Names {
				if _, isMethod := field.Type.(*ast.FuncType); isMethod && (id.Name == methods[0] || id.Name == methods[1]) {
					return true, true
				}
			}
			continue
		}
		inner, sure := t.embedded(file, field.Type, methods, depth-1)
		if inner {
			return true, true
		}
		known = known && sure
	}
	return false, known
}

// embedded is has for a type that stands in another one without a name.
func (t connType) embedded(file string, x ast.Expr, methods [2]string, depth int) (has, known bool) {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return t.has(id.Name, methods, depth)
	}
	s := t.c.parse(file)
	if s == nil {
		return false, false
	}
	switch name := ofDriver(s.file, x); {
	case name != "":
		method := driverInterfaces[name]
		return method != "" && (method == methods[0] || method == methods[1]), true
	case importedAs(s.file, "sync") != "" && strings.HasPrefix(typeName(x), "sync."):
		return false, true
	}
	return false, false
}

// tellConnection says why package sql prepares, as far as the source of the connection tells, and what to do.
func tellConnection(in *Input, p *preparing, f *Finding) {
	way := p.ways[0]
	keep := "Or prepare each statement once (db.Prepare, at the start), keep it and run that: then a query is one round trip too."
	needs, iface := p.needed()
	t, ok := connOf(in.code, way.conn)
	var lacks []string
	for _, exec := range []bool{false, true} {
		if !exec && !p.queries || exec && !p.execs {
			continue
		}
		if has, known := t.hasAny(ok, directMethods[exec]); known && !has {
			lacks = append(lacks, directMethods[exec][0])
		}
	}
	if len(lacks) > 0 {
		missing := strings.Join(lacks, " and ")
		f.Summary += fmt.Sprintf("; by the source, the driver's connection, %s, has no %s", typeOfMethod(way.conn.Func), missing)
		f.Evidence = append([]Evidence{in.code.shownAt(t.file, t.line, "the type of the connection has no %s, so package database/sql prepares each query", missing)}, f.Evidence...)
		if inner, ok := wrappedConn(in.code, way); ok && inner.name != t.name {
			tellWrapped(in.code, t, inner, p, iface, f)
			f.Advice += " " + keep
		} else if t.wraps || way.handsOn() {
			f.Advice = fmt.Sprintf("Implement %s on %s, and pass the call on to the connection that it wraps where that has the method (a type assertion); return driver.ErrSkip where it has not. %s", iface, t.name, keep)
		} else {
			f.Advice = fmt.Sprintf("Implement %s on %s: send the query with its arguments in one message, without a statement. %s", iface, t.name, keep)
		}
		tellMySQL(way, f, " Besides, ")
		return
	}
	hider, hides := hidingConn(in.code, p)
	if ok && !hides && !t.wraps && !way.handsOn() && t.tellSkips(p, f) {
		f.Advice += " " + keep
		tellMySQL(way, f, " ")
		return
	}
	f.Advice = fmt.Sprintf("Find out why the driver's connection (%s) does not take queries as they are: its %s returns driver.ErrSkip, it has none, or something that wraps it hides it. See which option of the driver sends the arguments with the query. %s",
		typeOfMethod(way.conn.Func), needs, keep)
	t.tellHas(ok, p, f)
	if hides {
		f.Evidence = append(f.Evidence, in.code.shownAt(hider.file, hider.line, "wraps any connection and has no %s: if it is in use here, that is why", needs))
		f.Advice = fmt.Sprintf("If %s wraps the connection here, implement %s on it, and pass the call on (return driver.ErrSkip where the wrapped connection has no such method). Else see which option of the driver sends the arguments with the query. %s", hider.name, iface, keep)
	}
	tellMySQL(way, f, " ")
}

// preparesByName tells of a method that it prepares a statement, by its name.
func preparesByName(x stack.Frame) bool {
	name := ownName(x.Func)
	return name == "Prepare" || name == "PrepareContext"
}

// handsOn tells whether the connection asks another one to prepare.
func (w preparedWay) handsOn() bool { return slices.ContainsFunc(w.more, preparesByName) }

// wrappedConn is the type of the connection that another one asks to prepare, the innermost of which the sources have the type.
func wrappedConn(c *code, way preparedWay) (inner connType, ok bool) {
	for _, x := range way.more {
		if !preparesByName(x) {
			continue
		}
		if t, is := connOf(c, x); is {
			return t, true
		}
	}
	return inner, false
}

// tellWrapped says what to do about a connection that has another one of the sources in it: to hand queries on is of use only
// where that takes them.
func tellWrapped(c *code, outer, inner connType, p *preparing, iface string, f *Finding) {
	var takes, not []string
	for _, exec := range []bool{false, true} {
		if !exec && !p.queries || exec && !p.execs {
			continue
		}
		if has, known := inner.has(inner.name, directMethods[exec], maxEmbedded); has {
			takes = append(takes, directMethods[exec][0])
		} else if known {
			not = append(not, directMethods[exec][0])
		}
	}
	f.Advice = fmt.Sprintf("Implement %s on %s, and pass the call on to the connection that it wraps where that has the method (a type assertion); return driver.ErrSkip where it has not.", iface, outer.name)
	if len(takes) > 0 {
		f.Evidence = append(f.Evidence, c.shownAt(inner.file, inner.line, "the connection that it wraps has %s", strings.Join(takes, " and ")))
	}
	if len(not) > 0 {
		f.Evidence = append(f.Evidence, c.shownAt(inner.file, inner.line, "the connection that it wraps has no %s either", strings.Join(not, " and ")))
		f.Advice = fmt.Sprintf("Implement %s on both %s and the connection that it wraps, %s: there, send the query with its arguments in one message, without a statement.", iface, outer.name, inner.name)
	}
}

// tellHas shows the methods that the connection has and that take no query here.
func (t connType) tellHas(found bool, p *preparing, f *Finding) {
	for _, exec := range []bool{false, true} {
		if !found || !exec && !p.queries || exec && !p.execs {
			continue
		}
		for _, d := range t.c.functions()[directMethods[exec][0]] {
			if folderOf(d.file) == t.folder && receiverType(d.FuncDecl) == t.name {
				line, _ := t.c.parse(d.file).lines(d.FuncDecl)
				f.Evidence = append(f.Evidence, t.c.shownAt(d.file, line, "the connection has %s: it returns driver.ErrSkip for these queries, or something that wraps the connection hides it", directMethods[exec][0]))
			}
		}
	}
}

// tellMySQL names the option of a driver that returns driver.ErrSkip for queries with arguments.
func tellMySQL(way preparedWay, f *Finding, with string) {
	for _, x := range append([]stack.Frame{way.conn}, way.more...) {
		if strings.HasPrefix(x.Func, "github.com/go-sql-driver/mysql.") {
			f.Advice += with + "github.com/go-sql-driver/mysql prepares each query that has arguments unless interpolateParams=true is in its DSN: then it puts them into the text itself, which it refuses with the encodings big5, cp932, gb2312, gbk and sjis, where that would not be safe."
			return
		}
	}
}

// needed are the methods that take the queries which were seen, and their interfaces.
func (p *preparing) needed() (methods, interfaces string) {
	switch {
	case p.queries && p.execs:
		return "QueryContext or ExecContext", "driver.QueryerContext and driver.ExecerContext"
	case p.execs:
		return "ExecContext", "driver.ExecerContext (and driver.QueryerContext)"
	}
	return "QueryContext", "driver.QueryerContext (and driver.ExecerContext)"
}

// hasAny is has for the type itself, where the sources have it.
func (t connType) hasAny(found bool, methods [2]string) (has, known bool) {
	if !found {
		return false, false
	}
	return t.has(t.name, methods, maxEmbedded)
}

// typeOfMethod is the type of a method, in short: "mysql.mysqlConn".
func typeOfMethod(function string) string {
	short := stack.Short(function)
	if i := strings.LastIndexByte(short, '.'); i > 0 {
		short = short[:i]
	}
	return strings.NewReplacer("(*", "", ")", "").Replace(short)
}

// hidingConn finds a type of the sources that stands in for any connection, with the methods of driver.Conn and no others:
// no frame shows it where it declares no method of its own for what is called.
func hidingConn(c *code, p *preparing) (hider connType, ok bool) {
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			g, isGen := d.(*ast.GenDecl)
			if ok || !isGen {
				continue
			}
			for _, x := range g.Specs {
				spec, isType := x.(*ast.TypeSpec)
				if !isType || ok || !embedsConn(s.file, spec) {
					continue
				}
				t := connType{c: c, folder: folderOf(file), name: spec.Name.Name, file: file, wraps: true}
				prepares := t.declares("Prepare", "PrepareContext")
				query, knowQuery := t.has(t.name, directMethods[false], maxEmbedded)
				exec, knowExec := t.has(t.name, directMethods[true], maxEmbedded)
				hides := p.queries && knowQuery && !query || p.execs && knowExec && !exec
				if t.line, _ = s.lines(spec); hides && !prepares {
					hider, ok = t, true
				}
			}
		}
	})
	return hider, ok
}

// declares tells whether a type has a method of its own of one of some names.
func (t connType) declares(methods ...string) bool {
	for _, method := range methods {
		for _, d := range t.c.functions()[method] {
			if folderOf(d.file) == t.folder && receiverType(d.FuncDecl) == t.name {
				return true
			}
		}
	}
	return false
}

// embedsConn tells of a struct that it has a connection of any driver in it without a name, so that it is one itself.
func embedsConn(file *ast.File, spec *ast.TypeSpec) bool {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 && ofDriver(file, field.Type) == "Conn" {
			return true
		}
	}
	return false
}
