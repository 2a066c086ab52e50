package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp06 = &Rule{
	ID: "CP06", Title: "Copying and clearing memory uses much of the CPU",
	About: "The time in memmove and memclr: slices and strings that are copied because they grow, are converted or passed through buffers, and memory that is cleared because it is new.",
	Asks:  []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP06; the lower bound of the interval counts"},
		{"warn", 0.30, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "move", skip: []string{"startup", "stack.grow"},
		flat: true, named: "copier", reason: moveReason, what: "went into copying and clearing memory", tell: tellMoves}),
}

// moveReason says for what memory was copied or cleared.
func moveReason(t *stack.Table, frames []stack.FrameID) string {
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
	switch h.reasons[0].name {
	case "grow":
		f.Advice = "Slices and buffers grow and are copied each time: make them as large as they become (make with a capacity, Grow), or a bound of it."
	case "convert":
		f.Advice = "Strings are put together or converted: append to one []byte or strings.Builder, and stay with either []byte or string along the whole way."
	case "channel":
		f.Advice = "Large values go through channels: send a pointer, an index, or a slice of many."
	case "map":
		f.Advice = "Large keys or values are copied into and out of maps: keep pointers or indexes in the map, and give it its size when it is made."
	case "new":
		f.Advice = "Large memory is cleared because it is new: ask for less of it. The allocation findings show the lines, and whether somebody keeps what they make; only what nobody keeps can be used again."
	default:
		f.Advice = "Copy less: pass on slices of the same memory, write where the data has to go in the end, and take one buffer out of a chain of several."
		f.Doubts = append(f.Doubts, "where moving data is the work itself, this is its price")
	}
}
