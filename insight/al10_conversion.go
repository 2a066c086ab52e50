package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al10 = &Rule{
	ID: "AL10", Title: "Conversions between string and []byte copy the text",
	About: "string(b) and []byte(s) copy, because strings are immutable. The compiler omits the copy where it can prove that nobody keeps the result " +
		"(m[string(b)], comparisons, range); only copies actually made are counted here.",
	Asks:   []facts.Question{facts.Allocations},
	Params: reasonParams("AL10", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "conversions between string and []byte", tellConversion)
	},
}

// isConversion tells whether text was converted.
func isConversion(s *allocSite, c *why.Cause) bool {
	if c.Mechanism == why.Convert {
		return true
	}
	switch strings.TrimPrefix(s.Runtime, "runtime.") {
	case "slicebytetostring", "stringtoslicebyte", "slicerunetostring", "stringtoslicerune":
		return c.Mechanism&why.Convert != 0
	}
	return false
}

func tellConversion(_ *Input, _ *reasons, g *reasonLine, f *Finding) {
	inner, c := g.sites[0].Frames[0].Func, &g.sites[0].Causes[0]
	if isKept(c) {
		// Something has to hold the text: only where the bytes are not used
		// again could they be it.
		f.Severity = Info
		f.Advice = "The result is kept. If the bytes are not used for anything else, keep them instead; if the same text recurs, look it up (m[string(b)] copies nothing) and keep one string."
		f.Doubts = append(f.Doubts, "the copy is needed if it is kept while the bytes are used for something else")
		return
	}
	switch {
	case inner == "bytes.(*Buffer).String":
		f.Advice = "Use a strings.Builder, whose String method does not copy, or write the buffer's bytes to their destination."
	case strings.HasSuffix(g.sites[0].Runtime, "stringtoslicebyte"):
		f.Advice = "Write the string itself (io.WriteString, WriteString, append(b, s...)), or keep the data as bytes from the start."
	default:
		f.Advice = "Use only one of the two types: package bytes has nearly all of package strings; look up with m[string(b)] in one expression; convert once and pass the result on."
	}
	f.Doubts = append(f.Doubts, "if a function needs the other type, it is that function that has to change")
}

// isKept tells whether the compiler says that the result outlives its
// function, other than by being passed on.
func isKept(c *why.Cause) bool {
	return c.Diagnostic != nil && c.Diagnostic.Allocates() &&
		!flowHas(c, func(how, _ string) bool { return how == "call parameter" || how == "interface-converted" })
}
