package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// What is encoded once more: bytes of JSON in a value, and one value for many receivers.

// muchReturned is the part of what encoding takes from which on the cause is that JSON which is there already is checked and
// copied. Chosen: most of it.
const muchReturned = 0.5

// tellEncodedAgain says of a line that encodes what is encoded already, or the same value for many; ok is false where it is
// neither.
func tellEncodedAgain(h *hit, f *Finding) (ok bool) {
	line := h.lines[0]
	copied, all := copiedJSON(h, line)
	loop, same := encodedInLoop(h, line)
	encoded := copied >= minHits && float64(copied) >= muchReturned*float64(all)
	if encoded {
		if float64(copied) >= muchReturned*float64(h.weight) {
			f.Title = "JSON that is encoded already is checked and copied again"
		}
		what, raw := encodedParts(h, line)
		f.Summary += fmt.Sprintf("; %s of what that line takes checks and copies JSON that is encoded already: %s", unit.Percent(float64(copied)/float64(all)), what)
		f.Advice = "Write these bytes as they are, instead of through package json, which checks and compacts whatever a MarshalJSON method returns, that of json.RawMessage included: put the text around them together by hand " +
			"(append `{\"data\":`, the bytes, and with strconv.Append… the few fields that differ), or keep the whole document encoded where nothing in it differs."
		f.Doubts = append(f.Doubts, "package json writes such bytes without white space, and escapes <, > and & unless it is told not to; written by hand they stay as they are, also where they are no JSON: what comes from outside has to be checked once (json.Valid)")
		if !raw {
			f.Doubts = append(f.Doubts, "a MarshalJSON method that puts its text together each time is better replaced by one that appends to the buffer of its caller")
		}
	}
	if same {
		f.Summary += fmt.Sprintf("; by the source, the loop at %s encodes the same value in each turn", loop.text())
		once := "Encode it once before the loop at " + loop.text() + ", and send the same bytes to all."
		if f.Advice == "" {
			f.Advice = once
		} else {
			f.Advice = once + " " + f.Advice
		}
		f.Doubts = append(f.Doubts, "what somebody changes in the value meanwhile, by other names than the source shows, would be another value in each turn")
	}
	return encoded || same
}

// copiedJSON counts the samples of a line, and those of them in which what a method has returned is gone through again.
func copiedJSON(h *hit, line *hitLine) (copied, all int64) {
	t := h.p.Stacks
	for id, n := range h.p.Samples(h.index) {
		frames := t.Frames(id)
		at := slices.IndexFunc(frames, func(f stack.FrameID) bool { return t.Frame(f) == line.Caller })
		if at <= 0 || stack.FoldGenerics(t.Frame(frames[at-1]).Func) != line.Callee {
			continue
		}
		all += n
		for i := at - 1; i > 0; i-- {
			if copiesReturned(t.Frame(frames[i]).Func, t.Frame(frames[i-1]).Func) {
				copied += n
				break
			}
		}
	}
	return copied, all
}

// copiesReturned tells of a function of package json, and what it calls, that this goes through what a MarshalJSON method
// has returned. With GOEXPERIMENT=jsonv2 they have other names.
func copiesReturned(by, calls string) bool {
	switch by {
	case "encoding/json.marshalerEncoder", "encoding/json.addrMarshalerEncoder":
		return calls == "encoding/json.appendCompact" || calls == "encoding/json.compact"
	}
	return strings.HasPrefix(by, "encoding/json/v2.makeMethodArshaler.") && strings.HasSuffix(calls, ".WriteValue") && strings.HasPrefix(calls, "encoding/json/jsontext.")
}

// encodedParts names what is encoded already in what a line encodes; raw tells that it is bytes of the type for that.
func encodedParts(h *hit, line *hitLine) (what string, raw bool) {
	for _, x := range codedValues(h, line) {
		var given []string // in a literal of a map, say
		ast.Inspect(x.x, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && x.d.t.typeOf(e) != nil && holdsRawMessage(x.d.t.typeOf(e)) && len(given) < 3 {
				given = append(given, types.ExprString(e))
				return false
			}
			return true
		})
		if _, lit := ast.Unparen(unrefer(ast.Unparen(x.x))).(*ast.CompositeLit); !lit {
			given = nil
		}
		of := x.d.t.typeOf(x.x)
		if of == nil {
			continue
		}
		fields, method := encodedIn(of, typesSeen{})
		switch {
		case len(fields) > 0:
			return "the json.RawMessage in " + andList(fields), true
		case len(given) > 0:
			return "the json.RawMessage " + andList(given), true
		case method != "":
			return "what MarshalJSON of " + method + " returns", false
		}
	}
	return "what a MarshalJSON method returns, as that of json.RawMessage does", false
}

// encodedIn finds in a type the fields that are encoded already, and a type that encodes itself; of too many types not all of them.
func encodedIn(of types.Type, seen typesSeen) (fields []string, method string) {
	if seen.again(of) {
		return nil, ""
	}
	named, _ := types.Unalias(of).(*types.Named)
	name := "the value"
	if named != nil {
		name = named.Obj().Name()
		if !isRawMessage(of) {
			if m, _, _ := types.LookupFieldOrMethod(of, true, named.Obj().Pkg(), "MarshalJSON"); m != nil {
				return nil, name
			}
		}
	}
	switch u := of.Underlying().(type) {
	case *types.Pointer:
		return encodedIn(u.Elem(), seen)
	case *types.Slice:
		if isRawMessage(of) {
			return []string{"it"}, ""
		}
		return encodedIn(u.Elem(), seen)
	case *types.Array:
		return encodedIn(u.Elem(), seen)
	case *types.Map:
		return encodedIn(u.Elem(), seen)
	case *types.Struct:
		var own []string
		for i := range u.NumFields() {
			f := u.Field(i)
			if holdsRawMessage(f.Type()) {
				own = append(own, f.Name())
				continue
			}
			more, by := encodedIn(f.Type(), seen)
			fields = append(fields, more...)
			if method == "" {
				method = by
			}
		}
		if len(own) > 0 {
			fields = append([]string{andList(own) + " of " + name}, fields...)
		}
	}
	return fields, method
}

// holdsRawMessage tells of a type that it is bytes of JSON, or several, or refers to them.
func holdsRawMessage(t types.Type) bool {
	if isRawMessage(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return isRawMessage(u.Elem())
	case *types.Slice:
		return isRawMessage(u.Elem())
	case *types.Map:
		return isRawMessage(u.Elem())
	}
	return false
}

// encodedInLoop finds a loop around a line, or what calls it, that goes through receivers and encodes the same value for each.
func encodedInLoop(h *hit, line *hitLine) (loop codeLine, ok bool) {
	v, frames, at := stackOf(h, line)
	d := newDerivations(h.in.code)
	in, found := d.at(line.Caller)
	if at < 0 || !found {
		return loop, false
	}
	calls := d.callsOn(in, line.Caller, lastName(line.Callee))
	if len(calls) != 1 || len(calls[0].Args) == 0 {
		return loop, false
	}
	w := &derivedWay{derivations: d, f: &derived{decl: in.decl}, dep: dependence{map[types.Object]bool{}, map[types.Object]bool{}, map[types.Object]bool{}}, call: calls[0]}
	if !w.resolves(calls[0].Args[0], w.dep.vars, 0) || !encodedReads(w) {
		return loop, false
	}
	if keptOverTurns(d, in, calls[0]) {
		return loop, false
	}
	rec, found, goes := w.outward(in, calls[0], nodesAround(in.body(), calls[0]))
	for i := at + 1; !found && goes && i < len(frames) && v.origins[frames[i]] == stack.User; i++ {
		frame := v.t.Frame(frames[i])
		outer, known := d.at(frame)
		if !known || !encodedReads(w) {
			return loop, false
		}
		rec, found, goes = w.through(outer, frame, in.decl, in.lit)
		in = outer
	}
	if !found || rec.kind != againSame {
		return loop, false
	}
	return rec.loop, goesThroughReceivers(d, in, rec.loop)
}

// keptOverTurns tells of a call that a condition decides whether it is made, and that its result stays for the next turns of
// a loop around that.
func keptOverTurns(d *derivations, in frameCode, call *ast.CallExpr) bool {
	around := nodesAround(in.body(), call)
	loop, asked := ast.Node(nil), false
	for i, n := range around[:len(around)-1] {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop, asked = n, false
		case *ast.IfStmt:
			asked = asked || around[i+1] == ast.Node(n.Body) || around[i+1] == n.Else
		case *ast.AssignStmt:
			if asked && loop != nil && slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool {
				v := d.variable(x)
				return v != nil && !isError(v.Name()) && (v.Pos() < loop.Pos() || v.Pos() >= loop.End())
			}) {
				return true
			}
		}
	}
	return false
}

// encodedReads adds to what is depended on all that an encoder reads of the variables; false where that is not known.
func encodedReads(w *derivedWay) bool {
	seen, known := typesSeen{}, true
	var reads func(t types.Type, field bool)
	reads = func(t types.Type, field bool) {
		if seen.again(t) {
			return
		}
		switch u := t.Underlying().(type) {
		case *types.Basic:
			known = known && (field || u.Kind() != types.Invalid)
		case *types.Pointer:
			reads(u.Elem(), field)
		case *types.Slice:
			reads(u.Elem(), field)
		case *types.Array:
			reads(u.Elem(), field)
		case *types.Map:
			reads(u.Elem(), field)
		case *types.Struct:
			for i := range u.NumFields() {
				w.dep.reads[u.Field(i).Origin()] = true
				reads(u.Field(i).Type(), true)
			}
		case *types.Chan, *types.Signature:
			known = false
		}
	}
	for v := range w.dep.vars {
		reads(v.Type(), false)
	}
	return known && !seen.full()
}

// goesThroughReceivers tells of a loop that it goes through the elements of something and uses them: what it does is for
// each of these. One that waits for the next turn has another value by then.
func goesThroughReceivers(d *derivations, in frameCode, at codeLine) (found bool) {
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok || d.placeOf(r) != at {
			return !found
		}
		of := d.t.typeOf(r.X)
		if of == nil {
			return true
		}
		switch of.Underlying().(type) {
		case *types.Map, *types.Slice, *types.Array, *types.Pointer:
			found = slices.ContainsFunc([]ast.Expr{r.Key, r.Value}, func(x ast.Expr) bool {
				v := types.Object(nil)
				if x != nil {
					v = d.variable(x)
				}
				return v != nil && derivedMentions(d, r.Body, v)
			})
		}
		return !found
	})
	return found
}
