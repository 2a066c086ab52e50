package insight

import (
	"fmt"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// registers are the functions with which somebody else is given something to hold until that
// is taken back, and how that is done.
var registers = map[string]string{
	"context.AfterFunc":         "Call the function that AfterFunc returns when what it is for is over, also where the context goes on.",
	"context.WithCancel":        cancels,
	"context.WithCancelCause":   cancels,
	"context.WithTimeout":       cancels,
	"context.WithTimeoutCause":  cancels,
	"context.WithDeadline":      cancels,
	"context.WithDeadlineCause": cancels,
	"time.AfterFunc":            stops,
	"time.NewTimer":             stops,
	"time.NewTicker":            stops,
	"os/signal.Notify":          "Call signal.Stop when nobody listens any more.",
	"os/signal.NotifyContext":   "Call the stop function that it returns.",
	"runtime.SetFinalizer":      "An object with a finalizer that is a part of a cycle is never collected.",
}

const (
	cancels = "Call its cancel function on every way out of what it is for (defer cancel())."
	stops   = "Stop it when what it is for is over: a timer is kept until it fires."
)

// What is registered holds what a line allocates where there are about as many of it.
const (
	leastRegistered = 1000
	partRegistered  = 0.3
)

// registered finds, in the heap profile, a line of the program that has registered something
// about as often as another one has allocated what is in use: then that is likely what holds it,
// where the source of the line does not tell.
func registered(in *Input, at stack.Frame) (h holding, ok bool) {
	p, entry, err := in.Session.Profile(recording.Heap)
	if err != nil {
		return h, false
	}
	index, err := p.Index("inuse_objects")
	if err != nil {
		return h, false
	}
	type place struct {
		at   stack.Frame
		with string
	}
	v, counts, kept := in.view(p), map[place]int64{}, int64(0)
	for id, n := range p.Samples(index) {
		if n <= 0 {
			continue
		}
		frames := v.t.Frames(id)
		user := nextUser(v, frames, 0)
		if user < 0 {
			continue
		}
		f := v.t.Frame(frames[user])
		line := stack.Frame{Func: f.Func, File: f.File, Line: f.Line}
		if line.Func == at.Func && line.Line == at.Line {
			kept += n
			continue
		}
		for _, id := range frames[:user] {
			if name := v.t.Frame(id).Func; registers[name] != "" {
				counts[place{line, name}] += n
				break
			}
		}
	}
	var most place
	for x, n := range counts {
		if n > counts[most] || n == counts[most] && x.at.Line < most.at.Line {
			most = x
		}
	}
	n := counts[most]
	if n < leastRegistered || float64(n) < partRegistered*float64(kept) {
		return h, false
	}
	h.shows = []Evidence{in.lineAt(entry, most.at, "%s objects in use were made here by %s", unit.Count(n), stack.Short(most.with))}
	h.advice = fmt.Sprintf("What %s:%d registers with %s is held, with all that it refers to, and about as often as what is kept was allocated: look whether it is taken back. %s",
		baseName(most.at.File), most.at.Line, stack.Short(most.with), registers[most.with])
	return h, true
}
