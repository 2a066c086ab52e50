package static

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Type is a named type, or a name of an interface.
type Type struct {
	Name    string // "bytes.Buffer", of package main with the import path before it
	Package string
	File    string
	Line    int
	// Pointer tells that only a pointer to it implements the interface.
	Pointer bool
	// Interface tells that it is an interface that includes the other one.
	Interface bool
	// Local tells that it is declared within a function.
	Local bool
}

// Implemented is the answer of [Implements].
type Implemented struct {
	// Interface is what was asked for. Where its name has several meanings, Candidates has them,
	// and nothing else is set; where it has none, Near has names like it.
	Interface  Type
	Candidates []Type
	Near       []string
	// Methods are those that a type has to have, Terms tells that it is a constraint, which only
	// some types are permitted by.
	Methods []string
	Terms   bool
	// Kind is what the name means where that is no interface: "struct".
	Kind string
	// Generic tells that the interface has type parameters, and is none before it gets arguments.
	Generic bool
	Types   []Type
}

// Implements returns the types of packages that implement an interface, which these packages or
// one that they import declare, or any other that its full name tells: "io.Reader",
// "example.com/p.Store", "Store". With all it looks at the types of everything that is imported
// too. A generic type is held against the interface with its own type parameters.
func Implements(ctx context.Context, opt Options, name string, all bool) (a *Implemented, cached bool, err error) {
	l, err := opt.list(ctx)
	if err != nil {
		return nil, false, err
	}
	file := fmt.Sprintf("%s.%s-%v.types", l.key, hashOf(name), all)
	a = &Implemented{}
	if kept(opt.Cache, file, a) {
		return a, true, nil
	}
	patterns := opt.Patterns
	path := importPath(name)
	extra := path != "" && !l.paths[path] && opt.exists(ctx, path)
	if extra {
		patterns = append(slices.Clip(patterns), path)
	}
	opt.progress("type-checking %s", strings.Join(opt.Patterns, " "))
	loaded, err := opt.whole(ctx, patterns)
	if err != nil {
		return nil, false, err
	}
	roots := slices.DeleteFunc(slices.Clone(loaded), func(p *packages.Package) bool {
		return !slices.ContainsFunc(l.roots, func(q *packages.Package) bool { return p.ID == q.ID })
	})
	a = implementing(loaded, roots, name, all)
	if !extra { // the key says nothing of a package that was loaded for its interface alone
		opt.keepIfSame(ctx, l, file, a)
	}
	return a, false, nil
}

// importPath is the path in front of the name of a type; empty where there is none.
func importPath(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.LastIndexByte(name[slash:], '.'); dot > 0 {
		return name[:slash+dot]
	}
	return ""
}

// exists tells whether the go command knows a package, so that it can be loaded with others.
func (o *Options) exists(ctx context.Context, path string) bool {
	found, err := packages.Load(o.config(ctx, packages.NeedName|packages.NeedFiles), path)
	return err == nil && len(found) > 0 && len(found[0].Errors) == 0 && len(found[0].GoFiles) > 0
}

// declared is a type with where it is declared.
type declared struct {
	obj *types.TypeName
	Type
}

// implementing looks through packages that are loaded.
func implementing(loaded, roots []*packages.Package, name string, all bool) *Implemented {
	everything := declarations(loaded, nil)
	asked := map[string]bool{}
	for _, p := range roots {
		asked[p.ID] = true
	}
	own := declarations(loaded, asked)
	if name == "error" || name == "comparable" {
		obj, ok := types.Universe.Lookup(name).(*types.TypeName)
		if ok {
			everything = append(everything, declared{obj, Type{Name: name}})
		}
	}
	found := named(name, own, everything)
	a := &Implemented{}
	switch len(found) {
	case 0:
		a.Near = nearTypes(name, everything)
		return a
	case 1:
		a.Interface = found[0].Type
	default:
		for _, d := range found {
			a.Candidates = append(a.Candidates, d.Type)
		}
		return a
	}
	iface, ok := found[0].obj.Type().Underlying().(*types.Interface)
	if !ok {
		a.Kind = kindOf(found[0].obj.Type())
		return a
	}
	if n, ok := types.Unalias(found[0].obj.Type()).(*types.Named); ok && n.TypeParams().Len() > 0 {
		a.Generic = true
		return a
	}
	a.Terms = !iface.IsMethodSet()
	for i := range iface.NumMethods() {
		m := iface.Method(i)
		a.Methods = append(a.Methods, m.Name()+strings.TrimPrefix(types.TypeString(m.Type(), types.RelativeTo(m.Pkg())), "func"))
	}
	among := own
	if all {
		among = everything
	}
	for _, d := range among {
		if d.obj != found[0].obj && implements(&d, iface) {
			a.Types = append(a.Types, d.Type)
		}
	}
	return a
}

// implements holds a type, and a pointer to it, against an interface.
func implements(d *declared, iface *types.Interface) bool {
	typ := d.obj.Type()
	if n, ok := typ.(*types.Named); ok && n.TypeParams().Len() > 0 {
		args := make([]types.Type, n.TypeParams().Len())
		for i := range args {
			args[i] = n.TypeParams().At(i)
		}
		whole, err := types.Instantiate(nil, n, args, false)
		if err != nil {
			return false
		}
		typ = whole
	}
	if types.Implements(typ, iface) {
		d.Interface = types.IsInterface(typ)
		return true
	}
	d.Pointer = !types.IsInterface(typ) && types.Implements(types.NewPointer(typ), iface)
	return d.Pointer
}

// declarations are the types that packages declare, within functions too, in the order of their
// names. Of asked, if it is not nil, the packages with these IDs alone count. An alias is not a
// type of its own, nor is a type parameter.
func declarations(loaded []*packages.Package, asked map[string]bool) (out []declared) {
	seen := map[token.Position]bool{} // a package and its variant for tests
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if asked != nil && !asked[p.ID] || p.TypesInfo == nil {
			return
		}
		for _, obj := range p.TypesInfo.Defs {
			t, ok := obj.(*types.TypeName)
			if !ok || t.IsAlias() || t.Pkg() == nil {
				continue
			}
			if _, ok := t.Type().(*types.Named); !ok {
				continue
			}
			at := p.Fset.Position(t.Pos())
			if seen[at] {
				continue
			}
			seen[at] = true
			name := t.Pkg().Path() + "." + t.Name()
			if n, ok := t.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
				name += "[...]"
			}
			out = append(out, declared{t, Type{
				Name: name, Package: t.Pkg().Path(), File: at.Filename, Line: at.Line, Local: t.Parent() != t.Pkg().Scope(),
			}})
		}
	})
	slices.SortFunc(out, func(a, b declared) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// named finds the types that a name may mean: by the import path, by its last elements, or alone,
// where those of the packages that were asked for count first.
func named(name string, own, everything []declared) []declared {
	name, _, _ = strings.Cut(name, "[")
	bare := func(d declared) string { return strings.TrimSuffix(d.Name, "[...]") }
	pick := func(from []declared, fit func(declared) bool) (out []declared) {
		for _, d := range from {
			if fit(d) {
				out = append(out, d)
			}
		}
		return out
	}
	exact := func(d declared) bool { return bare(d) == name }
	short := func(d declared) bool {
		return strings.HasSuffix(bare(d), "/"+name) || d.obj.Pkg() != nil && d.obj.Pkg().Name()+"."+d.obj.Name() == name
	}
	alone := func(d declared) bool { return d.obj.Name() == name }
	for _, found := range [][]declared{pick(everything, exact), pick(own, short), pick(everything, short), pick(own, alone), pick(everything, alone)} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// nearTypes are interfaces with a name like the one that was not found.
func nearTypes(name string, everything []declared) (near []string) {
	last := strings.ToLower(name[strings.LastIndexAny(name, "./")+1:])
	const most = 5
	for _, equal := range []bool{true, false} {
		for _, d := range everything {
			own := strings.ToLower(d.obj.Name())
			if !types.IsInterface(d.obj.Type()) || (own == last) != equal || len(near) == most {
				continue
			}
			if equal || len(last) > 2 && (strings.Contains(own, last) || strings.Contains(last, own) && len(own) > 2) {
				near = append(near, d.Name)
			}
		}
	}
	return near
}

// kindOf is the word for what a type is.
func kindOf(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Signature:
		return "function type"
	case *types.Basic:
		return u.Name()
	case *types.Map:
		return "map"
	case *types.Slice:
		return "slice"
	case *types.Chan:
		return "channel"
	}
	return "type"
}
