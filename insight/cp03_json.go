package insight

import (
	"go/ast"
	"go/types"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp03 = &Rule{
	ID: "CP03", Title: "JSON or reflection takes much of the CPU",
	About: "encoding/json looks every value up by reflection, checks each document twice while decoding, and into an interface it makes a map of all that it finds. " +
		"Reflection that the program itself calls pays the same price, and so do encoding/binary and encoding/gob.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP03; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(
		&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "json", skip: []string{"startup", "logging"},
			what: "went into encoding/json", tell: tellJSON},
		&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "reflect", skip: []string{"startup", "logging"}, direct: true,
			what: "went into package reflect", tell: tellReflect},
		&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "binary", skip: []string{"startup", "logging"},
			what: "went into encoding/binary and encoding/gob", tell: tellBinary},
	),
}

// copiesByJSON tells whether the function of a line decodes what it, or a function that it
// calls for it, has just encoded.
func copiesByJSON(c *code, at stack.Frame) (copies bool) {
	fn := c.function(at)
	if fn == nil {
		return false
	}
	encodes := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			found = found || ok && types.ExprString(call.Fun) == "json.Marshal"
			return !found
		})
		return found
	}
	functions := c.functions()
	encoded := map[string]bool{}
	// made tells of an expression that it is a text that was encoded here.
	made := func(x ast.Expr) (found bool) {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || encoded[n.Name]
			case *ast.CallExpr:
				all := functions[lastName(types.ExprString(n.Fun))]
				found = found || encodes(n) || len(all) == 1 && encodes(all[0].Body) && text(all[0].Type)
			}
			return !found
		})
		return found
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Rhs) == 1 && made(n.Rhs[0]) {
				encoded[id.Name] = true
			}
		case *ast.CallExpr:
			copies = copies || types.ExprString(n.Fun) == "json.Unmarshal" && len(n.Args) == 2 && made(n.Args[0])
		}
		return true
	})
	return copies
}

// text tells of a function that its first result is a text.
func text(f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) == 0 {
		return false
	}
	of := types.ExprString(f.Results.List[0].Type)
	return of == "string" || of == "[]byte"
}

func tellJSON(h *hit, f *Finding) {
	if copiesByJSON(h.in.code, h.lines[0].Caller) {
		f.Advice = "The function encodes a value and decodes it again at once, which makes a copy of it: copy it by hand (assign the struct, and clone its slices and maps with slices.Clone and maps.Clone), or have a method for that generated. Where the types differ, assign the fields."
		return
	}
	switch callee := h.lines[0].Callee; callee {
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.(*Encoder).Encode":
		f.Advice = "Encode once and keep the bytes where the value has not changed; leave out fields that nobody reads; a type in the hot path can append itself (strconv.Append…) or have an encoder generated for it."
	case "encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode":
		f.Advice = "Decode into a struct with only the fields that are needed, not into a map or an interface; of large documents read a part with Decoder.Token; a type in the hot path can have a decoder generated for it."
	default:
		f.Advice = "Call it less often: " + callee + " runs over the whole document."
	}
	f.Doubts = append(f.Doubts, "a service whose work is to answer in JSON has to spend something here: compare it with the requests per second that it serves")
}

func tellBinary(h *hit, f *Finding) {
	f.Advice = "Put the fields in one by one, with binary.LittleEndian.AppendUint32 and its like, or PutUint32 into a buffer that is there: Read and Write of encoding/binary look at the type by reflection, " +
		"allocate, and hand over a few bytes at a time. Keep one gob.Encoder for each stream."
}

func tellReflect(h *hit, f *Finding) {
	if h.lines[0].Callee == "reflect.DeepEqual" {
		f.Advice = "Compare by hand: an Equal method that compares the fields with ==, slices.Equal and maps.Equal, the field first that differs most often. reflect.DeepEqual looks at each type anew and at every element."
		f.Doubts = append(f.Doubts, "DeepEqual tells a nil slice or map from an empty one, which slices.Equal and maps.Equal do not")
		return
	}
	f.Advice = "Do once what depends on the type alone (its fields, methods, conversions) and keep it by reflect.Type; replace what is hot by a type switch, an interface with a method, or a type parameter."
}
