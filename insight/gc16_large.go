package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// largeTitle is the title of a line that fills the heap with few objects.
const largeTitle = "One line fills most of the heap"

// checkLarge tells the line that filled the heap with few large objects, which the heap profiles show little of, as they
// come and go between two collections. What it held is told by what all others have allocated, or by the size of one object. It is false where the heap profiles have most of the heap themselves, or no line is proved to have held as much.
func checkLarge(r *Rule, in *Input, kept *facts.Look) (f Finding, ok bool) {
	x := facts.LargeIn(in.Facts)
	if x == nil {
		return f, false
	}
	set, err := in.Session.Metrics(max(0, x.Made.Entry.Run))
	if err != nil {
		set, err = in.Session.Metrics(0) // of another run of the same program
	}
	if err != nil {
		return f, false
	}
	size, _, _ := facts.HeapSeries(set, timeline.Span{End: 1 << 62})
	heap := 0.0
	for _, v := range size.Values {
		heap = max(heap, v)
	}
	sure, seen := x.AtLeast(heap), float64(kept.Bytes)
	held := max(sure, min(heap, float64(x.Largest)))
	if float64(x.Largest) < r.param("huge")*(1<<20) || held < r.param("share")*heap || seen >= r.param("share")*heap {
		return f, false
	}
	part := fmt.Sprintf("at least %s were allocated at", unit.Percent(sure/heap))
	if sure < held { // it may have been there at another moment than that of the largest heap
		part = fmt.Sprintf("one object alone would be %s, of those that are allocated at", unit.Percent(held/heap))
	}
	f = r.answer(Found, "of a heap of %s at its largest, garbage included, %s %s:%d in %s: %s of %s at most, %s in all; the heap profiles have %s in use, as such objects come and go between two collections",
		unit.BytesOf(heap), part, baseName(x.Top.At.File), x.Top.At.Line, stack.Short(x.Top.At.Func), unit.Plural(x.Objects, "object"), unit.BytesOf(float64(x.Largest)),
		unit.BytesOf(float64(x.Top.Weight)), map[bool]string{true: "nothing", false: "at most " + unit.BytesOf(seen)}[seen == 0])
	f.Severity, f.Score = Info, score(held, 64<<20, 1<<30)
	f.Impact, f.holds = exactly(held/heap, "share of the heap"), int64(held)
	f.Evidence = []Evidence{in.fileAt(x.Made.Entry, x.Top.At, x.Top.Frames, "%s were allocated here", unit.BytesOf(float64(x.Top.Weight)))}
	f.Advice = "If the peak is too high, hold less at once: work in parts, read and write as a stream, and keep no reference to a part that is done."
	f.Verify = "Record again: the peak heap should be lower."
	tellOnce(r, in, x.Made, x.Top, &f)
	if f.Severity == Info {
		tellSent(r, in, x.Made, x.Top, &f)
	}
	if f.Severity == Info && f.Title == r.Title {
		tellRepeated(in, userFrames(in.code, x.Top.At, x.Top.Frames), held, muchHeld, &f)
	}
	if f.Title == r.Title {
		f.Title = largeTitle
		if tellReadWhole(in, x.Top, &f) && float64(x.Largest) >= r.param("fills")*(1<<20) {
			f.Severity, f.Score = Warning, max(f.Score, 50)
		}
	}
	if f.Severity.AtLeast(Warning) {
		f.felt = held / heap * min(1, held/(r.param("fills")*(1<<20)))
	}
	return f, true
}

// tellReadWhole says of what is read as a whole what it is given to, of which a reader knows whether it needs all of it at once.
// It is false of a line that reads nothing as a whole.
func tellReadWhole(in *Input, top *facts.Line, f *Finding) bool {
	read, uses := wholeUses(in.code, userFrames(in.code, top.At, top.Frames))
	if read == "" {
		return false
	}
	open, from := "", "r"
	if readsFile.MatchString(read) {
		open, from = "open the file (f, err := os.Open) and ", "f"
	}
	f.Summary += "; according to the source, " + read + " reads it as a whole"
	to := "what uses it"
	if len(uses) > 0 {
		to = uses[0].Text
		f.Summary += fmt.Sprintf(", and %s at %s is given it", uses[0].Text, fileLine(uses[0].File, uses[0].Line))
		for i := range uses {
			uses[i].Text += " is given all of it here"
		}
		f.Evidence = append(f.Evidence, uses...)
	}
	f.Advice = fmt.Sprintf("If %s can take a part at a time, do not read it as a whole: %sread as it goes, with io.Copy(w, %s) into what writes it, or with a decoder or a bufio.Scanner on %s. Then a buffer of it is in memory at a time.", to, open, from, from)
	conditionsOfStream(in.code, userFrames(in.code, top.At, top.Frames), read, to, f)
	f.Doubts = append(f.Doubts, "if it needs all of it at once (to sort it, to go back in it, to know its length or sum before the first byte is used), it has to be there as a whole",
		"with a stream, an error of reading comes when a part has been written already")
	return true
}

// maxWholeUses is how many of its uses are shown.
const maxWholeUses = 2

// wholeUses finds the call that reads as a whole at the first of some frames, or gives what such a call below it has returned, and
// the first calls that are given the variable with it, by their names. read is empty where there is none.
func wholeUses(c *code, frames []stack.Frame) (read string, uses []Evidence) {
	followWholeRead(c, frames, func(r wholeRead) bool {
		if r.first {
			read = types.ExprString(r.call)
		}
		if r.returned {
			return true
		}
		for _, s := range r.rest {
			ast.Inspect(s, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && len(uses) < maxWholeUses && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return isNamed(underConversions(x), r.name) }) && !isNamed(call.Fun, "len") {
					uses = append(uses, c.shownAt(r.frame.File, c.parse(r.frame.File).fset.PositionFor(call.Pos(), false).Line, "%s", types.ExprString(call.Fun)))
				}
				return true
			})
		}
		return true
	})
	return read, uses
}
