package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Collections that are forced for what is read behind them are no mistake: without one, the reading is of another time.

// measuresAdvice is what to do about them.
const measuresAdvice = "What is read behind the call is what the collection leaves, so the call may be part of the measurement: keep it there, but out of what is timed and out of the way of requests. If the figures may include garbage, delete the call: they can be read without."

// measuresDoubt is why they are a remark.
const measuresDoubt = "a reading follows the call: where it is to be of live memory alone, or of an even start, the collection belongs to the measurement"

var (
	// readings are calls whose answer a collection settles.
	readings = []string{"runtime.ReadMemStats", "metrics.Read", "debug.ReadGCStats", "pprof.WriteHeapProfile", "debug.WriteHeapDump", "runtime.MemProfile"}
	// awaitsCollector are calls that make something happen once the collector has seen that an object is unused.
	awaitsCollector = []string{"runtime.SetFinalizer", "runtime.AddCleanup", "weak.Make"}
)

// measuresHeap tells of the line of a forced collection that the function around it, or who called a function which does nothing
// else, reads what a collection settles, or that it is in a test.
func measuresHeap(c *code, e Evidence) bool {
	if strings.HasSuffix(e.File, "_test.go") {
		return true
	}
	at := stack.Frame{Func: e.Function, File: e.File, Line: e.Line}
	if readsBehind(c, at) {
		return true
	}
	i := slices.IndexFunc(e.Stack, func(f Frame) bool { return f.File == e.File && f.Line == e.Line })
	if i < 0 || i+1 >= len(e.Stack) || !onlyCollects(c, at) {
		return false
	}
	caller := e.Stack[i+1]
	return readsBehind(c, stack.Frame{Func: caller.Function, File: caller.File, Line: caller.Line})
}

// evenStart is how many lines behind a collection a time is taken that it makes an even start for.
const evenStart = 3

// readsBehind tells whether a function reads behind a line what a collection settles, begins to time something right behind it,
// or has objects that tell when they are collected.
func readsBehind(c *code, at stack.Frame) bool {
	fn := c.scopeAt(at)
	if fn == nil {
		return false
	}
	s := c.parse(at.File)
	return hasCall(fn.body, func(call *ast.CallExpr) bool {
		line, _ := s.lines(call)
		name := types.ExprString(call.Fun)
		switch {
		case slices.Contains(awaitsCollector, name):
			return true
		case line < at.Line:
			return false
		case name == "time.Now":
			return line <= at.Line+evenStart
		}
		return slices.Contains(readings, name) || lastName(name) == "WriteTo" && strings.Contains(name, "pprof.Lookup(")
	})
}

// onlyCollects tells of the function around a line that all it calls are collections.
func onlyCollects(c *code, at stack.Frame) bool {
	fn := c.scopeAt(at)
	return fn != nil && !hasCall(fn.body, func(call *ast.CallExpr) bool {
		return !slices.Contains([]string{"runtime.GC", "debug.FreeOSMemory", "runtime.Gosched", "time.Sleep"}, types.ExprString(call.Fun))
	})
}

// tellMeasured makes a finding about forced collections a remark where all known lines measure, unless requests wait for them.
func tellMeasured(in *Input, waits bool, f *Finding) {
	known := slices.DeleteFunc(slices.Clone(f.Evidence), func(e Evidence) bool { return e.File == "" })
	if len(known) == 0 || slices.ContainsFunc(known, func(e Evidence) bool { return !measuresHeap(in.code, e) }) {
		return
	}
	f.Advice = measuresAdvice
	f.Doubts = append(f.Doubts, measuresDoubt)
	if w, ok := waitsForced(in); !waits && (!ok || slices.Contains([]string{"main", "worker", "benchmark", "test"}, w.group.Unit.String())) {
		f.Severity = Info
	}
}
