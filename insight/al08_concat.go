package insight

import (
	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al08 = &Rule{
	ID: "AL08", Title: "String concatenation in a loop",
	About: "s += t allocates a new string and copies everything so far. In a loop the work grows with the square of the length: " +
		"200 additions copied 170 KB where a strings.Builder took 5.4 KB.",
	Asks:   []facts.Question{facts.Allocations},
	Params: reasonParams("AL08", "research"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "strings built by concatenation in loops", tellConcat)
	},
}

// isConcat tells whether strings are joined.
func isConcat(_ *allocSite, c *why.Cause) bool { return c.Mechanism == why.Concat }

// growingText names the variable that a line adds to in a loop; empty when it
// does not, or when the recording has no source of it.
func (c *code) growingText(s *allocSite) string {
	if s.at != s.Frames[0] {
		return ""
	}
	return c.parse(s.at.File).growsText(s.at.Line)
}

func tellConcat(in *Input, _ *reasons, g *reasonLine, f *Finding) {
	f.Summary += "; " + in.code.growingText(g.sites[0]) + " is copied in every iteration of the loop"
	f.Advice = "Write to a strings.Builder (with Grow where the length is known), or collect the parts and call strings.Join once."
	f.Doubts = append(f.Doubts, "loops of two or three iterations have little to gain")
}
