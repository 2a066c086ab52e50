package stack

import "strings"

// Package returns the import path of the package that declares a function:
// "github.com/a/b" for "github.com/a/b.(*T).M". It is "" for symbols without
// a package: assembly helpers, C functions, "[vdso]".
//
// The name is what runtime.Func.Name returns: the path with the dots of its
// last element written as %2e, a dot, and the rest, in which type arguments
// may hold any other path (cmd/internal/objabi, PathToPrefix).
func Package(function string) string {
	path, _ := split(function)
	return unescape(path)
}

// Short returns the function name without the directories of its package:
// "b.(*T).M" for "github.com/a/b.(*T).M". A major version that ends the path
// is no name either: "y.F" for "example.com/y/v2.F".
func Short(function string) string {
	path, rest := split(function)
	if path == "" {
		return function
	}
	dir, base := cutLast(path)
	if isVersion(base) && dir != "" {
		_, base = cutLast(dir)
	}
	return unescape(base) + "." + rest
}

// Local returns the function name without its package: "(*T).M" for
// "github.com/a/b.(*T).M".
func Local(function string) string {
	path, rest := split(function)
	if path == "" {
		return function
	}
	return rest
}

// FoldGenerics replaces the type arguments of every generic function or type
// in the name by "[...]", as the runtime prints them in a traceback:
// "slices.SortFunc[go.shape.[]int,go.shape.int]" is "slices.SortFunc[...]".
// The spelled-out arguments (since Go 1.21) name the shape that the compiler
// has chosen, not the types of the call, and split one function into many.
func FoldGenerics(function string) string {
	open := strings.IndexByte(function, '[')
	if open <= 0 || strings.IndexByte(function[open:], ']') < 0 {
		return function // none, or a whole name in brackets such as "[vdso]"
	}
	var b strings.Builder
	depth, start := 0, 0
	for i := 0; i < len(function); i++ {
		switch function[i] {
		case '[':
			if depth == 0 {
				b.WriteString(function[start:i])
				start = i
			}
			depth++
		case ']':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				b.WriteString("[...]")
				start = i + 1
			}
		}
	}
	b.WriteString(function[start:])
	return b.String()
}

// Enclosing returns the declared function that a compiler-made one belongs to:
// "main.run" for the closures "main.run.func1.2", "main.run.gowrap1" and
// "main.run.deferwrap2", "main.run" for the loop body "main.run-range1" and
// "main.T.M" for the method value "main.T.M-fm". Any other name is returned as
// it is.
func Enclosing(function string) string {
	function = strings.TrimSuffix(function, "-fm")
	for {
		if i := strings.LastIndex(function, "-range"); i > 0 && isNumber(function[i+len("-range"):]) {
			function = function[:i]
		}
		i := strings.LastIndexByte(function, '.')
		if i <= 0 || !isClosure(function[i+1:]) {
			return function
		}
		parent := function[:i]
		// "main.func1" is a function with an odd name, "main.(*T).func1" such a
		// method, and "main.glob..func1" has no function around it.
		if path, _ := split(parent); path == "" || strings.HasSuffix(parent, ")") || strings.HasSuffix(parent, ".") {
			return function
		}
		function = parent
	}
}

func isClosure(part string) bool {
	for _, prefix := range []string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(part, prefix); ok && isNumber(rest) {
			return true
		}
	}
	return false
}

// split cuts a function name at the dot that ends its package path.
func split(function string) (path, rest string) {
	name := function
	// Compiler-made functions of types: type:.eq.example.com/a/b.T
	if kind, ok := strings.CutPrefix(name, "type:."); ok {
		if _, typ, ok := strings.Cut(kind, "."); ok {
			name = typ
		}
	}
	head := name
	if i := strings.IndexByte(head, '['); i >= 0 {
		head = head[:i]
	}
	// A pointer receiver stands in parentheses and may hold a path again.
	if i := strings.IndexByte(head, '('); i >= 0 {
		head = head[:i]
	}
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(head[slash:], '.')
	if dot < 0 {
		return "", function
	}
	return name[:slash+dot], name[slash+dot+1:]
}

func cutLast(path string) (dir, base string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

func isVersion(elem string) bool {
	rest, ok := strings.CutPrefix(elem, "v")
	return ok && isNumber(rest) && rest[0] != '0' && rest != "1"
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// unescape undoes the %xx of the linker.
func unescape(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			hi, lo := hexDigit(path[i+1]), hexDigit(path[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, path[i])
	}
	return string(b)
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// shape begins the names of the types that the compiler has chosen for the instances of a generic function.
const shape = "go.shape."

// FoldShapes writes a text for people without these names: type arguments that have one are "[...]", as in
// [FoldGenerics], and elsewhere "go.shape.[]int" is "[]int".
func FoldShapes(text string) string {
	if !strings.Contains(text, shape) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if end := argumentsEnd(text, i); end > 0 && strings.Contains(text[i:end], shape) {
			b.WriteString("[...]")
			i = end
			continue
		}
		b.WriteByte(text[i])
	}
	return strings.ReplaceAll(b.String(), shape, "")
}

// argumentsEnd is where the brackets close that open at a place of a text, if they may hold type arguments: behind a name
// that is not the word map. It is 0 where they do not.
func argumentsEnd(text string, open int) int {
	if text[open] != '[' || open == 0 || !isNameByte(text[open-1]) {
		return 0
	}
	if before := text[:open]; strings.HasSuffix(before, "map") && (len(before) == 3 || !isNameByte(before[len(before)-4])) {
		return 0
	}
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
