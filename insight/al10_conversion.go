package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/value/stack"
	"loupe/value/unit"
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

func tellConversion(in *Input, r *reasons, g *reasonLine, f *Finding) {
	inner, c := g.sites[0].Frames[0].Func, &g.sites[0].Causes[0]
	where := r.storedAt(in, g, c)
	library, byLibrary := ownText(inner, where != nil || outlives(c))
	if where != nil || outlives(c) || keepsConverted(in.code, g.at) {
		// Something may have to hold the text: only where the bytes are not used
		// again could they be it.
		f.Severity = Info
		if byLibrary {
			f.Advice = library
			tellStoredAt(in, g, where, f)
			f.Doubts = append(f.Doubts, "the text is needed where it is kept")
			return
		}
		f.Doubts = append(f.Doubts, "the copy is needed if it is kept while the bytes are used for something else, as a reader or a scanner reads the next ones into them")
		if where == nil && outlives(c) {
			f.Advice = "Return the other type where callers can use it, or append to a buffer of the caller's (func(dst []byte) []byte), and convert only where the other type is needed. If the same text recurs, look it up (m[string(b)] copies nothing) and share one string."
			return
		}
		f.Advice = "If the bytes are not used for anything else, keep them instead; if the same text recurs, look it up (m[string(b)] copies nothing) and keep one string."
		if strings.HasSuffix(g.sites[0].Runtime, "stringtoslicebyte") {
			f.Advice = "If nobody changes the bytes, keep the string itself; or have the text as bytes from the start, if those are not used for anything else."
		}
		tellStoredAt(in, g, where, f)
		return
	}
	switch {
	case byLibrary:
		f.Advice = library
		f.Doubts = append(f.Doubts, "where something needs the text itself, it is made in any case: then only fewer of them save anything")
		return
	case strings.HasSuffix(g.sites[0].Runtime, "stringtoslicebyte"):
		f.Advice = "Write the string itself (io.WriteString, WriteString, append(b, s...)), or keep the data as bytes from the start."
	default:
		f.Advice = "Use only one of the two types: package bytes has nearly all of package strings; look up with m[string(b)] in one expression; convert once and pass the result on."
	}
	doubt := "if a function needs the other type, it is that function that has to change"
	if strings.HasSuffix(g.sites[0].Runtime, "slicebytetostring") {
		doubt += "; if it keeps the text while the bytes are used for something else, the copy is needed"
	}
	f.Doubts = append(f.Doubts, doubt)
}

// tellStoredAt says where the result of a line is put, if that is known, and whether it is still there.
func tellStoredAt(in *Input, g *reasonLine, where *Evidence, f *Finding) {
	if where == nil {
		return
	}
	f.Summary += "; " + where.Text
	f.Evidence = append(f.Evidence, *where)
	if l := livesOn(in, g.at); l.share >= keptShare && l.surely() {
		f.Summary += fmt.Sprintf(", and %s of what the line allocated were still in use in the heap profile", unit.BytesOf(float64(l.kept)))
	}
}

// keepsConverted tells whether what a line converts becomes a part of something, as an element, a field
// or a key, or is returned or sent.
func keepsConverted(c *code, at stack.Frame) bool {
	return slices.ContainsFunc(c.lineCalls(at), func(call *ast.CallExpr) bool {
		switch types.ExprString(call.Fun) {
		case "string", "[]byte", "[]rune":
			return keptAround(c, at, call)
		}
		return calledName(call) == "String" && len(call.Args) == 0 && keptAround(c, at, call)
	})
}

// outlives tells whether the compiler says that the result outlives its
// function, other than by being passed on.
func outlives(c *why.Cause) bool {
	return c.Diagnostic != nil && c.Diagnostic.Allocates() &&
		!flowHas(c, func(how, _ string) bool { return how == "call parameter" || how == "interface-converted" })
}

// mostWays is how many of the stacks that lead to a line are asked where its result goes.
const mostWays = 8

// storedAt shows where the result of a line is put into something that outlives it: on the line
// itself, by the compiler, or as the source of the function and its callers has it. It is nil
// where nothing shows it: what is returned may be garbage at once.
func (r *reasons) storedAt(in *Input, g *reasonLine, c *why.Cause) *Evidence {
	for _, s := range g.sites[0].Samples[:min(len(g.sites[0].Samples), mostWays)] {
		frames := facts.Frames(r.profile.Stacks, r.profile.StackIDs[s])
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.File == g.at.File && f.Line == g.at.Line })
		for _, k := range in.code.storesOf(frames[max(0, at):]) {
			e := in.code.shownAt(k.file, k.line, "it goes into %s at %s:%d", k.container, baseName(k.file), k.line)
			return &e
		}
	}
	if c.Diagnostic != nil && !stepHas(c.Diagnostic, "return") && isStored(c.Diagnostic) {
		pos := lastStep(c.Diagnostic)
		e := in.code.shownAt(g.sites[0].Frames[0].File, pos.Line, "it goes into something that outlives the function at %s:%d", baseName(g.sites[0].Frames[0].File), pos.Line)
		return &e
	}
	return nil
}
