package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

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
			unless: writesOn, reason: fmtReason, what: "went into package fmt", tell: tellFmt},
		&look{of: facts.Allocations, sample: "alloc_objects", limit: "objects", warn: "warn", set: "fmt", skip: []string{"startup", "logging"}, direct: true,
			unless: writesOn, reason: fmtReason, what: "came from package fmt", tell: tellFmt},
	),
}

// writesOn tells of a stack that package fmt has done its work and hands the text on to a writer: what that does, such as compressing or
// a system call, is no formatting.
func writesOn(t *stack.Table, frames []stack.FrameID, outside int) bool {
	for i := 1; i < len(frames) && i <= outside; i++ {
		if !strings.HasPrefix(t.Frame(frames[i]).Func, "fmt.Fprint") {
			continue
		}
		switch pkg := stack.Package(t.Frame(frames[i-1]).Func); pkg {
		case "fmt", "sync", "runtime", "reflect", "unicode/utf8", "strconv", "internal/fmtsort":
		default:
			return true
		}
	}
	return false
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

// appendPlainly begins the advice for texts that are made without a width or a key.
const appendPlainly = "Append to a []byte"

func tellFmt(h *hit, f *Finding) {
	switch namedReason(h) {
	case "errors":
		f.Advice = "Create the error once, as a package variable, or use a type whose Error method formats only when called; find out why the failing path runs so often."
		f.Doubts = append(f.Doubts, "if errors are rare in production, the load of this recording may have caused too many of them")
	case "scan":
		f.Advice = "Split the text with strings.Cut or a bufio.Scanner and convert the parts with strconv.Atoi, ParseFloat and the like: they look at every byte once."
	default:
		if tellKey(h, f) {
			return
		}
		if padded, hexes := paddedMostly(h); padded != "" {
			tellPadded(f, padded, hexes)
			return
		}
		f.Advice = appendPlainly + " with strconv.AppendInt, AppendFloat, AppendQuote and plain append; for two or three strings the + operator is enough."
		f.Doubts = append(f.Doubts, "formats with a width, a precision or %v of a struct are not worth replacing by hand unless the line is hot")
	}
}

// verb is a verb of package fmt with its flags, width and precision.
var verb = lazily(`%([-+# 0]*)(\[\d+\])?(\d+|\*)?(\.(?:\d+|\*)?)?(\[\d+\])?([a-zA-Z%])`)

// paddedVerb is the first verb of a format that strconv has no function for, because of a width or
// a flag; empty where all are plain. A precision of a float is an argument of AppendFloat.
func paddedVerb(format string) string {
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		precise := m[4] != "" && !strings.Contains("eEfFgG", m[6])
		if m[6] != "%" && (m[1] != "" || m[3] != "" || precise) {
			return m[0]
		}
	}
	return ""
}

// paddedMostly is the first verb with a width or a flag, where by the source the formats at most
// of what a finding is about have one. hexes tells that all of these are hexadecimal.
func paddedMostly(h *hit) (first string, hexes bool) {
	weight := int64(0)
	hexes = true
	for _, line := range h.lines {
		for _, format := range formatsAt(h.in.code, line) {
			if padded := paddedVerb(format); padded != "" {
				first = cmp.Or(first, padded)
				weight += line.Weight
				hexes = hexes && strings.HasSuffix(strings.ToLower(padded), "x")
				break
			}
		}
	}
	if 2*weight < h.weight {
		return "", false
	}
	return first, hexes
}

// formatsAt are the constant formats that a line gives to the function of package fmt that it calls.
func formatsAt(c *code, line *hitLine) (formats []string) {
	for _, call := range c.lineCalls(line.Caller) {
		if types.ExprString(call.Fun) != stack.Short(line.Callee) {
			continue
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					formats = append(formats, text)
				}
				break
			}
		}
	}
	return formats
}

// tellPadded is what to do about formats that no function of strconv takes the place of.
func tellPadded(f *Finding, padded string, hexes bool) {
	f.Severity = Info
	f.Advice = "Format less often: keep the text while the value is unchanged. The functions of strconv do not pad, so they give another text than " + padded + "; a function of your own that pads has to be compared with it, value by value."
	if hexes {
		f.Advice = "Format less often: keep the text while the value is unchanged. The functions of strconv do not pad as " + padded + " does; hex.AppendEncode writes two digits for each byte of a slice (for a uint64: of binary.BigEndian.AppendUint64), which is as long as %016x."
	}
}
