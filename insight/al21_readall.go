package insight

import (
	"fmt"

	"loupe/analysis/facts"
)

var al21 = &Rule{
	ID: "AL21", Title: "io.ReadAll grows its buffer step by step",
	About: "io.ReadAll starts with 512 bytes and does not know how much will come: a body of 64 KB is copied through a ladder of buffers, " +
		"two to three times its size in all.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "research, AL21; the lower bound of the interval counts"},
		{"warn", 0.20, "share of allocated bytes", "chosen"},
		{"sizes", 3, "sizes of buffers", "chosen: with fewer, the text fits into the first buffers and there is no ladder"},
		{"objects", 100, "objects", "chosen: one large file takes fewer"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "readall", skip: []string{"startup"},
		direct: true, through: []string{"io", "io/ioutil"}, perLine: true, itself: true, objects: 100, sizes: 3, what: "came from io.ReadAll", tell: tellReadAll}),
}

func tellReadAll(h *hit, f *Finding) {
	line := h.lines[0]
	f.Summary += fmt.Sprintf("; buffers of %d sizes", len(line.sizes))
	f.Advice = "If the length is known (Content-Length, a file's size), allocate the slice and call io.ReadFull; a decoder that reads the stream itself needs no slice at all; or read into a bytes.Buffer kept in a sync.Pool. Limit untrusted input with io.LimitReader." + whenDone
	if once, ok := goneThroughOnce(h.in.code, userFrames(h.in.code, line.Caller, facts.Frames(h.p.Stacks, line.heavy))); ok {
		once.tell(f)
		return
	}
	if again, ok := repeatedFrom(h.in.code, userFrames(h.in.code, line.Caller, facts.Frames(h.p.Stacks, line.heavy))); ok {
		again.tell(f)
		return
	}
	if minor, known := goMinor(h.in); known && minor >= 26 {
		f.Doubts = append(f.Doubts, "since Go 1.26 io.ReadAll copies once at the end instead of at each step: about half of what its growing and copying cost can be saved")
	}
}
