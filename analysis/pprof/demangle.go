package pprof

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Demangle gives readable names to functions of C++ and Rust. The mode is that
// of -symbolize=demangle: "" leaves out parameters, template arguments and
// return types, "templates" parameters and return types, "full" nothing, and
// "none" changes no name. With force names that were there already are made
// again from the linker's.
//
// Note: as in pprof, a Go name with type arguments is taken for one of C++ and
// loses what stands in parentheses: "f[interface { String() string }]" is
// printed as "f[interface { String string }]".
func Demangle(p *profile.Profile, mode string, force bool) *profile.Profile {
	var options []demangle.Option
	switch mode {
	case "":
		options = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams}
	case "templates":
		options = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams}
	case "full":
		options = []demangle.Option{demangle.NoClones}
	}
	if p.Stacks == nil {
		return p
	}
	type name struct{ function, system string }
	known := map[name]string{}
	changed := false
	for id := range p.Stacks.NumFrames() {
		f := p.Stacks.Frame(stack.FrameID(id))
		n := name{f.Func, f.System}
		if _, ok := known[n]; !ok {
			known[n] = demangled(f.Func, f.System, options, force)
			changed = changed || known[n] != f.Func
		}
	}
	if !changed {
		return p
	}
	return p.Rename(func(f *stack.Frame) string { return known[name{f.Func, f.System}] })
}

func demangled(function, system string, options []demangle.Option, force bool) string {
	if force && function != "" && system != "" {
		function = system
	}
	if len(options) == 0 || function != "" && function != system {
		return function
	}
	if !strings.HasPrefix(system, "_") && !strings.HasPrefix(system, "$") && !strings.HasPrefix(system, "?") {
		return withoutArguments(system, options) // nothing to demangle
	}
	if s := demangle.Filter(system, options...); s != system {
		return s
	}
	// On macOS every symbol has another underscore in front.
	if bare, ok := strings.CutPrefix(system, "_"); ok {
		if s := demangle.Filter(bare, options...); s != bare {
			return s
		}
	}
	return withoutArguments(system, options)
}

// withoutArguments shortens a name that was demangled by somebody else.
func withoutArguments(name string, options []demangle.Option) string {
	// "class.<init>" is Java, "p.(*T[...]).M" is Go.
	if strings.Contains(name, ".<") || strings.Contains(name, "]).") || !strings.ContainsAny(name, "<>[]") && !strings.Contains(name, "::") {
		return name
	}
	for _, o := range options {
		switch o {
		case demangle.NoParams:
			name = withoutPairs(name, '(', ')')
		case demangle.NoTemplateParams:
			name = withoutPairs(name, '<', '>')
		}
	}
	return name
}

// withoutPairs removes brackets and what is between them. From the first one
// that does not match on the name stays as it is.
func withoutPairs(name string, open, close byte) string {
	var out []byte
	depth, first := 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == open:
			if depth++; depth == 1 {
				first = i
			}
		case c == close && depth == 0:
			return string(out) + name[i:]
		case c == close:
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	if depth > 0 {
		return string(out) + name[first:]
	}
	return string(out)
}
