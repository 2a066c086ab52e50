package insight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/unit"
)

var al06 = &Rule{
	ID: "AL06", Title: "Slice grown step by step by append",
	About: "Appending to a slice without spare capacity doubles it repeatedly: each step allocates, copies and discards the previous " +
		"array. The object sizes show it as a ladder: 64, 128, 256, 512 bytes from one line.",
	Asks: []facts.Question{facts.Allocations},
	Params: append(reasonParams("AL06", "research"),
		Param{"rungs", ladderRungs, "sizes", "research: three doublings are a ladder"},
		Param{"climbs", ladderClimbs, "objects per size", "our default: one slice that grows forever climbs the ladder once, and has to"},
		Param{"waste", ladderWaste, "share of the line's bytes", "our default: doubling discards half; slices of many lengths, each allocated in one go, discard nothing"}),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "slices grown by append", tellLadder)
	},
}

const (
	ladderRungs  = 4
	ladderClimbs = 10
	// ladderStep is the most that append makes a slice larger by at once,
	// after rounding up to a size class.
	ladderStep = 2.5
	// ladderWaste is the part of a ladder's bytes that is outgrown at least: a
	// slice that is doubled to its end throws away half of what it takes. Less
	// of it is slices of many lengths, each made in one step.
	ladderWaste = 0.2
)

// isAppend tells whether a slice grows. What is appended to nothing is a copy, of a size that is known, and so is what a
// function of the standard library clones.
func isAppend(s *allocSite, c *why.Cause) bool {
	if len(s.Frames) > 0 && copiesByName(s.Frames[0].Func) {
		return false
	}
	return c.Mechanism&why.Append != 0 && !copiesAll(c) && (c.Mechanism == why.Append || strings.HasPrefix(s.Runtime, "runtime.growslice"))
}

// copiesAll tells whether an append is to nothing, or to a list of values, so that all of it is made in one step.
func copiesAll(c *why.Cause) bool {
	to := appendedTo(c.Expr)
	switch {
	case strings.HasPrefix(to, "([]") && strings.HasSuffix(to, ")(nil)"), strings.HasPrefix(to, "[]"), strings.HasSuffix(to, "[:0:0]"):
		return true
	case strings.HasPrefix(to, "(") && strings.HasSuffix(to, ")(nil)"): // (go.shape.[]uint8)(nil)
		return !strings.HasPrefix(to, "(func")
	}
	return strings.HasSuffix(to, "{}") // names{}, go.shape.[]uint8{}
}

// appendedTo is the slice of an append in the words of the compiler: what stands before the first comma outside brackets.
func appendedTo(expr string) string {
	args, ok := strings.CutPrefix(expr, "append(")
	if !ok {
		return ""
	}
	deep := 0
	for i, r := range args {
		switch r {
		case '(', '[', '{':
			deep++
		case ')', ']', '}':
			deep--
		case ',':
			if deep == 0 {
				return args[:i]
			}
		}
		if deep < 0 {
			return args[:i]
		}
	}
	return args
}

// isLadder tells whether a line's slices went through several sizes, one a
// step above the other, many times each.
func (r *reasons) isLadder(g *reasonLine) bool {
	sizes := r.objectSizes(g)
	longest, rungs, last := 0, 0, int64(0)
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[size].objects < ladderClimbs {
			continue
		}
		if float64(size) > ladderStep*float64(last) {
			rungs = 0
		}
		rungs, last = rungs+1, size
		longest = max(longest, rungs)
	}
	return longest >= ladderRungs && float64(outgrown(sizes)) >= ladderWaste*float64(g.bytes)
}

// outgrown estimates how much was thrown away for a larger step: of the slices
// at one size, as many as there are at the next.
func outgrown(sizes map[int64]allocated) (bytes int64) {
	steps := slices.Sorted(maps.Keys(sizes))
	for i := 0; i+1 < len(steps); i++ {
		if float64(steps[i+1]) <= ladderStep*float64(steps[i]) {
			bytes += min(sizes[steps[i]].objects, sizes[steps[i+1]].objects) * steps[i]
		}
	}
	return bytes
}

func tellLadder(in *Input, r *reasons, g *reasonLine, f *Finding) {
	sizes := r.objectSizes(g)
	steps := slices.Sorted(maps.Keys(sizes))
	if cut, ok := frontCutOf(in.code, g.at); ok {
		cut.tell(in.code, f)
		f.Summary += fmt.Sprintf("; it was seen at %d sizes from %s to %s", len(steps), unit.BytesOf(float64(steps[0])), unit.BytesOf(float64(steps[len(steps)-1])))
		return
	}
	f.Summary += fmt.Sprintf("; it was seen at %d sizes from %s to %s, and about %s were discarded while growing", len(steps),
		unit.BytesOf(float64(steps[0])), unit.BytesOf(float64(steps[len(steps)-1])), unit.BytesOf(float64(outgrown(sizes))))
	inner := g.sites[0].Frames[0].Func
	switch {
	case strings.HasPrefix(inner, "strings.(*Builder)."):
		f.Advice = "Call Grow on the strings.Builder with the final length of the text, or with an estimate near the usual length."
	case strings.HasPrefix(inner, "bytes.(*Buffer)."):
		f.Advice = "Call Grow on the bytes.Buffer with its final length, or with an estimate near the usual length."
	default:
		f.Advice = "Preallocate the slice with make([]T, 0, n), where n is the final length or an estimate near the usual one."
	}
	if size := heaviestSize(sizes); size > 0 {
		f.Advice += fmt.Sprintf(" The largest part of the bytes went to arrays of %s, which may be near it.", unit.BytesOf(float64(size)))
	}
	f.Doubts = append(f.Doubts, "a capacity far above the usual length (an upper bound) can cost more than growing does: all of it is allocated and cleared")
}

// heaviestSize is the size that most of a ladder's bytes are of; 0 where too few samples say so.
// Slices that grow to about one length have half of their bytes in the last step. How many end at
// each size a profile does not show well: small objects are seldom sampled.
func heaviestSize(sizes map[int64]allocated) (heaviest int64) {
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		if a := sizes[size]; heaviest == 0 || a.bytes > sizes[heaviest].bytes {
			heaviest = size
		}
	}
	if sizes[heaviest].samples < minLineSamples {
		return 0
	}
	return heaviest
}
