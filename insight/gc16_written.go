package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/analysis/facts"
)

// What is encoded to be written at once: it is in use only until then.

// writtenAtOnce tells of a line that it encodes something to a local variable, with which nothing is done but to write it; end is where that is.
func writtenAtOnce(d *derivations, in frameCode, line int) (end codeLine, ok bool) {
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || ok || withinLit(around) || len(around) == 0 || !coversLine(d, call, line) {
			return
		}
		x := &encodedWhole{d: d, decl: in.decl, call: call, written: call.End(), feeds: map[types.Object]bool{}}
		if value, to := x.encodes(); value != nil && to == nil && x.writtenOnly(around) {
			end, ok = d.placeOf(atPos(x.written-1)), true
		}
	})
	return end, ok
}

// atPos is a place in the source.
type atPos token.Pos

// Pos is that place.
func (p atPos) Pos() token.Pos { return token.Pos(p) }

// End is where it begins as well.
func (p atPos) End() token.Pos { return token.Pos(p) }

// tellWrittenAtOnce says of what a line encodes and writes that it is not kept.
func tellWrittenAtOnce(in *Input, top *facts.Line, f *Finding) bool {
	d := derivationsOf(in.code)
	fn, ok := d.at(top.At)
	if !ok {
		return false
	}
	end, ok := writtenAtOnce(d, fn, top.At.Line)
	if !ok {
		return false
	}
	f.Summary += fmt.Sprintf("; according to the source, it is encoded there to be written, the last time at %s, and nothing keeps it: it was in use at the moment of the profile", end.text())
	f.Advice = "It takes the memory only until it is written. If the peak is too high, encode to the writer (json.NewEncoder) item by item, or write less at a time."
	return true
}
