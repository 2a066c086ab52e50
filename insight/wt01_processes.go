package insight

import (
	"loupe/value/stack"
)

// Waits for other programs: whether the source starts one for each item that a loop goes through, as only then fewer of them would do.

// startsOf is how the source comes to start other programs.
type startsOf int

const (
	startsUnknown      startsOf = iota // it does not show it, or in a loop that goes through no items
	startsOutsideLoops                 // no loop comes to it
	startsEachItem                     // one for each item of a loop
	startsEachRequest                  // at least one for each request
	startsByOthers                     // other goroutines do
)

// severalStarts is from how many programs on in a unit they are several: as many as the calls of WT01.
const severalStarts = 3

// processesOf tells how the programs are started that a group waits for.
func processesOf(in *Input, t *traced, w *waiting) startsOf {
	switch {
	case w.kind != "process":
		return startsByOthers
	case w.calls() < severalStarts && w.group.Unit.String() == "main" && outsideLoops(in.code, t.Frames(w.site.Stack), t.Scope):
		return startsOutsideLoops
	}
	each, looped, all := int64(0), false, int64(0)
	for _, o := range outwards(w.group) {
		if o.path[0] != w.site.Frame || o.kind != "process" {
			continue
		}
		all += o.calls
		looped = looped || !outsideLoops(in.code, o.path, t.Scope) || o.each() >= severalStarts // by one way: the loop is in a library
		for l, f := range loopsOn(in.code, o.path) {
			if l.items(f.Line) {
				each += o.calls
				break
			}
		}
	}
	switch {
	case float64(each) >= halfOfAll*float64(all) && w.calls() >= severalStarts:
		return startsEachItem
	case w.group.Unit.String() == "request":
		return startsEachRequest
	case all > 0 && !looped:
		return startsOutsideLoops
	}
	return startsUnknown
}

// processAdvice is what to do about waits for other programs. Where each is another one, none of them can do the work of several.
func processAdvice(in *Input, t *traced, w *waiting) string {
	starts, at := processesOf(in, t, w), w.site.Stack
	if starts != startsByOthers && starts != startsEachItem {
		return starts.advice(w)
	}
	if starts == startsByOthers {
		if len(w.causes) == 0 {
			return starts.advice(w)
		}
		at = w.causes[0].Cause.Site.Stack
	}
	s, known := startAlong(in.code, framesOfUser(t, t.Frames(at)))
	switch {
	case !known || s.executable != turnsItem:
		return starts.advice(w)
	case starts == startsEachItem:
		return s.advice(known, childrenShare(in, w.share()) >= fullCPUs)
	}
	return "The goroutines that it waits for wait for other programs, which take the time; by the source, each is another one: " + fewerOfThese + "; otherwise record the slowest (where it is a Go program, loupe run does)."
}

// advice is what to do about them.
func (s startsOf) advice(w *waiting) string {
	const instead = "do it in the program (a library), keep one running and talk to it, or cache its answers."
	switch s {
	case startsEachItem:
		return "Do not start a process for each item: " + instead
	case startsEachRequest:
		return "Do not start a process for each request: " + instead
	case startsByOthers:
		return "The goroutines that it waits for wait for other programs, which take the time. If there is one for each item, give one of them several items, or do it in the program (a library); otherwise record that program (where it is a Go program, loupe run does)."
	case startsOutsideLoops:
		if w.calls() > 1 {
			return "It waits for several runs of other programs, which take the time: see which of them takes longest (loupe trace requests shows them in order), and record that one (where it is a Go program, loupe run does); or start those at once that need nothing of each other."
		}
		return "It waits for another program, which takes the time: record that one (where it is a Go program, loupe run does), or do other work while it runs."
	}
	return "It waits for other programs, which take the time. If the same one is started again and again, give it several items at a time, keep it running and talk to it, or do it in the program (a library)."
}

// outsideLoops tells of a stack that no loop of the source comes to it again and again, by any of the functions of the program on its way.
func outsideLoops(c *code, frames []stack.Frame, scope stack.Scope) bool {
	own := 0
	for _, f := range frames {
		if !scope.IsUser(f) {
			continue
		}
		if own++; c.parse(f.File) == nil || len(loopsAround(c, f)) > 0 {
			return false
		}
	}
	return own > 0
}
