package insight

import (
	"go/ast"

	"loupe/value/stack"
)

// A client that a function is given is followed to the line that gives it, along the stack of the request: that one is the caller
// of this request, whoever else calls the function.

// clientPlace is an expression of a client or a Transport, with the frame whose line has it.
type clientPlace struct {
	at    frameCode
	x     ast.Expr
	frame int // of the stack
}

// givenAlong follows an expression that is a parameter, or a part of one, to what the callers on the stack give; it is where it
// was where the stack or the source does not show that.
func (p clientPlace) givenAlong(d *derivations, frames []stack.Frame, user func(stack.Frame) bool) clientPlace {
	for range frames {
		v := d.variable(unrefer(p.x))
		if v == nil || !isGiven(p.at.decl, v) {
			break
		}
		outer, ok := p.caller(d, frames, user)
		if !ok {
			break
		}
		var arg ast.Expr
		for _, call := range d.callsOn(outer.at, frames[outer.frame], p.at.decl.Name.Name) {
			if arg = argumentFor(d, p.at.decl, call, v); arg != nil {
				break
			}
		}
		if arg == nil {
			break
		}
		outer.x = ast.Unparen(arg)
		p = outer
	}
	return p
}

// caller is the place on the stack that called the function of another one.
func (p clientPlace) caller(d *derivations, frames []stack.Frame, user func(stack.Frame) bool) (outer clientPlace, ok bool) {
	for i := p.frame + 1; i < len(frames); i++ {
		if !user(frames[i]) {
			continue
		}
		at, ok := d.at(frames[i])
		if !ok {
			return outer, false
		}
		if at.decl != p.at.decl {
			return clientPlace{at: at, frame: i}, true
		}
		// a function without a name in the same one
	}
	return outer, false
}

// once tells of the frames below a place that none of them makes its call, or the request, many times: it may try again. Where a loop was not
// counted, it is not known.
func (w *transportTrail) once(p clientPlace, frames []stack.Frame, user func(stack.Frame) bool) (once, known bool) {
	known = true
	for _, f := range frames[:p.frame] {
		if !user(f) {
			continue
		}
		in, ok := w.d.at(f)
		if !ok {
			known = false
			continue
		}
		switch few, counted := w.fewTurns(in, transportLoop(w.d, in.body(), f.Line)); {
		case !counted:
			known = false
		case !few:
			return false, true
		}
	}
	return true, known
}

// fewTurns tells of a loop of a function that it hardly ever has a second turn, by the counts; so has what is no loop.
func (w *transportTrail) fewTurns(in frameCode, loop ast.Node) (few, counted bool) {
	body := bodyOfLoop(loop)
	if body == nil {
		return true, true
	}
	if w.counts == nil {
		return false, false
	}
	calls, counted := w.counts.entered(in.body().Lbrace)
	turns, known := w.counts.entered(body.Lbrace)
	return calls >= fewCalls && turns < 2*calls, counted && known
}

// manyOf tells of what is made at a step of a function on the stack that the counts show many requests with each of it.
func (w *transportTrail) manyOf(p clientPlace, frames []stack.Frame, user func(stack.Frame) bool, step ast.Node) bool {
	if once, known := w.once(p, frames, user); known && !once {
		return true
	}
	loop := transportLoop(w.d, p.at.body(), frames[p.frame].Line)
	few, counted := w.fewTurns(p.at, loop)
	return counted && !few && !covers(loop, step)
}

// around is the place of the function that makes what a function without a name uses: itself, or one around it that is on the stack as well.
// It is the same one where the counts say that it is made as often as it is used. What is made outside of both is made before.
func (w *transportTrail) around(p clientPlace, frames []stack.Frame, user func(stack.Frame) bool, step ast.Node) (outer clientPlace, counted, ok bool) {
	if p.at.lit == nil || covers(p.at.lit, step) {
		return p, false, true
	}
	if w.counts != nil {
		made, known := w.counts.reaches(nodesAround(p.at.decl.Body, step), step)
		calls, entered := w.counts.entered(p.at.body().Lbrace)
		if known && entered {
			return p, true, calls >= fewCalls && 2*made >= calls
		}
	}
	for i := p.frame + 1; i < len(frames); i++ {
		at, is := w.d.at(frames[i])
		if is && user(frames[i]) && at.decl == p.at.decl && at.lit != p.at.lit && (at.lit == nil || covers(at.lit, step)) {
			return clientPlace{at: at, x: p.x, frame: i}, false, true
		}
	}
	return p, false, false
}
