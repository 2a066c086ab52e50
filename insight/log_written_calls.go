package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Which loggers a call may be of, and what becomes of what each is given.

// writesAtOnce are packages that format or encode a record in the call that logs it: a level that is on shows below the call,
// whatever it is written to.
var writesAtOnce = []string{"log/slog", "log", "go.uber.org/zap", "github.com/sirupsen/logrus", "github.com/rs/zerolog", "k8s.io/klog", "github.com/golang/glog",
	"github.com/hashicorp/go-hclog", "github.com/go-logr/logr", "github.com/charmbracelet/log", "golang.org/x/exp/slog", "github.com/go-kit/log"}

// ofPackagePath tells of a package's path that it is one of some, or of a folder in it, or of a major version of it.
func ofPackagePath(path string, some []string) bool {
	return slices.ContainsFunc(some, func(of string) bool { return path == of || strings.HasPrefix(path, of+"/") })
}

// packageNames are the names by which sources call packages that write at once.
var packageNames = []string{"slog", "zap", "logrus", "zerolog", "klog", "glog", "hclog", "logr"}

// handlerMethods are methods by which a program's own type takes what one of these packages logs, by a type that they have.
var handlerMethods = map[string]string{"Handle": "slog.Record", "Write": "zapcore.Field", "Fire": "logrus.Entry", "Accept": "hclog.Level"}

// fate says what becomes of what the calls are given, by the loggers that they may be of.
func (c *loggedFor) fate(in *Input) logFate {
	d := newDerivations(in.code)
	g := &givenFate{d: d, seen: map[*ast.FuncDecl]bool{}}
	if len(c.sinks) == 0 {
		c.fateOf(in, g, c.file, c.first, c.last, c.fun)
	}
	for _, s := range c.sinks {
		c.fateOf(in, g, s.file, s.first, s.last, s.fun)
	}
	return g.logFate
}

// fateOf adds the fate of what one call is given.
func (c *loggedFor) fateOf(in *Input, g *givenFate, file string, first, last int, fun ast.Expr) {
	decl, call := callAmong(g.d, file, first, last, types.ExprString(fun))
	if call != nil {
		if fn := g.d.t.callee(call); fn != nil {
			decls := g.d.declsOf(fn)
			if len(decls) > 1 && c.fateOfSeen(in, g) {
				return
			}
			if len(decls) == 0 && !c.fateOfSeen(in, g) {
				g.note(fateOpen, call, "the source does not tell which logger that is")
			}
			for _, d := range decls {
				g.fateIn(d, call)
			}
			return
		}
	}
	switch own := methodsOf(in.code, decl, fun); {
	case c.fateOfSeen(in, g):
	case call != nil && writesAtOnceByText(g.d, decl, loggerOf(call)):
		g.handlers()
	case len(own) > 0 && len(own) <= effectNames:
		for _, o := range own {
			if one := typedDecl(g.d, o); one != nil {
				g.fateIn(one, call)
			}
		}
	case importsAny(g.d, file, writesAtOnce):
		g.handlers()
	default:
		g.note(fateOpen, nil, "the source does not tell which logger that is, and whether it writes at once")
	}
}

// fateOfSeen adds the fate that the functions have which samples show as called; it is false where they show none.
func (c *loggedFor) fateOfSeen(in *Input, g *givenFate) bool {
	for at := range c.loggers {
		path := stack.Package(at.Func)
		if f, ok := g.d.at(at); ok && f.lit == nil {
			g.fateIn(f.decl, nil)
		} else if ofPackagePath(path, writesAtOnce) {
			g.handlers()
		} else {
			g.note(fateOpen, nil, "%s is of another module, which may write later or elsewhere", stack.Short(at.Func))
		}
	}
	return len(c.loggers) > 0
}

// callAmong is the call of a text on some lines, with the function around it.
func callAmong(d *derivations, file string, first, last int, text string) (decl *ast.FuncDecl, found *ast.CallExpr) {
	in, ok := d.at(stack.Frame{File: file, Line: first})
	if !ok {
		return nil, nil
	}
	ast.Inspect(in.decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && found == nil && types.ExprString(call.Fun) == text {
			if line := d.placeOf(call).line; first <= line && line <= last {
				found = call
			}
		}
		return found == nil
	})
	return in.decl, found
}

// typedDecl is a declaration among the sources that are checked.
func typedDecl(d *derivations, of declaration) *ast.FuncDecl {
	s := d.c.parse(of.file)
	if s == nil {
		return nil
	}
	line, _ := s.lines(of.FuncDecl.Name)
	if in, ok := d.at(stack.Frame{File: of.file, Line: line}); ok {
		return in.decl
	}
	return nil
}

// loggerOf is what a chain of calls begins with: log of log.WithField(k, v).Debug.
func loggerOf(call *ast.CallExpr) ast.Expr {
	x := ast.Expr(call)
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.CallExpr:
			sel, ok := e.Fun.(*ast.SelectorExpr)
			if !ok {
				return e.Fun
			}
			x = sel.X
		default:
			return e
		}
	}
}

// writesAtOnceByText tells of what is called on that it is of a package which writes at once, by the package it names or by how its
// type is written.
func writesAtOnceByText(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	of := ""
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if p, ok := d.t.info.Uses[x].(*types.PkgName); ok {
			return ofPackagePath(p.Imported().Path(), writesAtOnce)
		}
		if decl != nil {
			of = typeNameOf(d.c, decl, x.Name)
		}
	case *ast.SelectorExpr:
		of = fieldType(d.c, x.Sel.Name)
	}
	pkg, _, selected := strings.Cut(of, ".")
	return selected && slices.Contains(packageNames, pkg)
}

// importsAny tells of a file that it imports one of some packages.
func importsAny(d *derivations, file string, some []string) bool {
	return slices.ContainsFunc(d.t.files, func(f typedFile) bool {
		return f.name == file && slices.ContainsFunc(f.file.Imports, func(i *ast.ImportSpec) bool { return ofPackagePath(strings.Trim(i.Path.Value, `"`), some) })
	})
}

// handlers adds what the program's own types do with the records of such a package: there the program may have put one of them
// behind the logger.
func (g *givenFate) handlers() {
	for fn, decl := range g.d.t.decls {
		of, ok := handlerMethods[fn.Name()]
		if ok && decl.Recv != nil && slices.ContainsFunc(decl.Type.Params.List, func(p *ast.Field) bool { return strings.HasSuffix(types.ExprString(p.Type), of) }) {
			g.fateIn(decl, nil)
		}
	}
	for _, f := range g.d.t.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || types.ExprString(call.Fun) != "slog.New" || len(call.Args) != 1 {
				return true
			}
			made, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
			if !ok {
				return true
			}
			if pkg := g.d.t.fromPackage(made.Fun); strings.Contains(pkg, ".") && g.d.t.callee(made) == nil && !ofPackagePath(pkg, handlersAtOnce) {
				g.note(fateOpen, call, "its handler is of another module, which may write later or elsewhere")
			}
			return true
		})
	}
}

// handlersAtOnce are packages with handlers of slog that write at once.
var handlersAtOnce = append([]string{"github.com/lmittmann/tint"}, writesAtOnce...)
