package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What the source shows of a json.Decoder that is created for each message: its settings, which json.Unmarshal does not have, and what it reads.

// decoderSettings are methods of a json.Decoder that json.Unmarshal has nothing for.
var decoderSettings = []string{"UseNumber", "DisallowUnknownFields"}

// madeDecoder is a decoder that a function makes.
type madeDecoder struct {
	known  bool     // it is one of the function
	sets   []string // its settings
	memory bool     // it reads what is in memory as a whole
	stream bool     // each turn of a loop makes one for the same reader
}

// decoderAt is the decoder that a line makes or uses.
func decoderAt(c *code, at stack.Frame) (d madeDecoder) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return d
	}
	names := map[string]bool{}
	for _, call := range c.lineCalls(at) {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			names[rootName(sel.X)] = true
		}
	}
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || types.ExprString(call.Fun) != "json.NewDecoder" || len(call.Args) != 1 {
			return
		}
		name := ""
		if a, ok := around[len(around)-1].(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			name = types.ExprString(a.Lhs[0])
		}
		if line, _ := s.lines(call); line != at.Line && !names[name] {
			return
		}
		d.known = true
		if from, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok && slices.Contains([]string{"bytes.NewReader", "bytes.NewBuffer", "strings.NewReader", "bytes.NewBufferString"}, types.ExprString(from.Fun)) {
			d.memory = true
		}
		if i := innermostLoop(around); i >= 0 && isIdent(call.Args[0]) {
			over, ranges := around[i].(*ast.RangeStmt)
			name, body := rootName(call.Args[0]), bodyOfLoop(around[i])
			d.stream = !(ranges && (isNamed(over.Key, name) || isNamed(over.Value, name))) && !declares(body, name) && !givenIn(body, name)
		}
		ast.Inspect(fn.body, func(n ast.Node) bool {
			set, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(decoderSettings, calledName(set)) {
				return true
			}
			if sel, ok := set.Fun.(*ast.SelectorExpr); ok && types.ExprString(sel.X) == name && !slices.Contains(d.sets, sel.Sel.Name) {
				d.sets = append(d.sets, sel.Sel.Name)
			}
			return true
		})
	})
	return d
}

// setsAnywhere are the settings that any decoder of the sources has.
func setsAnywhere(c *code) (all []string) {
	for _, name := range decoderSettings {
		if len(c.callsIn(name, func(_ *ast.File, call *ast.CallExpr) bool { return calledName(call) == name && len(call.Args) == 0 })) > 0 {
			all = append(all, name)
		}
	}
	return all
}

// lostWithout says what another way to decode does without some settings.
func lostWithout(sets []string) string {
	var all []string
	if slices.Contains(sets, "UseNumber") {
		all = append(all, "numbers become float64 there, which has no more than 53 bits for an integer")
	}
	if slices.Contains(sets, "DisallowUnknownFields") {
		all = append(all, "unknown fields are no error there")
	}
	return strings.Join(all, ", and ")
}

// tellDecoder says what to do about a json.Decoder for every message.
func tellDecoder(h *hit, f *Finding) {
	const trailing = "json.Unmarshal checks that nothing follows the value, a Decoder does not"
	d := madeDecoder{}
	for _, line := range h.lines[:min(1, len(h.lines))] {
		d = decoderAt(h.in.code, line.Caller)
	}
	read := "Read the message into a reusable buffer and call json.Unmarshal"
	if d.memory {
		read = "The message is in memory as a whole: call json.Unmarshal with it"
	}
	switch {
	case d.stream:
		f.Advice = "Keep one json.Decoder for the whole stream: its buffer then grows only once, and what it has read ahead is not lost."
	case len(d.sets) > 0:
		of := strings.Join(d.sets, " and ")
		f.Advice = "The decoder has " + of + " set, which json.Unmarshal does not have (" + lostWithout(d.sets) + "): it is no way to do without the decoder here, unless the type that is decoded into takes care of that. " +
			"Decode less often: hand on what was decoded, and do not encode a value only to decode it again."
		if slices.Contains(d.sets, "UseNumber") {
			f.Advice = strings.Replace(f.Advice, "takes care of that.", "takes care of that (fields of type json.Number or int64).", 1)
		}
	default:
		f.Advice = read + ": a decoder has a buffer of its own, which grows anew for each message. Only where many messages follow each other on one reader, keep one json.Decoder for all of them."
		if d.memory {
			f.Advice = read + ": a decoder copies it into a buffer of its own, which grows anew for each message."
		}
		f.Doubts = append(f.Doubts, trailing)
		if some := setsAnywhere(h.in.code); !d.known && len(some) > 0 {
			f.Doubts = append(f.Doubts, "decoders of this program have "+strings.Join(some, " and ")+" set, which json.Unmarshal does not have: "+lostWithout(some))
		}
	}
}
