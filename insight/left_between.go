package insight

import (
	"go/ast"
	"slices"
	"strings"
)

// What the calls of one function leave behind for each other, in the order of its statements.

// leftBetween is what was left behind so far.
type leftBetween struct {
	d    *derivations
	in   frameCode
	past []leftBy
	// raced is a place that several calls set without a lock; empty where there is none.
	raced string
}

// leftBy is what a statement has touched: calls are those of interest in it, and came what came into what it set.
type leftBy struct {
	touches     []leftTouch
	calls, came callSet
}

// on is what the statements on some lines touch.
func (l *leftBetween) on(first, last int) []leftTouch {
	if l == nil {
		return nil
	}
	return leftWhere(l.d, l.in, func(n ast.Node) (from, to int) {
		_, from, _ = l.d.t.at(n.Pos())
		_, to, _ = l.d.t.at(n.End())
		return from, to
	}, first, last)
}

// within is what a part of the file touches, from one byte to another.
func (l *leftBetween) within(first, last int) []leftTouch {
	if l == nil {
		return nil
	}
	return leftWhere(l.d, l.in, func(n ast.Node) (from, to int) {
		_, _, from = l.d.t.at(n.Pos())
		_, _, to = l.d.t.at(n.End())
		return from, to
	}, first, last)
}

// found is what came into the places that are read, by statements before; from has that of variables and of places which the
// function has set itself.
func (l *leftBetween) found(touches []leftTouch, from map[string]callSet) (came callSet) {
	if l == nil {
		return 0
	}
	for _, t := range touches {
		if t.sets {
			continue
		}
		for _, p := range l.past {
			if p.came != 0 && slices.ContainsFunc(p.touches, func(o leftTouch) bool { return o.sets && t.follows(o, touches, p.touches) }) {
				came |= p.came
			}
		}
		text := t.text() // as the function writes it
		for name, set := range from {
			if strings.Contains(name, ".") && (name == text || strings.HasPrefix(text, name+".") || strings.HasPrefix(name, text+".")) {
				came |= set
			}
		}
	}
	return came
}

// before are the calls that have read what is set now, and that have touched the same files.
func (l *leftBetween) before(touches []leftTouch) (calls callSet) {
	if l == nil {
		return 0
	}
	for _, t := range touches {
		if !t.sets {
			continue
		}
		for _, p := range l.past {
			if p.calls != 0 && slices.ContainsFunc(p.touches, func(o leftTouch) bool { return t.follows(o, touches, p.touches) }) {
				calls |= p.calls
			}
		}
	}
	return calls
}

// note takes what a statement has touched.
func (l *leftBetween) note(touches []leftTouch, came, calls callSet) {
	if l == nil {
		return
	}
	for _, t := range touches {
		both := func(o leftTouch) bool { return o.sets && !o.guarded && o.meets(t) }
		if t.sets && !t.guarded && !t.file && calls != 0 && l.raced == "" && slices.ContainsFunc(l.past, func(p leftBy) bool { return p.calls&^calls != 0 && slices.ContainsFunc(p.touches, both) }) {
			l.raced = t.text()
		}
	}
	if len(touches) > 0 && came|calls != 0 {
		l.past = append(l.past, leftBy{touches, calls, came})
	}
}
