package insight

import (
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp06 = &Rule{
	ID: "CP06", Title: "Copying and clearing memory uses much of the CPU",
	About: "The time in memmove and memclr: slices and strings copied because they grow, are converted or pass through buffers, and new memory being cleared.",
	Asks:  []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP06; the lower bound of the interval counts"},
		{"warn", 0.30, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "move", skip: []string{"startup", "stack.grow"},
		flat: true, named: "copier", reason: moveReason, what: "went into copying and clearing memory", tell: tellMoves}),
}

// movesBytes are the packages that copy because they are asked to; what others copy is a part of what they do.
var movesBytes = []string{"bytes", "strings", "bufio", "io", "os", "slices", "maps", "sort", "sync", "sync/atomic", "reflect", "unsafe", "main"}

// moveReason says for what memory was copied or cleared. New memory of a library is made because the program asks for it; what a
// library copies is a part of what it does.
func moveReason(t *stack.Table, frames []stack.FrameID) string {
	reason := movedFor(t, frames)
	if reason != "new" && slices.ContainsFunc(frames, func(f stack.FrameID) bool {
		p := stack.Package(t.Frame(f).Func)
		return stack.IsStandard(p) && !stack.IsRuntime(p) && !slices.Contains(movesBytes, p) && !strings.HasPrefix(p, "internal/")
	}) {
		return "library"
	}
	return reason
}

// movedFor says for what memory was copied or cleared.
func movedFor(t *stack.Table, frames []stack.FrameID) string {
	allocates := false
	for _, f := range frames {
		name := t.Frame(f).Func
		switch {
		case strings.HasPrefix(name, "runtime.growslice"), strings.HasSuffix(name, ".growSlice"), strings.HasSuffix(name, ").grow"):
			return "grow"
		case strings.HasPrefix(name, "runtime.concatstring"), strings.HasPrefix(name, "runtime.slicebytetostring"), strings.HasPrefix(name, "runtime.stringtoslice"):
			return "convert"
		case strings.HasPrefix(name, "runtime.chan"), strings.HasPrefix(name, "runtime.selectgo"):
			return "channel"
		case inSet("map", name):
			return "map"
		case stack.CategoryOf(name) == stack.Allocate:
			allocates = true
		}
	}
	if allocates {
		return "new"
	}
	return "copy"
}

func tellMoves(h *hit, f *Finding) {
	if top := h.lines[0]; float64(top.Weight) >= halfOfAll*float64(h.weight) {
		if m, ok := frontMoveAt(h.in.code, top.Caller); ok {
			f.Summary += "; " + m.says()
			f.Advice = m.advice(false)
			return
		}
	}
	switch namedReason(h) {
	case "library":
		f.Severity = Info
		if b, ok := grownBuffer(h); ok {
			f.Summary += "; " + b.says()
			f.Advice = b.advice()
			return
		}
		f.Advice = "The copying is a part of what the library does for these lines: it becomes less with fewer or smaller calls (less data, an option of the library, a result that is kept), not by copying otherwise here. CP01 and the findings about the library show what it is."
		if top := h.lines[0]; top.Caller.Func != "" && growsBytes(h, top.Caller) {
			f.Advice = "Most of it is a buffer (bytes.Buffer) that grows while the library writes to it. If the program makes that buffer, give it its room first (Grow, with the size that is known or an estimate near the usual one); if the library does, it becomes less with fewer or smaller calls."
		}
	case "grow":
		f.Advice = "Slices and buffers grow and are copied each time: preallocate them at their final size, or an estimate near the usual one (make with a capacity, Grow)."
	case "convert":
		f.Advice = "Strings are concatenated or converted: append to one []byte or strings.Builder, and use either []byte or string throughout."
	case "channel":
		f.Advice = "Large values are sent through channels: send a pointer, an index, or a slice of many."
	case "map":
		f.Advice = "Large keys or values are copied into and out of maps: keep pointers or indexes in the map, and give make the map's size."
	case "new":
		if top := h.lines[0]; float64(top.Weight) >= halfOfAll*float64(h.weight) && tellCleared(h.in.code, top.Caller, f) {
			return
		}
		f.Advice = "Large blocks of new memory are cleared: allocate less. The allocation findings show the lines, and whether anything keeps what they allocate; only memory that nothing keeps can be reused."
	default:
		if tellBuffered(h, f) {
			return
		}
		f.Advice = "Copy less: pass on slices of the same memory, write directly to the destination, and remove a buffer from a chain of several."
		f.Doubts = append(f.Doubts, "if moving data is the work itself, this is its price")
	}
}
