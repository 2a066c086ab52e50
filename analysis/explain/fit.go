package explain

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/value/stack"
)

func frameID(i int) stack.FrameID { return stack.FrameID(i) }

// Fit says how a binary agrees with a dump. A dump does not name the build that
// printed it, so that the functions and lines of its frames have to tell.
type Fit struct {
	Checked   int // frames that were looked at
	Missing   int // of functions that the binary does not have
	Beyond    int // that lie behind the end of the function
	OtherLine int // where the binary has another line
	// Example is one frame that does not fit, as the dump has it.
	Example string
}

// Wrong is how many frames do not fit.
func (t Fit) Wrong() int { return t.Missing + t.Beyond + t.OtherLine }

// Refused tells that the binary is another program or build: nothing of it is used.
func (t Fit) Refused() bool { return t.Checked > 0 && 2*t.Wrong() > t.Checked }

// Fit returns how the binary agrees with the dump.
func (x *Explainer) Fit() Fit { return x.fitted.fit }

// fitted is a binary beside a dump: whether it is the one that printed it, which of its
// functions a frame is of, and how far it was moved when it was loaded. The one without a
// binary, whose bin is nil, knows no function.
type fitted struct {
	f      *dump.File
	bin    *symbol.Binary
	funcs  map[string][]symbol.Func // of the frames, by their names in the dump
	slides map[int]slide            // by dump
	fit    Fit
}

// maxNames bounds the functions that are looked up.
const maxNames = 1 << 17

// fitTo holds a binary, which may be nil, against a dump.
func fitTo(f *dump.File, bin *symbol.Binary) fitted {
	b := fitted{f: f, bin: bin, slides: map[int]slide{}}
	if bin == nil {
		return b
	}
	names := map[string]bool{}
	for id := range f.Stacks.NumFrames() {
		if r := f.Stacks.Frame(frameID(id)); len(names) < maxNames && !strings.HasPrefix(r.Func, dump.CreatedBy) {
			names[r.Func] = true
		}
	}
	b.funcs, _ = bin.FunctionsNamed(names)
	b.judge()
	return b
}

// maxChecked bounds how many goroutines are held against the binary.
const maxChecked = 500

// wordSize is in bytes: 8 where nothing tells.
func (b *fitted) wordSize() int {
	if b.bin == nil {
		return 8
	}
	return b.bin.WordSize()
}

// judge holds the frames of the dump against the binary.
func (b *fitted) judge() {
	seen := map[stack.ID]bool{}
	for g := range b.f.Len() {
		if len(seen) >= maxChecked {
			return
		}
		if id := b.f.StackIDs[g]; seen[id] {
			continue
		} else {
			seen[id] = true
		}
		calls, err := b.f.Calls(g)
		if err != nil {
			continue
		}
		for _, c := range calls {
			if c.Created || c.Inlined || c.Elided != 0 || c.Offset == 0 || !c.HasArgs {
				continue
			}
			if len(b.funcs[c.Func]) == 0 && isForeign(&c) {
				continue
			}
			b.fit.Checked++
			_, why := b.check(&c)
			switch why {
			case whyMissing:
				b.fit.Missing++
			case whyBeyond:
				b.fit.Beyond++
			case whyLine:
				b.fit.OtherLine++
			}
			if why != "" && b.fit.Example == "" {
				b.fit.Example = c.Func + " at " + path.Base(slashed(c.File)) + ":" + strconv.Itoa(c.Line)
			}
		}
	}
}

// isForeign tells that a frame is of C code.
func isForeign(c *dump.Call) bool { return !strings.Contains(c.Func, ".") && c.Func != "panic" }

// Reasons why a frame does not fit.
const (
	whyMissing = "the binary does not have this function"
	whyBeyond  = "the function of the binary ends before this place"
	whyLine    = "the binary has another line at this place"
)

// check returns the functions of the binary that a frame can be of.
func (b *fitted) check(c *dump.Call) (fits []symbol.Func, why string) {
	all := b.funcs[c.Func]
	if len(all) == 0 {
		return nil, whyMissing
	}
	why = whyBeyond
	for _, f := range all {
		if c.Offset > f.End-f.Entry {
			continue
		}
		if !b.onLine(f, c) {
			why = whyLine
			continue
		}
		fits = append(fits, f)
	}
	if len(fits) > 0 {
		return fits, ""
	}
	return nil, why
}

// onLine tells whether the binary has the line of a frame where the frame is:
// before the return address, or, where a signal has come in, at the address.
func (b *fitted) onLine(f symbol.Func, c *dump.Call) bool {
	at := f.Entry + c.Offset
	for _, pc := range []uint64{max(at, 1) - 1, at} {
		if pc < f.Entry || pc >= f.End {
			continue
		}
		frames := b.bin.Frames(pc)
		if len(frames) == 0 {
			continue
		}
		outer := frames[len(frames)-1]
		if outer.Line == c.Line && path.Base(slashed(outer.File)) == path.Base(slashed(c.File)) {
			return true
		}
	}
	return false
}

func slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// candidates returns the functions that a call may be of: one, but for generic
// functions that were compiled for several types.
func (b *fitted) candidates(g int, c *dump.Call) ([]symbol.Func, string) {
	fits, why := b.check(c)
	if why != "" || len(fits) < 2 || c.PC == 0 {
		return fits, why
	}
	if s := b.slide(g); s.known {
		exact := slices.DeleteFunc(slices.Clone(fits), func(f symbol.Func) bool { return f.Entry+c.Offset != c.PC-s.by })
		if len(exact) > 0 {
			return exact, ""
		}
	}
	return fits, ""
}

// slide is how far from where it was linked a program was loaded.
type slide struct {
	by    uint64
	known bool
}

// slide returns it for the dump that a goroutine is in. Of a program that can be
// anywhere it is known when the dump has an address of code: with
// GOTRACEBACK=system, in the goroutine that has failed, or with a signal.
func (b *fitted) slide(g int) slide {
	if !b.bin.PIE {
		return slide{known: true}
	}
	d := b.f.DumpOf(g)
	s, ok := b.slides[d]
	if !ok {
		s = b.findSlide(d)
		b.slides[d] = s
	}
	return s
}

func (b *fitted) findSlide(d int) slide {
	if d >= len(b.f.Dumps) {
		return slide{}
	}
	from, to := b.f.Dumps[d].First, b.f.Dumps[d].End
	for g := from; g < min(to, from+maxChecked); g++ {
		calls, err := b.f.Calls(g)
		if err != nil {
			continue
		}
		for _, c := range calls {
			if c.PC == 0 || c.Offset == 0 || c.Inlined || c.Created {
				continue
			}
			if fits, _ := b.check(&c); len(fits) == 1 {
				if by := c.PC - (fits[0].Entry + c.Offset); by&0xfff == 0 {
					return slide{by, true}
				}
			}
		}
	}
	return b.slideOfSignal(d)
}

// slideOfSignal takes it from "[signal SIGSEGV: … pc=0x…]" and the frame that
// has caught the signal: the one that has called runtime.sigpanic.
func (b *fitted) slideOfSignal(d int) slide {
	line := b.f.Dumps[d].SignalLine
	_, text, ok := strings.Cut(line, " pc=")
	pc, err := strconv.ParseUint(strings.TrimRight(text, "] "), 0, 64)
	if !ok || err != nil || pc == 0 {
		return slide{}
	}
	calls, err := b.f.Calls(b.f.Dumps[d].First)
	if err != nil {
		return slide{}
	}
	for _, c := range calls {
		if c.Inlined || c.Created || c.Offset == 0 {
			continue
		}
		// The fault is at the address itself, and the first frame of the program's
		// own is the one that it was in; panic may stand before it.
		if c.Func == "panic" || strings.HasPrefix(c.Func, "runtime.") {
			continue
		}
		if fits, _ := b.check(&c); len(fits) == 1 {
			if by := pc - (fits[0].Entry + c.Offset); by&0xfff == 0 {
				return slide{by, true}
			}
		}
		return slide{}
	}
	return slide{}
}
