package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var al13 = &Rule{
	ID: "AL13", Title: "Scratch buffers are allocated on every call",
	About: "A bufio.Reader or Writer owns four kilobytes, a Scanner its buffer, and a bytes.Buffer doubles until the text fits. " +
		"If they are created on every call, they are garbage right after it.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "research, AL13; the lower bound of the interval counts"},
		{"warn", 0.20, "share of allocated bytes", "chosen"},
		{"objects", 100, "objects", "chosen: one buffer growing to any size takes fewer"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "scratch", skip: []string{"startup", "logging", "encoders", "pool.get"},
		direct: true, perLine: true, objects: 100, memory: true,
		through: []string{"io", "fmt", "bufio", "bytes", "text/template", "html/template", "encoding/binary", "encoding/hex", "encoding/base64", "compress/gzip", "compress/flate", "compress/zlib"},
		reason:  scratchReason, what: "came from buffers", tell: tellScratch}),
}

// scratchReason tells the kinds of buffers apart.
func scratchReason(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames {
		switch name := t.Frame(f).Func; {
		case strings.HasPrefix(name, "bytes."):
			return "bytes"
		case name == "bufio.(*Scanner).Scan":
			return "scanner"
		case strings.HasPrefix(name, "bufio."):
			return "bufio"
		}
	}
	return "-"
}

func tellScratch(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "scanner":
		f.Advice = scannerAdvice(splitAt(h.in.code, h.lines[0].Caller))
	case "bufio":
		f.Advice = "Keep it in a sync.Pool or with the connection and call Reset; if the other side is already a bytes.Buffer or a strings.Reader, no bufio is needed." + whenDone
	default:
		if growsPooled(h, f) {
			return
		}
		if l := livesOn(h.in, h.lines[0].Caller); l.share >= keptShare {
			f.Advice = "Call Grow once if the size is known. " + notAgain(l)
			return
		}
		f.Advice = "Call Grow once if the size is known. A sync.Pool helps only if nothing keeps the result of Bytes: otherwise copy it before the buffer is Reset and put back." + whenDone
		f.Doubts = append(f.Doubts, "if the buffer itself is the result, only a good initial size helps")
	}
}

// How much of what made the buffers of a pool larger must be in use for each of them to have grown once: what
// doubles until it is large enough has allocated up to three times as much as it has in the end. leastPooled is the
// least to tell it by. Chosen.
const (
	grownOnce   = 0.35
	leastPooled = 4 << 20
)

// growsPooled is what is said of buffers that come from a pool, by the source: what is allocated is not
// a buffer for each call, but what makes those of the pool larger.
func growsPooled(h *hit, f *Finding) bool {
	at := h.lines[0].Caller
	c := sourceHolders{h.in.code}
	all := putBackAt(c, userFrames(h.in.code, at, facts.Frames(h.p.Stacks, h.lines[0].heavy)))
	if len(all) == 0 {
		return false
	}
	put := all[0].shows[0]
	if retained, err := facts.RetentionIn(h.in.Facts); err == nil {
		if kept, share, known := retained.AtMost(at); known && kept >= leastPooled && share >= grownOnce {
			f.Severity, f.Title = Info, "Buffers of a pool have grown to their size"
			f.Summary += fmt.Sprintf("; they go back to a pool at %s, and %s of all that was allocated here is in use at the time of one profile: until then each of them grew about once", fileLine(put.File, put.Line), unit.Percent(share))
			f.Advice = "Call Grow once before a new buffer is filled, if the size is known: that saves the copies of its first use."
			f.Doubts = append(f.Doubts, "a sync.Pool is emptied by collections: then new buffers grow, which later profiles would show")
			return true
		}
	}
	f.Title = "Buffers of a pool grow again and again"
	f.Summary += fmt.Sprintf("; the source takes them from a pool, to which they go back at %s:%d: what is allocated here makes them larger%s", baseName(put.File), put.Line, fewerThanRequests(h))
	f.Advice = "Call Grow once before the buffer is filled, if the size is known or can be estimated: growing by doubling allocates twice as much, and copies. Or keep pools by classes of size, so that large items meet large buffers."
	if test := all[0].test; test.asks {
		f.Advice += fmt.Sprintf(" The limit at %s:%d keeps large buffers out of the pool: raise it only if many items need them, since each buffer of the pool keeps its largest size.", baseName(all[0].in), test.at)
	} else {
		f.Advice += " If only few items need large buffers, keep these out of the pool (cap(b), b.Cap() above a limit), since each buffer of the pool keeps its largest size."
	}
	if !shows(f, evidenceLine(put)) {
		f.Evidence = append(f.Evidence, put)
	}
	return true
}

// fewerThanRequests says how many objects a line allocated for each request of the load, where it is less than
// one.
func fewerThanRequests(h *hit) string {
	requests := 0.0
	for i := range h.in.Facts.Rounds {
		if load := h.in.Facts.Rounds[i].Load; load != nil {
			requests += float64(load.Responses)
		}
	}
	n := float64(h.lines[0].count)
	if n <= 0 || requests < n {
		return ""
	}
	return fmt.Sprintf(" (%s of them in %s)", unit.Count(int64(n)), unit.Plural(int64(requests), "request"))
}

// Splits of a Scanner that are no functions of package bufio.
const (
	splitUnknown = "?"     // the source does not show it
	splitOwn     = "other" // a function of the program
)

// scannerAdvice is what to do about a Scanner, by the function that splits its text.
func scannerAdvice(split string) string {
	const again = "If each token is copied before the next one is read, give the Scanner a reusable buffer (Scanner.Buffer)."
	const lines = "go over its lines with strings.Lines or bytes.Lines, which leave the line break (\\n or \\r\\n) on the line, unlike Scan. "
	switch split {
	case "bufio.ScanLines":
		return "For text that is in memory, " + lines + again
	case "bufio.ScanWords":
		return "For text that is in memory, go over its words with strings.FieldsSeq or bytes.FieldsSeq. " + again
	case "bufio.ScanRunes":
		return "For text that is in memory, go over its runes with range. " + again
	case "bufio.ScanBytes":
		return "For text that is in memory, go over its bytes. " + again
	case splitOwn:
		return again
	}
	return "If it scans lines (without a call of Split) of text that is in memory, " + lines + again
}

// splitAt is the function that splits the text of a Scanner, whose Scan a line calls.
func splitAt(c *code, at stack.Frame) (split string) {
	fn, scanner := c.function(at), ""
	for _, call := range c.lineCalls(at) {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Scan" {
			scanner = types.ExprString(f.X)
		}
	}
	if fn == nil || scanner == "" {
		return splitUnknown
	}
	made, passed := false, false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			passed = passed || slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return types.ExprString(unrefer(a)) == scanner })
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Split" && len(n.Args) == 1 && types.ExprString(f.X) == scanner {
				if split = types.ExprString(n.Args[0]); !strings.HasPrefix(split, "bufio.Scan") {
					split = splitOwn
				}
			}
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				call, ok := n.Rhs[i].(*ast.CallExpr)
				made = made || ok && types.ExprString(n.Lhs[i]) == scanner && types.ExprString(call.Fun) == "bufio.NewScanner"
			}
		}
		return true
	})
	switch {
	case split != "":
		return split
	case made && !passed:
		return "bufio.ScanLines"
	}
	return splitUnknown
}
