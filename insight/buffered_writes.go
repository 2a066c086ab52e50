package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	goconstant "go/constant"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Writes to a bufio.Writer of the program: it is there already, so that neither another one helps, nor taking it away where it puts small pieces together.

// bufferedWrite is what is known of the buffer that a line writes to.
type bufferedWrite struct {
	name     string
	size     int64  // 0 where the source does not say it
	inFront  string // the buffer of the program that it is in front of, where the source shows one
	standard bool   // it has the size that NewWriter gives it
}

// standardBuffer is the size of a bufio.Writer that is not told another one.
const standardBuffer = 4096

// bufferedAt is the buffer of the program that most samples of the heaviest line go through directly; false where they go another way.
func bufferedAt(h *hit) (b bufferedWrite, ok bool) {
	top := h.lines[0]
	all, through := int64(0), int64(0)
	for id, n := range h.p.Samples(h.index) {
		frames := facts.Frames(h.p.Stacks, id)
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return lineOnly(f) == lineOnly(top.Caller) })
		if n <= 0 || at < 1 {
			continue
		}
		if all += n; strings.HasPrefix(frames[at-1].Func, "bufio.(*Writer).") {
			through += n
		}
	}
	if all == 0 || float64(through) < halfOfAll*float64(all) {
		return b, false
	}
	d := derivationsOf(h.in.code)
	in, found := d.at(top.Caller)
	if !found {
		return b, true
	}
	for _, call := range callsOn(d, in, top.Caller.Line) {
		x := receiverOf(call)
		v := placeObject(d, x)
		if x == nil || v == nil {
			continue
		}
		for _, def := range d.definitions(in.decl)[v] {
			if b.made(d, def.x) {
				b.name = types.ExprString(x)
			}
		}
	}
	return b, true
}

// made reads the call that makes a buffer; false for anything else.
func (b *bufferedWrite) made(d *derivations, x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch types.ExprString(call.Fun) {
	case "bufio.NewWriter":
		b.size, b.standard = standardBuffer, true
	case "bufio.NewWriterSize":
		if tv := d.t.info.Types[call.Args[len(call.Args)-1]]; tv.Value != nil && tv.Value.Kind() == goconstant.Int {
			b.size, _ = goconstant.Int64Val(tv.Value)
		}
	default:
		return false
	}
	to := unrefer(call.Args[0])
	if slices.Contains([]string{"bytes.Buffer", "strings.Builder", "bufio.Writer"}, libraryTypeOf(d, to, 0).text()) {
		b.inFront = types.ExprString(to)
	}
	return true
}

// text names the buffer.
func (b bufferedWrite) text() string {
	text := "a bufio.Writer"
	if b.name != "" {
		text += " (" + b.name + ")"
	}
	if b.size > 0 {
		text += " of " + unit.BytesOf(float64(b.size))
	}
	return text
}

// tellBuffered says of copying that it is what a bufio.Writer does with pieces that are smaller than it is; it is false where the copying is another one.
func tellBuffered(h *hit, f *Finding) bool {
	b, ok := bufferedAt(h)
	if !ok {
		return false
	}
	if b.inFront != "" {
		f.Advice = fmt.Sprintf("Write to %s directly: by the source it is a buffer itself, so that all is copied twice.", b.inFront)
		return true
	}
	f.Severity = Info
	f.Advice = fmt.Sprintf("The line writes to %s, which copies pieces that are smaller than it is, and puts them together: keep it, unless what it writes to is a buffer as well. The copying becomes less where fewer bytes are written, or where pieces that always follow one another are kept as one: what is larger than the buffer goes through it without a copy.", b.text())
	f.Doubts = append(f.Doubts, "if moving data is the work itself, this is its price")
	return true
}

// adviseBuffered gives the advice for calls on a connection that a buffer is in front of; it is false where none is.
func adviseBuffered(h *hit, f *Finding) bool {
	b, ok := bufferedAt(h)
	if !ok {
		return false
	}
	f.Advice = fmt.Sprintf("The line writes to %s, so that the calls are not made for each piece.", b.text())
	if b.standard {
		f.Advice += " Make it larger (bufio.NewWriterSize with 64 KiB), and flush it once, at the end: then there are fewer of them."
	} else {
		f.Advice += " What is left is mostly the price of the bytes: send fewer (compress them, leave out what the other side does not need, let it ask whether anything has changed)."
	}
	f.Doubts = append(f.Doubts, "a proxy or a small service naturally spends its time in network calls")
	return true
}
