package program

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"loupe/format/symbol"
)

// Crash is how a program has ended, as the runtime remembers it.
type Crash struct {
	// Goroutine is the number of the one that has ended it, 0 where it was none.
	Goroutine uint64
	// Thread is the thread that it ran on, as the kernel numbers it.
	Thread int64
	// Message is what the runtime has printed, as far as it can be told:
	// "panic: …", "fatal error: …", and the signal. It may be "".
	Message string
	// Signal is what the runtime ended the program for, where it was neither a panic
	// nor an error of its own: a fault in C code, or a signal that was sent. Its
	// number is 0 where there is none, or it cannot be told.
	Signal Signal
}

// Crash tells how the program has ended; ok is false where the runtime was not
// about to end it, but was killed or copied while it ran.
func (st *Stopped) Crash() (c Crash, ok bool) {
	for _, m := range st.Machines {
		if !m.Dying {
			continue
		}
		c.Goroutine, c.Thread = m.Goroutine, m.Thread
		var text strings.Builder
		end := lastWords{st.s}
		o, found := st.s.g(m.cur)
		if found {
			for _, line := range end.panics(&o) {
				text.WriteString(line + "\n")
			}
		}
		if text.Len() == 0 {
			text.WriteString(end.fatal())
		}
		if found {
			text.WriteString(end.fault(&o))
		}
		if c.Message = text.String(); c.Message == "" {
			c.Signal, _ = st.taken(st.threads[m.Thread])
		}
		return c, true
	}
	return c, false
}

// lastWords is what the runtime has said, or was about to say, of the end of the
// program.
type lastWords struct{ s *snapshot }

// maxPanics is how many panics of one goroutine are told.
const maxPanics = 10

// panics are the lines of the panics of a goroutine, the first one first. When they
// are printed, the runtime has put texts into the place of errors.
func (w lastWords) panics(o *one) (lines []string) {
	s := w.s
	at := s.word(o, s.l.panics)
	for at != 0 && len(lines) < maxPanics {
		typ, ok1 := w.s.wordAt(at + uint64(s.l.panicArg))
		data, ok2 := w.s.wordAt(at + uint64(s.l.panicArg) + 8)
		next, ok3 := w.s.wordAt(at + uint64(s.l.panicLink))
		if !ok1 || !ok2 || !ok3 {
			break
		}
		lines = append([]string{"panic: " + w.value(typ, data)}, lines...)
		at = next
	}
	for i := 1; i < len(lines); i++ {
		lines[i] = "\t" + lines[i]
	}
	return lines
}

// maxMessage is how much of a text is told.
const maxMessage = 4 << 10

// text reads a string of the program. Further lines begin with a tab, as Go
// prints them.
func (w lastWords) text(at, n uint64) (string, bool) {
	buf := make([]byte, min(n, maxMessage))
	if w.s.mem.Read(at, buf) != nil {
		return "", false
	}
	return strings.ReplaceAll(string(buf), "\n", "\n\t"), true
}

// value is what a panic was called with.
func (w lastWords) value(typ, data uint64) string {
	if typ == 0 {
		return "nil"
	}
	unknown := fmt.Sprintf("(%#x) %#x", typ, data)
	info, ok := w.s.bin.TypeAt(typ - w.s.bias)
	if !ok {
		return unknown
	}
	unknown = fmt.Sprintf("(%s) %#x", info.Name, data)
	switch info.Kind {
	case symbol.String:
		at, ok1 := w.s.wordAt(data)
		n, ok2 := w.s.wordAt(data + 8)
		if !ok1 || !ok2 {
			return unknown
		}
		text, ok := w.text(at, n)
		if !ok {
			return unknown
		}
		if info.Name != "string" {
			return fmt.Sprintf("%s(%q)", info.Name, text)
		}
		return text
	case symbol.Bool, symbol.Int, symbol.Uint, symbol.Float:
		var b [8]byte
		if info.Size == 0 || info.Size > 8 || w.s.mem.Read(data, b[:info.Size]) != nil {
			return unknown
		}
		return fmt.Sprintf("%s(%s)", info.Name, number(info, binary.LittleEndian.Uint64(b[:])))
	}
	return unknown
}

func number(info symbol.TypeInfo, bits uint64) string {
	shift := 64 - 8*info.Size
	switch {
	case info.Kind == symbol.Bool:
		return fmt.Sprint(bits&1 == 1)
	case info.Kind == symbol.Int:
		return fmt.Sprint(int64(bits<<shift) >> shift)
	case info.Kind == symbol.Uint:
		return fmt.Sprint(bits)
	case info.Size == 4:
		return fmt.Sprintf("%+e", math.Float32frombits(uint32(bits)))
	}
	return fmt.Sprintf("%+e", math.Float64frombits(bits))
}

// fatal finds "fatal error: …" in what the runtime has printed last: it keeps the
// end of it for cores.
func (w lastWords) fatal() string {
	l := w.s.l
	if l.printed == 0 || l.printedAt == 0 || l.printedLen <= 0 || l.printedLen > 1<<16 {
		return ""
	}
	ring := make([]byte, l.printedLen)
	at, err := w.s.u64(l.printedAt)
	if err != nil || at >= uint64(len(ring)) || w.s.mem.Read(l.printed+w.s.bias, ring) != nil {
		return ""
	}
	text := strings.TrimLeft(string(ring[at:])+string(ring[:at]), "\x00")
	i := strings.LastIndex(text, "fatal error: ")
	if i < 0 {
		return ""
	}
	return strings.TrimRight(text[i:], "\n\x00") + "\n"
}

// The signals that the runtime turns into panics, in its words.
var signalNames = map[uint32]string{
	4: "SIGILL: illegal instruction", 5: "SIGTRAP: trace trap", 6: "SIGABRT: abort",
	7: "SIGBUS: bus error", 8: "SIGFPE: floating-point exception", 11: "SIGSEGV: segmentation violation",
}

// fault is the line of the signal that has made a goroutine panic.
func (w lastWords) fault(o *one) string {
	s := w.s
	sig := binary.LittleEndian.Uint32(o.g[s.l.sig:])
	if sig == 0 {
		return ""
	}
	name := signalNames[sig]
	if name == "" {
		name = fmt.Sprint(sig)
	}
	return fmt.Sprintf("[signal %s code=%#x addr=%#x pc=%#x]\n", name, s.word(o, s.l.sigCode), s.word(o, s.l.sigAddr), s.word(o, s.l.sigPC))
}
