package explain

import (
	"slices"
	"strings"

	"loupe/format/symbol"
)

// The versions of Go that differ in generic code.
const (
	generics   = 18
	dictSecond = 20 // the dictionary of a method stands behind its receiver
)

// asPrinted returns the parameters of a function of which Go prints the words. Of
// every function whose name has a bracket Go leaves out the first parameter, as if
// that were the dictionary with the types that generic code gets (EmitArgInfo in
// the compiler, up to Go 1.26 at least). In methods since Go 1.20 that is the
// receiver, and the dictionary is printed instead; in functions within functions it
// is whatever comes first.
func (m form) asPrinted(name string, params []symbol.Param, wordSize int) []symbol.Param {
	end := strings.LastIndexByte(name, ']')
	if end < 0 || m.version > 0 && m.version < generics || len(params) == 0 || params[0].Result {
		return params
	}
	shaped := strings.Contains(name, "go.shape.") || strings.Contains(name, "[...]")
	rest := strings.TrimPrefix(name[end+1:], ")")
	switch method := isMethod(rest); {
	case shaped && rest == "", shaped && method && m.version > 0 && m.version < dictSecond:
		return params // it was the dictionary
	case shaped && method:
		size := int64(wordSize)
		dict := symbol.Param{Name: ".dict", Type: &symbol.Type{Name: "dictionary", Kind: symbol.Pointer, Size: size, Align: size}}
		return append([]symbol.Param{dict}, params[1:]...)
	}
	return slices.Clone(params[1:])
}

// isMethod tells from what follows the type arguments of a function's name that it
// is a method of a generic type, and no function that stands within another one.
func isMethod(rest string) bool {
	name, ok := strings.CutPrefix(rest, ".")
	if !ok || strings.ContainsAny(name, ".-") {
		return false
	}
	for _, made := range []string{"func", "gowrap", "deferwrap"} {
		if number, ok := strings.CutPrefix(name, made); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return false
		}
	}
	return true
}
