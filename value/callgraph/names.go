package callgraph

import (
	"slices"
	"strings"
)

// Find returns the functions that a name may mean. It takes what Go prints ("main.run",
// "net/http.(*conn).serve"), the same with the import path of a package main, and shorter forms:
// "http.(*conn).serve", "(*conn).serve", "conn.serve" and "serve". The longest form that fits
// anything counts; for those without a package, functions that were asked for count before those
// of dependencies. More than one result means that the name is ambiguous, none that it is unknown.
func (g *Graph) Find(name string) []int {
	name = fold(name)
	fits := []func(f *Function) bool{
		func(f *Function) bool { return f.Path() == name },
		func(f *Function) bool { return f.Name == name },
		func(f *Function) bool { return strings.HasSuffix(f.Path(), "/"+name) },
		func(f *Function) bool { return f.Asked && isLocal(f, name) },
		func(f *Function) bool { return isLocal(f, name) },
	}
	for _, fit := range fits {
		if found := g.all(fit); len(found) > 0 {
			return found
		}
	}
	return nil
}

func (g *Graph) all(fit func(f *Function) bool) (found []int) {
	for i := range g.Functions {
		if fit(&g.Functions[i]) {
			found = append(found, i)
		}
	}
	return found
}

// Path is the name with the whole import path, for package main too:
// "example.com/cmd/server.run".
func (f *Function) Path() string { return f.Package + "." + f.Local() }

// Local is the name without its package: "(*conn).serve".
func (f *Function) Local() string {
	slash := strings.LastIndexByte(beforeAny(f.Name, "[("), '/') + 1
	_, local, _ := strings.Cut(f.Name[slash:], ".")
	if rest, ok := strings.CutPrefix(f.Name, escape(f.Package)+"."); ok {
		return rest
	}
	return local
}

// escape writes a path as the linker does: dots of its last element as %2e, and the other bytes
// that it has an escape for (cmd/internal/objabi, PathToPrefix).
func escape(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	if !strings.ContainsAny(path[slash:], ".%\"") {
		return path
	}
	return path[:slash] + strings.NewReplacer("%", "%25", ".", "%2e", `"`, "%22").Replace(path[slash:])
}

// Symbol puts a name together as the linker writes it.
func Symbol(path, local string) string { return escape(path) + "." + local }

func beforeAny(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}

// isLocal tells whether a function has the name within its package, or its method.
func isLocal(f *Function, name string) bool {
	local := f.Local()
	if local == name {
		return true
	}
	plain := plainReceiver(local)
	if plain == name {
		return true
	}
	_, method, ok := strings.Cut(plain, ".")
	return ok && method == name && !isClosure(method)
}

// isClosure tells whether what stands behind a function's name is a part of that function.
func isClosure(part string) bool {
	return strings.HasPrefix(part, "func") && strings.Trim(part[len("func"):], "0123456789.") == ""
}

// plainReceiver writes "(*T).M" as "T.M".
func plainReceiver(local string) string {
	if rest, ok := strings.CutPrefix(local, "(*"); ok {
		return strings.Replace(rest, ")", "", 1)
	}
	return local
}

// fold writes type arguments as [...], like the names of a graph.
func fold(name string) string {
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open <= 0 || end < open {
		return name
	}
	return name[:open] + "[...]" + name[end+1:]
}

// Near returns at most so many names that look like one that was not found: those of functions
// with the same method or function name in other case, and those that hold it.
func (g *Graph) Near(name string, most int) (near []string) {
	_, last, _ := cutLast(fold(name))
	last = strings.ToLower(strings.TrimPrefix(last, "("))
	for _, equal := range []bool{true, false} {
		for _, asked := range []bool{true, false} {
			for i := range g.Functions {
				f := &g.Functions[i]
				_, own, _ := cutLast(f.Local())
				own = strings.ToLower(own)
				same := own == last
				if f.Asked != asked || same != equal || !same && (len(last) < 3 || !strings.Contains(own, last)) {
					continue
				}
				if !slices.Contains(near, f.Name) {
					near = append(near, f.Name)
				}
				if len(near) == most {
					return near
				}
			}
		}
	}
	return near
}

// cutLast cuts at the last dot outside of type arguments.
func cutLast(name string) (before, last string, ok bool) {
	name = strings.ReplaceAll(name, "[...]", "")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return "", name, false
}

// Names are the names of the functions that were asked for.
func (g *Graph) Names() (all []string) {
	for i := range g.Functions {
		if f := &g.Functions[i]; f.Asked {
			all = append(all, f.Name, f.Local(), plainReceiver(f.Local()))
		}
	}
	return all
}
