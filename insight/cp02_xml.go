package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp02 = &Rule{
	ID: "CP02", Title: "XML decoding is most of the work",
	About: "encoding/xml reads one character at a time, allocates strings for all names and values, and finds the fields by reflection. " +
		"A service that decodes the same documents for every request does little else.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.20, "share of CPU time", "measured on the lab newssearch; the lower bound of the interval counts"},
		{"warn", 0.40, "share of CPU time", "chosen: twice the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "xml.decode", skip: []string{"startup"},
		what: "went into decoding XML", tell: func(h *hit, f *Finding) {
			const less = "read only the parts of large documents that are needed with Decoder.RawToken, or use another format."
			if calls, ok := neverTwice(h); ok {
				f.Summary += fmt.Sprintf("; in the run that counts, %s was called %s, and never with the arguments of an earlier call", stack.Short(h.lines[0].Callee), unit.Plural(calls, "time"))
				f.Advice = "R" + less[1:] + " There is nothing to cache, as far as that run shows."
				f.Doubts = append(f.Doubts, "what is decoded into was compared as well: where that differs in a map or a function, the same document looks like another one")
				return
			}
			f.Advice = "If the same document is decoded again while it is unchanged (by its address and ETag, or a hash), cache the decoded result. Otherwise " + less
			f.Doubts = append(f.Doubts, "a program that reads its data once, at its start, shows the same share while it does")
		}}),
}

// neverTwice tells of the lines that have nearly all of what a rule has found, each of which calls a function that decodes a whole text, that in the
// run that counts no call of these had the arguments of an earlier one; and how many there were. A decoder that reads a stream does not show what it reads.
func neverTwice(h *hit) (calls int64, ok bool) {
	sum := int64(0)
	for _, l := range h.lines {
		if float64(sum) >= allButLittle*float64(h.weight) {
			break
		}
		n, never := repetition.NeverTwice(h.in.Session, l.Caller.File, l.Caller.Line, ownName(l.Callee))
		if ownName(l.Callee) != "Unmarshal" || !never {
			return 0, false
		}
		sum, calls = sum+l.Weight, calls+n
	}
	return calls, calls > 0
}
