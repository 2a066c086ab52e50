package program

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// Go prints so many calls of a deep stack, from both ends; those that it hides count.
const innerCalls, outerCalls = 50, 50

// WriteText writes the goroutines as the runtime prints them with SIGQUIT: with
// the words of their arguments, and question marks behind those that are not
// alive. Package dump reads it. The goroutines of the list come first.
//
// Note: a core could fill the columns of a dump directly, as a running process
// does. As text, everything that is done with dumps (groups, filters, words with
// names and values, flame graphs, comparisons) holds for cores as it is; writing
// and reading it again takes a microsecond per frame.
func (st *Stopped) WriteText(out io.Writer, first ...uint64) error {
	w := &writer{st: st, out: bufio.NewWriterSize(out, 64<<10)}
	printed := map[uint64]bool{}
	for _, id := range first {
		err := st.s.each(st.all, func(o *one) {
			if st.s.word(o, st.s.l.goid) == id && !printed[id] {
				printed[id] = true
				w.goroutine(o)
			}
		})
		if err != nil {
			return err
		}
	}
	err := st.s.each(st.all, func(o *one) {
		if !printed[st.s.word(o, st.s.l.goid)] {
			w.goroutine(o)
		}
	})
	if err != nil {
		return err
	}
	return w.out.Flush()
}

// writer prints goroutines.
type writer struct {
	st  *Stopped
	out *bufio.Writer
	buf []byte
}

func (w *writer) goroutine(o *one) {
	st := w.st
	s := st.s
	b := append(w.buf[:0], "goroutine "...)
	b = strconv.AppendUint(b, s.word(o, s.l.goid), 10)
	b = appendHex(append(b, " gp="...), o.addr)
	if m, ok := st.machines.at(s.word(o, s.l.m)); ok {
		b = strconv.AppendInt(append(b, " m="...), m.ID, 10)
		b = appendHex(append(b, " mp="...), m.Addr)
	} else {
		b = append(b, " m=nil"...)
	}
	state, wait := s.state(o, st.reasons)
	b = append(append(b, " ["...), state.Name...)
	if state.Leaked {
		b = append(b, " (leaked)"...)
	}
	if wait > 0 {
		b = append(strconv.AppendInt(append(b, ", "...), int64(wait), 10), " minutes"...)
	}
	if state.Locked {
		b = append(b, ", locked to thread"...)
	}
	b = append(b, "]:\n"...)
	w.out.Write(b)
	w.buf = b
	if from, ok := st.beginOf(o); ok {
		w.stack(o, from)
	} else {
		w.out.WriteString("\tgoroutine running on other thread; stack unavailable\n")
	}
	if text, ok := w.createdBy(o); ok {
		w.out.WriteString(text)
	}
	w.out.WriteByte('\n')
}

// stack prints the calls of a stack. Those in the middle of a deep one are counted.
func (w *writer) stack(o *one, from begin) {
	win := &window{mem: w.st.s.mem, hi: w.st.s.word(o, w.st.s.l.stackHi)}
	type entry struct {
		frame physical
		call  int
	}
	var last [outerCalls]entry
	n := 0
	w.st.frames.unwind(o, from, func(f *physical) bool {
		for i := range f.place.calls {
			if n < innerCalls {
				w.call(win, f, i)
			} else {
				last[n%outerCalls] = entry{*f, i}
			}
			n++
		}
		return true
	})
	first := max(innerCalls, n-outerCalls)
	if elided := first - innerCalls; elided > 0 {
		w.out.WriteString("..." + strconv.Itoa(elided) + " frames elided...\n")
	}
	for i := first; i < n; i++ {
		x := &last[i%outerCalls]
		w.call(win, &x.frame, x.call)
	}
}

// call prints call i of a frame: the inlined ones have no arguments.
func (w *writer) call(win *window, f *physical, i int) {
	c := &f.place.calls[i]
	if c.hidden {
		return
	}
	b := append(w.buf[:0], c.Func...)
	if c.Inlined {
		b = append(b, "(...)\n\t"...)
	} else {
		b = append(b, '(')
		b = w.arguments(b, win, f)
		b = append(b, ")\n\t"...)
	}
	b = strconv.AppendInt(append(append(b, c.File...), ':'), int64(c.Line), 10)
	if !c.Inlined {
		if off := f.pc - w.st.s.bias - f.place.entry; off > 0 {
			b = appendHex(append(b, " +"...), off)
		}
		b = appendHex(append(b, " fp="...), f.fp)
		b = appendHex(append(b, " sp="...), f.sp)
		b = appendHex(append(b, " pc="...), f.pc)
	}
	b = append(b, '\n')
	w.out.Write(b)
	w.buf = b
}

func appendHex(b []byte, n uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), n, 16)
}

// maxArguments is how far from its begin arguments are printed (the place of a word
// has one byte), and a word more.
const maxArguments = 256 + 8

// arguments prints the words of a function: printArgs in runtime/traceback.go.
func (w *writer) arguments(b []byte, win *window, f *physical) []byte {
	if len(f.place.shape) == 0 {
		return b
	}
	at := f.fp
	if w.st.s.arm() {
		at += 8 // above the link register of the caller
	}
	size := min(uint64(maxArguments), win.hi-min(win.hi, at))
	words, ok := win.bytes(at, int(size))
	if !ok {
		words = nil
	}
	n := 0
	return w.list(b, words, f.place.shape, &f.place.live, &n)
}

// list prints a list of words and of lists; n counts the words that may be dead.
func (w *writer) list(b, words []byte, shape []symbol.ArgShape, live *symbol.ArgLiveness, n *int) []byte {
	for i, a := range shape {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch a.Kind {
		case symbol.ArgMore:
			b = append(b, "..."...)
		case symbol.ArgFar:
			b = append(b, '_')
		case symbol.ArgAggregate:
			b = append(w.list(append(b, '{'), words, a.Fields, live, n), '}')
		case symbol.ArgWord:
			alive := true
			if a.Offset >= live.First() {
				alive = live.Alive(*n)
				*n++
			}
			if int(a.Offset)+int(a.Size) > len(words) || a.Size == 0 || a.Size > 8 {
				b = append(b, '_')
				continue
			}
			var word [8]byte
			copy(word[:], words[a.Offset:][:a.Size])
			b = appendHex(b, binary.LittleEndian.Uint64(word[:]))
			if !alive {
				b = append(b, '?')
			}
		}
	}
	return b
}

// createdBy is the go statement of a goroutine, as a dump prints it.
func (w *writer) createdBy(o *one) (text string, ok bool) {
	s := w.st.s
	pc := s.word(o, s.l.goPC)
	f, ok := s.bin.FuncAt(pc - s.bias)
	if pc == 0 || !ok || !shown(f.Name) {
		return "", false
	}
	text = dump.CreatedBy + symbol.PrintedName(f.Name)
	if s.l.parent >= 0 {
		if id := s.word(o, s.l.parent); id != 0 {
			text += fmt.Sprintf(" in goroutine %d", id)
		}
	}
	file, line := s.bin.Line(pc - 1 - s.bias)
	return fmt.Sprintf("%s\n\t%s:%d +%#x\n", text, file, line, pc-s.bias-f.Entry), true
}
