package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// Which bytes a line decodes: what it is given is followed by the source outward, on the way that a stack of the profile
// has come, to the variable in which they were made.

// bytesPlace is a variable that has the bytes, or a part of one, in a function on the way.
type bytesPlace struct {
	root types.Object
	path string // of a part: ".Body"
}

// bytesStep is what a function on the way from a variable to a decoder calls.
type bytesStep struct {
	in   frameCode
	node ast.Node
	line stack.Frame
	// objs are the variables of the function through which the bytes go, fields the fields.
	objs   []types.Object
	fields []types.Object
}

// bytesDecode is a call that decodes, as one stack has come to it.
type bytesDecode struct {
	callee string
	steps  []*bytesStep // the innermost first
	// places have the bytes, the innermost first; at is the step of each.
	places []bytesPlace
	at     []int
	fields []types.Object // through which the bytes have come so far
	into   ast.Expr       // what it is decoded into; nil where that is not told
	maker  ast.Node       // what makes the reader, where it is read from one
	mode   string         // how it decodes; modeKnown tells whether that is seen
	// modeKnown is false where a caller decides on it.
	modeKnown bool
}

// bytesWay follows bytes on one stack.
type bytesWay struct {
	*derivations
	v      *view
	frames []stack.FrameID
	codes  map[stack.FrameID]*frameCode // nil where the source does not have it
}

// code is the function around a frame.
func (w *bytesWay) code(i int) (in frameCode, ok bool) {
	id := w.frames[i]
	c, asked := w.codes[id]
	if !asked {
		if in, ok := w.at(w.v.t.Frame(id)); ok {
			c = &in
		}
		w.codes[id] = c
	}
	if c == nil {
		return in, false
	}
	return *c, true
}

// Names of functions that decode a text that they are given, and of packages that have such.
var (
	bytesDecoders = lazily(`^(Unmarshal([A-Z][A-Za-z]*)?|Decode|Valid)$`)
	bytesPackages = lazily(`(?i)(json|yaml|xml|toml|proto|msgpack|cbor|bson|sonic)`)
)

// decodesText tells of a function of a library that it decodes a text.
func decodesText(fn string) bool {
	return bytesDecoders.MatchString(ownName(fn)) && bytesPackages.MatchString(stack.Package(fn))
}

// decode is the call that decodes at a place of the stack; nil where none is known.
func (w *bytesWay) decode(i int) *bytesDecode {
	if i == 0 || w.v.origins[w.frames[i]] != stack.User || w.v.origins[w.frames[i-1]] == stack.User {
		return nil
	}
	callee := stack.FoldGenerics(w.v.t.Frame(w.frames[i-1]).Func)
	if !decodesText(callee) {
		return nil
	}
	in, ok := w.code(i)
	if !ok {
		return nil
	}
	line := w.v.t.Frame(w.frames[i])
	calls := w.callsOn(in, line, ownName(callee))
	if len(calls) != 1 {
		return nil
	}
	of := &bytesDecode{callee: callee, steps: []*bytesStep{{in: in, node: calls[0], line: line}}}
	var text ast.Expr
	if text, of.into, of.maker = decodedText(w.derivations, in, calls[0]); text == nil {
		return nil
	}
	of.mode, of.modeKnown = bytesMode(w.derivations, in, calls[0], callee)
	w.follow(of, i, text, "", 0)
	if len(of.places) == 0 {
		return nil
	}
	return of
}

// decodedText is what a call decodes, what it is decoded into, and what makes the reader of it, where there is one.
func decodedText(d *derivations, in frameCode, call *ast.CallExpr) (text, into ast.Expr, maker ast.Node) {
	switch name := ownCallName(call); {
	case name == "Decode" && len(call.Args) == 1:
		on := ast.Unparen(receiverOf(call))
		if v := d.variable(on); v != nil {
			defs := d.definitions(in.decl)[v]
			if len(defs) != 1 || defs[0].x == nil || defs[0].ranged {
				return nil, nil, nil
			}
			on = ast.Unparen(defs[0].x)
		}
		if by, ok := on.(*ast.CallExpr); ok && ownCallName(by) == "NewDecoder" && len(by.Args) > 0 {
			text, maker := readBytes(d, in, by.Args[0])
			return text, call.Args[0], maker
		}
	case name == "UnmarshalRead" && len(call.Args) > 1:
		text, maker := readBytes(d, in, call.Args[0])
		return text, call.Args[1], maker
	case len(call.Args) == 1:
		return call.Args[0], nil, nil
	case len(call.Args) > 1:
		return call.Args[0], call.Args[1], nil
	}
	return nil, nil, nil
}

// bytesReaders make a reader of bytes.
var bytesReaders = []string{"bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader"}

// readBytes are the bytes that a reader reads, and the call that makes it; nil where it reads something else.
func readBytes(d *derivations, in frameCode, x ast.Expr) (text ast.Expr, maker ast.Node) {
	if v := d.variable(ast.Unparen(x)); v != nil {
		defs := d.definitions(in.decl)[v]
		if len(defs) != 1 || defs[0].x == nil || defs[0].ranged {
			return nil, nil
		}
		x = defs[0].x
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil, nil
	}
	switch name := types.ExprString(call.Fun); {
	case name == "io.NopCloser":
		return readBytes(d, in, call.Args[0])
	case slices.Contains(bytesReaders, name):
		return call.Args[0], call
	}
	return nil, nil
}

// sameBytes is an expression without what gives the same bytes: conversions, copies, and what takes white
// space away.
func sameBytes(d *derivations, x ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
			return ast.Unparen(x)
		}
		fun := ast.Unparen(call.Fun)
		tv, known := d.t.info.Types[fun]
		text := types.ExprString(fun)
		switch {
		case len(call.Args) == 1 && (known && tv.IsType() || strings.HasSuffix(text, ".RawMessage") || text == "string" || text == "[]byte"):
		case slices.Contains([]string{"bytes.Clone", "slices.Clone", "bytes.TrimSpace", "bytes.TrimLeft", "bytes.TrimRight", "strings.TrimSpace"}, text):
		default:
			return ast.Unparen(x)
		}
		x = call.Args[0]
	}
}

// maxBytesWay bounds how far bytes are followed.
const maxBytesWay = 24

// follow goes from an expression in the function at a place of the stack outward. path is the part of it that has the bytes.
func (w *bytesWay) follow(of *bytesDecode, i int, x ast.Expr, path string, depth int) {
	step := of.steps[len(of.steps)-1]
	base, path, fields, ok := w.part(x, path)
	v := w.variable(base)
	if !ok || v == nil || ofPackage(v) || depth > maxBytesWay {
		return
	}
	of.places, of.at = append(of.places, bytesPlace{v, path}), append(of.at, len(of.steps)-1)
	of.fields = append(of.fields, fields...)
	step.objs, step.fields = append(step.objs, v), append(step.fields, of.fields...)
	decl, lit := step.in.decl, step.in.lit
	defs := w.definitions(decl)[v]
	switch {
	case lit != nil && lit.Pos() <= v.Pos() && v.Pos() < lit.Body.Pos(): // whoever calls it gives that
	case lit != nil && v.Pos() < lit.Pos():
		if j, outer, ok := w.around(i, step.in); ok {
			of.steps = append(of.steps, &bytesStep{in: outer, node: lit, line: w.v.t.Frame(w.frames[j])})
			w.follow(of, j, base, path, depth+1)
		}
	case !isGiven(decl, v):
		if len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part && !defs[0].unknown {
			w.follow(of, i, defs[0].x, path, depth+1)
		}
	case slices.ContainsFunc(defs, func(def definition) bool { return !def.part && !def.unknown }): // another one by then
	default:
		w.outward(of, i, decl, v, path, depth)
	}
}

// outward follows what a function is given to who calls it: the program, or a decoder that hands on the whole text.
func (w *bytesWay) outward(of *bytesDecode, i int, decl *ast.FuncDecl, v types.Object, path string, depth int) {
	j := i + 1
	if j >= len(w.frames) {
		return
	}
	if w.v.origins[w.frames[j]] != stack.User {
		if j = nextUser(w.v, w.frames, j); j < 0 || path != "" || !handsWhole(w.v, w.frames[i+1:j]) || !strings.HasPrefix(decl.Name.Name, "Unmarshal") {
			return
		}
		outer := w.decode(j)
		if outer == nil || outer.maker != nil {
			return
		}
		for k, at := range outer.at {
			of.places, of.at = append(of.places, outer.places[k]), append(of.at, at+len(of.steps))
		}
		of.steps = append(of.steps, outer.steps...)
		return
	}
	in, ok := w.code(j)
	if !ok {
		return
	}
	line := w.v.t.Frame(w.frames[j])
	calls := w.callsOn(in, line, decl.Name.Name)
	if len(calls) != 1 {
		return
	}
	given := argumentFor(w.derivations, decl, calls[0], v)
	if given == nil {
		return
	}
	of.steps = append(of.steps, &bytesStep{in: in, node: calls[0], line: line})
	w.follow(of, j, given, path, depth+1)
}

// around is the function that a function without a name is in, where the stack has it: what is called back.
func (w *bytesWay) around(i int, in frameCode) (at int, outer frameCode, ok bool) {
	for j := i + 1; j < len(w.frames); j++ {
		if w.v.origins[w.frames[j]] != stack.User {
			continue
		}
		if outer, ok := w.code(j); ok && outer.decl == in.decl && outer.lit != in.lit && (outer.lit == nil || within(outer.lit, in.lit)) {
			return j, outer, true
		}
	}
	return -1, outer, false
}

// part is the variable that has the bytes of an expression, and the part of it.
func (w *bytesWay) part(x ast.Expr, path string) (base ast.Expr, of string, fields []types.Object, ok bool) {
	x = sameBytes(w.derivations, x)
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return e, path, fields, true
		case *ast.SelectorExpr:
			if f := w.field(e); f != nil {
				fields = append(fields, f)
			} else if w.t.fromPackage(e) != "" {
				return nil, "", nil, false
			}
			x, path = e.X, "."+e.Sel.Name+path
		case *ast.StarExpr:
			x, path = e.X, ".*"+path
		case *ast.UnaryExpr:
			rest, pointer := strings.CutPrefix(path, ".*")
			if e.Op != token.AND || !pointer && path == "" {
				return nil, "", nil, false
			}
			x, path = e.X, rest
		case *ast.IndexExpr:
			lit, is := ast.Unparen(e.Index).(*ast.BasicLit)
			if !is {
				return nil, "", nil, false
			}
			x, path = e.X, "["+lit.Value+"]"+path
		case *ast.CallExpr: // of a bytes.Buffer
			sel, is := e.Fun.(*ast.SelectorExpr)
			if !is || len(e.Args) > 0 || sel.Sel.Name != "Bytes" || w.t.callee(e) != nil {
				return nil, "", nil, false
			}
			x, path = sel.X, ".Bytes()"+path
		default:
			return nil, "", nil, false
		}
	}
}

// handsWhole tells of frames between a decoder that the program calls and a method of it that is given a text: that is all
// that the decoder has, and not a part. A decoder goes one value deeper for each part.
func handsWhole(v *view, frames []stack.FrameID) bool {
	values := 0
	for _, f := range frames {
		switch name := v.t.Frame(f).Func; {
		case name == "encoding/json.(*decodeState).value":
			values++
		case strings.HasPrefix(name, "encoding/json/v2.make") && !strings.HasPrefix(name, "encoding/json/v2.makeMethodArshaler"):
			return false
		case !strings.HasPrefix(name, "encoding/json") && !strings.HasPrefix(name, "reflect."):
			return false
		}
	}
	return values <= 1
}

// chainKey tells the way from a place of the bytes to the decoder from others.
func (of *bytesDecode) chainKey(known map[ast.Node]int, steps int) string {
	var key []byte
	for _, s := range of.steps[:steps+1] {
		n, ok := known[s.node]
		if !ok {
			n = len(known)
			known[s.node] = n
		}
		key = strconv.AppendInt(append(key, '/'), int64(n), 10)
	}
	return string(key)
}
