package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A library that writes to a buffer of the program: it copies because the buffer grows, and how large that is made is for the
// program to say.

// growingBuffer is a buffer of package bytes that the program has made and given to a library.
type growingBuffer struct {
	name  string
	made  codeLine
	given codeLine
	sent  *sentWhole // if it need not be in memory as a whole
}

// says is what the samples and the source show of it.
func (b growingBuffer) says() string {
	return fmt.Sprintf("most of that is a buffer (bytes.Buffer) that grows; according to the source, it is %s of %s, which %s hands to the library", b.name, b.made.text(), b.given.text())
}

// advice is what to do about it.
func (b growingBuffer) advice() string {
	if b.sent != nil {
		return fmt.Sprintf("%s is only put together to be sent. %s If it has to stay a buffer, give it its room before anything is written: %s.Grow(n), with n the size that is known, so that it need not grow and be copied again and again.", b.name, b.sent.advice(), b.name)
	}
	return fmt.Sprintf("Give %s its room before anything is written: %s.Grow(n), with n the size that is known (the lengths of what goes into it, the sizes of files by Stat) or an estimate near the usual one. Without it the buffer doubles again and again, is copied each time, and the new memory is cleared. Where nothing needs all of it at once, write to a file or a connection instead.", b.name, b.name)
}

// grownBuffer finds the buffer by which the line that a finding names copies, where most of the samples of it are in the growth
// of one; false where the source shows no such buffer, or several.
func grownBuffer(h *hit) (b growingBuffer, ok bool) {
	top := h.lines[0]
	if top.Caller.Func == "" || !growsBytes(h, top.Caller) {
		return b, false
	}
	d := derivationsOf(h.in.code)
	in, found := d.at(top.Caller)
	if !found {
		return b, false
	}
	if b, ok = givenBuffer(d, in.decl); ok {
		if x := sentBuffer(h.in.code, []stack.Frame{top.Caller}); x.streamable() && x.v.Name() == b.name {
			b.sent = x
		}
	}
	return b, ok
}

// growsBytes tells whether most samples of what a line copies are in the growth of a bytes.Buffer.
func growsBytes(h *hit, at stack.Frame) bool {
	all, grows := int64(0), int64(0)
	for id, n := range h.p.Samples(h.index) {
		frames := h.p.Stacks.Frames(id)
		own, grown, moves := false, false, false
		for i, x := range frames {
			f := h.p.Stacks.Frame(x)
			moves = moves || i == 0 && (strings.HasPrefix(f.Func, "runtime.memmove") || strings.HasPrefix(f.Func, "runtime.memclr"))
			grown = grown || f.Func == "bytes.(*Buffer).grow" || f.Func == "bytes.growSlice"
			own = own || f.Func == at.Func && f.File == at.File && f.Line == at.Line
		}
		if n <= 0 || !own || !moves {
			continue
		}
		if all += n; grown {
			grows += n
		}
	}
	return all > 0 && float64(grows) >= halfOfAll*float64(all)
}

// givenBuffer finds the one variable with a buffer that a function makes, without room for what comes, and gives to a function of a library.
func givenBuffer(d *derivations, decl *ast.FuncDecl) (b growingBuffer, ok bool) {
	var of types.Object
	several := false
	eachNode(decl, func(n ast.Node, _ []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || d.t.callee(call) != nil {
			return
		}
		for _, x := range call.Args {
			id, named := unrefer(x).(*ast.Ident)
			if !named {
				continue
			}
			v := d.variable(id)
			if v == nil || !isLocal(decl, v) || isGiven(decl, v) || libraryTypeOf(d, id, 0).text() != "bytes.Buffer" {
				continue
			}
			several = several || of != nil && of != v
			if of == nil {
				of, b = v, growingBuffer{name: v.Name(), made: d.placeOf(atPos(v.Pos())), given: d.placeOf(call)}
			}
		}
	})
	return b, of != nil && !several && !hasRoom(d, decl, of)
}

// hasRoom tells of a buffer that a function gives it room, as far as what goes into it is known: by Grow, or by a slice with a capacity that it is made with.
func hasRoom(d *derivations, decl *ast.FuncDecl, of types.Object) bool {
	grows := hasNode(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && calledName(call) == "Grow" && receiverOf(call) != nil && d.variable(receiverOf(call)) == of
	})
	return grows || slices.ContainsFunc(d.definitions(decl)[of], func(def definition) bool {
		return def.x != nil && hasNode(def.x, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && isNamed(call.Fun, "make") && len(call.Args) == 3
		})
	})
}
