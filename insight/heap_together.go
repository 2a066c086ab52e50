package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/holders"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/unit"
)

// together says what a few global variables hold with one another, where none of them holds most of it alone. at is the line that has allocated what
// is asked for, of which so many bytes of each size were in use; it is false where there are no such variables, or where they hold something else.
func (t heapTeller) together(f *Finding, at stack.Frame, sizes map[int64]int64, sum int64) bool {
	x := t.held.Together
	if x == nil {
		return false
	}
	names := namesTogether(x)
	what := fmt.Sprintf("according to the heap graph, %s %s %s of the %s in use", names, plural(len(x.Roots), "holds", "together hold"), unit.BytesOf(float64(x.Bytes)), unit.BytesOf(float64(t.held.Reached)))
	e := Evidence{Path: t.held.Entry.Path, Phase: t.held.Entry.Phase, Text: what}
	low, known := int64(0), at.File != "" && sum > 0
	for size, bytes := range sizes {
		all := t.held.Sizes[size]
		low += max(0, min(bytes, all)+x.Sizes[size]-all)
	}
	switch {
	case known && float64(low) >= mostOf*float64(sum):
		e.Text += fmt.Sprintf("; at least %s of the %s that this line had in use then", unit.Percent(float64(low)/float64(sum)), unit.BytesOf(float64(sum)))
		f.Summary += "; held by " + names
		if len(x.Roots) > 1 {
			f.Summary += " together"
		}
	case known && low == 0:
		return false
	case at.File != "":
		e.Text += "; it does not show whether that is what the line allocates"
	}
	f.Evidence = append(f.Evidence, e)
	if strings.HasPrefix(f.Advice, heldBy) {
		f.Advice = ""
		if low == 0 || float64(low) < mostOf*float64(sum) {
			f.Advice = "Begin with what holds most of the heap. "
		}
		f.Advice += t.adviceTogether(x, f)
	}
	return true
}

// plural is one of two forms.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// namesTogether names variables: "the global variables example.org/shop.open and .done".
func namesTogether(x *holders.Together) string {
	names := []string{}
	for i, k := range x.Roots {
		name := strings.TrimLeft(k.Root.Name, "*")
		if pkg := holders.PackageOf(name); i > 0 && pkg == holders.PackageOf(x.Roots[0].Root.Name) {
			name = strings.TrimPrefix(name, pkg)
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return "the global variable " + names[0]
	}
	return "the global variables " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// adviceTogether fits what the variables are.
func (t heapTeller) adviceTogether(x *holders.Together, f *Finding) string {
	one := len(x.Roots) == 1
	maps := !slices.ContainsFunc(x.Roots, func(k holders.Keeper) bool { return !strings.HasPrefix(k.Type, "map[") })
	text := ""
	switch {
	case maps && one:
		text = "It is a map: delete each entry when what it is for is over, or bound it (an LRU, a limit on its length), or let entries expire."
	case maps:
		text = "They are maps: delete each entry, from all of them, when what it is for is over, or bound them (an LRU, a limit on their length), or let entries expire. An entry that stays in one of them keeps what the others lead to as well."
	case one:
		text = "Look for what adds to it, in its several parts, and for what takes out of it again: bound it, or release what is no longer needed."
	default:
		text = "Look for what adds to them, and for what takes out again, which has to be done for all of them: bound them, or release what is no longer needed."
	}
	var packages []string
	for _, k := range x.Roots {
		if pkg := holders.PackageOf(k.Root.Name); !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	if len(packages) == 1 {
		text += ofDependency(t.in, packages[0], x.Roots[0].Type, f)
	}
	return text
}

// ofDependency says of a variable in a package that is not the program's own which module has it, and which calls of its functions may take entries
// out, by their names: its source does not belong to the recording. It shows where the program makes them.
func ofDependency(in *Input, pkg, of string, f *Finding) string {
	module := moduleOf(in, pkg)
	if module == "" || in.Session.Scope().IsUser(stack.Frame{Func: pkg + ".f"}) {
		return ""
	}
	text := fmt.Sprintf(" The package %s is in the module %s, a dependency", pkg, module)
	if calls := takesFromPackage(in.code, pkg); len(calls) > 0 {
		for _, e := range calls[:min(2, len(calls))] {
			if !shows(f, evidenceLine(e)) {
				f.Evidence = append(f.Evidence, e)
			}
		}
		text += fmt.Sprintf("; %s:%d calls a function of it whose name says that it takes something out: check that it takes out these entries, and is reached for each that is put in", baseName(calls[0].File), calls[0].Line)
	} else {
		text += ": look for its functions that take out what was put in (Clear, Delete, Remove, Purge), or for a setting that bounds it, and call them for each that is over"
	}
	switch key, _, _ := strings.Cut(strings.TrimPrefix(of, "map["), "]"); {
	case !strings.HasPrefix(of, "map[*"):
	case key == "*net/http.Request":
		text += ". The keys are pointers to requests: an entry goes only by the same pointer, and a copy, as WithContext and Clone of a request make, is another key"
	default:
		text += ". The keys are pointers: an entry goes only by the same pointer, and a copy of what it points to is another key"
	}
	return text + "."
}

// moduleOf is the module of a dependency that has a package, with its version: "example.org/lru v1.2.0"; empty where none is known.
func moduleOf(in *Input, pkg string) (module string) {
	best := 0
	for _, e := range in.Session.Manifest().Of(recording.BuildInfo) {
		info, err := session.BuildInfo(in.Session, e.Path)
		if err != nil {
			continue
		}
		for _, m := range info.Deps {
			if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > best {
				best, module = len(m.Path), m.Path+" "+m.Version
			}
		}
	}
	return module
}

// takesFromPackage are calls in the program's sources of functions of a package whose names say that they take something out.
func takesFromPackage(c *code, pkg string) (all []Evidence) {
	c.eachSource(func(file string, s *syntax) {
		name := importedAs(s.file, pkg)
		if name == "" {
			return
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if ok && isNamed(sel.X, name) && removes(sel.Sel.Name) {
					line, _ := s.lines(call)
					all = append(all, c.shownAt(file, line, "it calls %s here, which takes something out, by its name", sel.Sel.Name))
				}
				return true
			})
		}
	})
	return all
}
