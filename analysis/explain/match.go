package explain

import (
	"loupe/format/dump"
	"loupe/format/symbol"
)

// fitsShape tells whether words were printed as the binary says.
func fitsShape(args []dump.Arg, shape []symbol.ArgShape) bool {
	if len(args) != len(shape) {
		return false
	}
	for i, a := range args {
		s := shape[i]
		switch a.Kind {
		case dump.Word:
			if s.Kind != symbol.ArgWord || s.Size > 8 || s.Size < 8 && a.Value>>(8*s.Size) != 0 {
				return false
			}
		case dump.Aggregate:
			if s.Kind != symbol.ArgAggregate || !fitsShape(a.Fields, s.Fields) {
				return false
			}
		case dump.More:
			if s.Kind != symbol.ArgMore {
				return false
			}
		case dump.Far:
			if s.Kind != symbol.ArgFar {
				return false
			}
		}
	}
	return true
}

// isAggregate tells that the runtime prints values of the type in brackets.
func isAggregate(k symbol.Kind) bool {
	switch k {
	case symbol.String, symbol.Slice, symbol.Any, symbol.Interface, symbol.Struct, symbol.Array, symbol.Complex:
		return true
	}
	return false
}

// maxPrinted bounds the elements of an array that are looked at; the runtime
// prints ten words.
const maxPrinted = 16

// component returns the type of component i of an aggregate, nil behind the
// last. Those of strings and slices are words without a type of their own.
func component(t *symbol.Type, i int, wordSize int64) *symbol.Type {
	word := &symbol.Type{Name: "uintptr", Kind: symbol.Uint, Size: wordSize, Align: wordSize}
	switch t.Kind {
	case symbol.String, symbol.Any, symbol.Interface:
		if i < 2 {
			return word
		}
	case symbol.Slice:
		if i < 3 {
			return word
		}
	case symbol.Complex:
		if i < 2 {
			return &symbol.Type{Name: "float", Kind: symbol.Float, Size: t.Size / 2, Align: t.Size / 2}
		}
	case symbol.Array:
		if int64(i) < t.Len {
			return t.Elem
		}
	case symbol.Struct:
		if i < len(t.Fields) {
			return t.Fields[i].Type
		}
	}
	return nil
}

// fitsType tells whether a value of the type is printed like this. The shape is
// nil where the binary does not say how large a word is.
func fitsType(t *symbol.Type, a dump.Arg, s *symbol.ArgShape, wordSize int64) bool {
	switch {
	case a.Kind == dump.More || a.Kind == dump.Far:
		return true
	case t.Kind == symbol.Unknown:
		return true // of the source alone, whose types may be anywhere
	case isAggregate(t.Kind) != (a.Kind == dump.Aggregate):
		return false
	case a.Kind == dump.Word:
		if s != nil && int64(s.Size) != t.Size {
			return false
		}
		return t.Size >= 8 || t.Size <= 0 || a.Value>>(8*uint(t.Size)) == 0
	}
	more := false
	for i, f := range a.Fields {
		if f.Kind == dump.More {
			more = true
			break
		}
		c := component(t, i, wordSize)
		var cs *symbol.ArgShape
		if s != nil && i < len(s.Fields) {
			cs = &s.Fields[i]
		}
		if c == nil || !fitsType(c, f, cs, wordSize) {
			return false
		}
	}
	return more || component(t, len(a.Fields), wordSize) == nil
}

// align says which parameter each word is: at[i] is the position of that of
// args[i] in params, or -1 for one that params do not have. Before Go 1.26 the
// debug information leaves those without a name out. ok is false where there is
// no way, or more than one.
func align(params []symbol.Param, args []dump.Arg, shape []symbol.ArgShape, wordSize int64) (at []int, ok bool) {
	n := len(args)
	more := n > 0 && args[n-1].Kind == dump.More
	if more {
		n--
	}
	fits := func(p, a int) bool {
		var s *symbol.ArgShape
		if a < len(shape) {
			s = &shape[a]
		}
		return fitsType(params[p].Type, args[a], s, wordSize)
	}
	if len(params) == n || more && len(params) > n {
		at = make([]int, n)
		for i := range at {
			if at[i] = i; !fits(i, i) {
				return nil, false
			}
		}
		return at, true
	}
	if len(params) > n || more || n > maxPrinted {
		return nil, false
	}
	// Some are missing: the parameters must have one way to lie in the words.
	var found [][]int
	var try func(p, a int, at []int)
	try = func(p, a int, at []int) {
		switch {
		case len(found) > 1:
		case a == n:
			if p == len(params) {
				found = append(found, append([]int(nil), at...))
			}
		default:
			if p < len(params) && fits(p, a) {
				try(p+1, a+1, append(at, p))
			}
			if n-a > len(params)-p {
				try(p, a+1, append(at, -1))
			}
		}
	}
	try(0, 0, make([]int, 0, n))
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}
