package insight

import (
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// decodeAdvice is what to do about decoding, by what the line decodes into.
func decodeAdvice(h *hit) string {
	const part = "read only a part of large documents with Decoder.Token"
	const rest = part + "; use a generated decoder for a type in the hot path."
	switch decodesInto(h, h.lines[0]) {
	case aStruct:
		return "The time goes into the scan of the document and into setting each field by reflection. To try, the likeliest first: keep the result, if the same document comes again; leave out of the struct what nobody reads (it is scanned all the same); " + rest
	case aStructOfAny:
		return "The struct has fields of any type (interface, or slices and maps of it), so that each value in them is looked at by its kind and boxed: give them the types that they have, or keep them as json.RawMessage and decode each part right where it is used; keep the result where the same document comes again; " + part + "."
	case ofAnyType:
		return "Decode into a struct with only the needed fields, not into a map or an interface; " + rest
	case ofParts:
		return "What is decoded stays bytes here (json.RawMessage), so that the cost is the scan of the document, which a struct does not save: decode fewer bytes, or fewer times by keeping the result where the same document comes again; " + part + "."
	case ofUnknown:
		return "Fields are wanted here that the program does not name, so that a struct alone does not do: the cost is the scan of the document and a value for each field. Decode into a map[string]json.RawMessage, and of that only the fields that are read; decode fewer bytes, or fewer times where the same document comes again; " + part + "."
	}
	return "Decode into a struct with only the needed fields, if it is a map or an interface now; " + rest
}

// decodeTarget is what a document is decoded into.
type decodeTarget int

const (
	aTarget      decodeTarget = iota // not known
	aStruct                          // of fields that the program names
	aStructOfAny                     // of fields of which most have no type of their own
	ofAnyType                        // a map or an interface
	ofParts                          // bytes that somebody may decode later
	ofUnknown                        // a map of which the program goes through the keys
)

// decodesInto tells by the types of the source what a line decodes into.
func decodesInto(h *hit, line *hitLine) (of decodeTarget) {
	for i, x := range codedValues(h, line) {
		one := targetOf(x)
		if i > 0 && one != of {
			return aTarget // who calls it decides
		}
		of = one
	}
	return of
}

// targetOf is what an expression that a decoder is given is.
func targetOf(x codedValue) decodeTarget {
	of := x.d.t.typeOf(x.x)
	for depth := 0; of != nil && depth < 4; depth++ {
		if isRawMessage(of) {
			return ofParts
		}
		switch t := of.Underlying().(type) {
		case *types.Pointer:
			of = t.Elem()
		case *types.Slice:
			of = t.Elem()
		case *types.Array:
			of = t.Elem()
		case *types.Struct:
			if mostlyAny(t) {
				return aStructOfAny
			}
			return aStruct
		case *types.Map:
			if _, named := t.Elem().Underlying().(*types.Struct); named {
				return aStruct
			}
			switch {
			case isRawMessage(t.Elem()):
				return ofParts
			case wantsUnknown(x):
				return ofUnknown
			}
			return ofAnyType
		case *types.Interface:
			if depth == 0 {
				return aTarget // whatever its caller gives
			}
			return ofAnyType
		default:
			return aTarget
		}
	}
	return aTarget
}

// mostlyAny tells of a struct that at least half of what a decoder fills in it are values of any type, or lists of such.
func mostlyAny(t *types.Struct) bool {
	anys, all := 0, 0
	for f := range t.Fields() {
		if !f.Exported() {
			continue
		}
		all++
		of, seen := f.Type(), typesSeen{}
		for deeper := true; deeper && !seen.again(of); {
			switch u := of.Underlying().(type) {
			case *types.Pointer:
				of = u.Elem()
			case *types.Slice:
				of = u.Elem()
			case *types.Array:
				of = u.Elem()
			case *types.Map:
				of = u.Elem()
			case *types.Interface:
				deeper = false
				anys++
			default:
				deeper = false
			}
		}
	}
	return anys > 0 && 2*anys >= all
}

// isRawMessage tells of a type that it is json.RawMessage.
func isRawMessage(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "RawMessage" && named.Obj().Pkg() != nil && named.Obj().Pkg().Name() == "json"
}

// wantsUnknown tells of a map that a decoder is given that its function goes through the keys, or takes known ones out.
func wantsUnknown(x codedValue) (found bool) {
	v := x.d.variable(ast.Unparen(unrefer(ast.Unparen(x.x))))
	if v == nil {
		return false
	}
	is := func(e ast.Expr) bool { return x.d.variable(ast.Unparen(e)) == v }
	ast.Inspect(x.in.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || is(n.X)
		case *ast.CallExpr:
			found = found || (isNamed(n.Fun, "delete") || x.d.t.fromPackage(n.Fun) == "maps") && slices.ContainsFunc(n.Args, is)
		}
		return !found
	})
	return found
}

// codedValue is what a line gives an encoder or a decoder as the value, in the function that names it.
type codedValue struct {
	d  *derivations
	in frameCode
	x  ast.Expr
}

// codedValues are those of a line: of one in a function that is given the value, those of its callers on the stacks.
func codedValues(h *hit, line *hitLine) (all []codedValue) {
	v, d := h.in.view(h.p), newDerivations(h.in.code)
	seen := map[ast.Expr]bool{}
	for id := range h.p.Samples(h.index) {
		frames := h.p.Stacks.Frames(id)
		at := slices.IndexFunc(frames, func(f stack.FrameID) bool { return h.p.Stacks.Frame(f) == line.Caller })
		if at < 0 {
			continue
		}
		if x, ok := codedValueOn(d, v, frames, at, line); ok && !seen[x.x] {
			seen[x.x] = true
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b codedValue) int { return int(a.x.Pos() - b.x.Pos()) })
	return all
}

// codedValueOn is that of one stack.
func codedValueOn(d *derivations, v *view, frames []stack.FrameID, at int, line *hitLine) (x codedValue, ok bool) {
	in, ok := d.at(line.Caller)
	if !ok {
		return x, false
	}
	for _, call := range d.callsOn(in, line.Caller, lastName(line.Callee)) {
		if n := len(call.Args); n > 0 {
			x = codedValue{d, in, call.Args[n-1]}
			if lastName(line.Callee) == "MarshalIndent" {
				x.x = call.Args[0]
			}
		}
	}
	for x.x != nil {
		given := d.variable(ast.Unparen(x.x))
		if given == nil || x.in.lit != nil || !isGiven(x.in.decl, given) || at+1 >= len(frames) || v.origins[frames[at+1]] != stack.User {
			break
		}
		of := given.Type()
		if _, any := of.Underlying().(*types.Interface); !any {
			break
		}
		at++
		outer, ok := d.at(v.t.Frame(frames[at]))
		if !ok {
			break
		}
		calls := d.callsOn(outer, v.t.Frame(frames[at]), x.in.decl.Name.Name)
		if len(calls) != 1 {
			break
		}
		arg := argumentFor(d, x.in.decl, calls[0], given)
		if arg == nil {
			break
		}
		x = codedValue{d, outer, arg}
	}
	return x, x.x != nil
}
