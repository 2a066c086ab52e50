package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// g0 is the least number of samples that a share rests on.
var g0 = Param{"samples", 50, "samples", "research, guard g0: below this a share may be chance"}

var al11 = &Rule{
	ID: "AL11", Title: "Formatting with package fmt is expensive",
	About: "Package fmt parses its format at run time, inspects its arguments by reflection and often allocates them. " +
		"In code that runs for every item, strconv and appending to a buffer do the same for a fraction of the cost.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"cpu", 0.05, "share of CPU time", "research, AL11; the lower bound of the interval counts"},
		{"objects", 0.10, "share of allocated objects", "research, AL11"},
		{"warn", 0.15, "share of CPU time or objects", "chosen: three times the first threshold"},
		g0,
	},
	Check: check(
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "fmt", skip: []string{"startup", "logging", "syscall"}, direct: true,
			reason: fmtReason, what: "went into package fmt", tell: tellFmt},
		&look{of: facts.Allocations, sample: "alloc_objects", limit: "objects", warn: "warn", set: "fmt", skip: []string{"startup", "logging"}, direct: true,
			reason: fmtReason, what: "came from package fmt", tell: tellFmt},
	),
}

// scanners read with package fmt.
var scanners = []string{"fmt.Sscanf", "fmt.Sscan", "fmt.Sscanln", "fmt.Fscanf", "fmt.Fscan", "fmt.Fscanln", "fmt.Scanf", "fmt.Scan", "fmt.Scanln"}

// fmtReason tells making errors and reading from printing. Frames end below
// the caller, so that the last of package fmt is what was called.
func fmtReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		switch name := t.Frame(frames[i]).Func; {
		case name == "fmt.Errorf":
			return "errors"
		case slices.Contains(scanners, name):
			return "scan"
		}
	}
	return "print"
}

func tellFmt(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "errors":
		f.Advice = "Create the error once, as a package variable, or use a type whose Error method formats only when called; find out why the failing path runs so often."
		f.Doubts = append(f.Doubts, "if errors are rare in production, the load of this recording may have caused too many of them")
	case "scan":
		f.Advice = "Split the text with strings.Cut or a bufio.Scanner and convert the parts with strconv.Atoi, ParseFloat and the like: they look at every byte once."
	default:
		f.Advice = "Append to a []byte with strconv.AppendInt, AppendFloat, AppendQuote and plain append; for two or three strings the + operator is enough."
		f.Doubts = append(f.Doubts, "formats with a width, a precision or %v of a struct are not worth replacing by hand unless the line is hot")
	}
}
