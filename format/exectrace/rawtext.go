package exectrace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// frameArgs are the numbers of one frame of a stack.
var frameArgs = [...]string{"pc", "func", "file", "line"}

// hasData says whether a length and that many bytes follow the arguments.
func hasData(op byte) bool { return op == evString || op == evExperimentalBatch }

// rawEvent is one event as it stands in the file, with nothing resolved. The
// headers of batches and the tables consist of such events too.
type rawEvent struct {
	op   byte
	args []uint64 // of a stack: with four for each frame
	data []byte
}

// read reads the event at i of b. It returns the position behind it, which is
// bad when the event is cut, or says what is wrong with it.
func (e *rawEvent) read(b []byte, i int, v Version) (next int, wrong string) {
	e.op, e.data = b[i], nil
	s := &specs[e.op]
	if s.name == "" || s.since > v {
		return i, fmt.Sprintf("%d is not an event type in format %v", e.op, v)
	}
	n := len(s.args)
	e.args = e.args[:0]
	i++
	for k := 0; k < n && i != bad; k++ {
		var arg uint64
		arg, i = uvarint(b, i)
		e.args = append(e.args, arg)
		if e.op == evStack && k == 1 && i != bad {
			if arg > maxFrames {
				return i, fmt.Sprintf("a stack of %d frames, and %d is the most there can be", arg, maxFrames)
			}
			n += int(arg) * len(frameArgs)
		}
	}
	if hasData(e.op) {
		var size uint64
		if size, i = uvarint(b, i); i == bad || size > uint64(len(b)-i) {
			return bad, ""
		}
		e.data = b[i : i+int(size)]
		i += int(size)
	}
	return i, ""
}

// appendText appends the event as one line, and more for data and frames.
func (e *rawEvent) appendText(b []byte) []byte {
	s := &specs[e.op]
	b = append(b, s.name...)
	for k, arg := range e.args {
		if k < len(s.args) {
			b = append(append(b, ' '), s.args[k]...)
		} else if k -= len(s.args); k%len(frameArgs) == 0 {
			b = append(append(b, "\n\t"...), frameArgs[0]...)
		} else {
			b = append(append(b, ' '), frameArgs[k%len(frameArgs)]...)
		}
		b = strconv.AppendUint(append(b, '='), arg, 10)
	}
	if hasData(e.op) {
		b = strconv.AppendQuote(append(b, "\n\tdata="...), string(e.data))
	}
	return append(b, '\n')
}

// WriteText writes every byte of a trace as text that [ParseText] reads, the
// text of the standard library (go tool trace -d=wire): one line for each
// event in the order of the file, with names for types and arguments. It ends
// with an error at the first place that cannot be decoded. Formats before 1.22
// have no such text.
func WriteText(w io.Writer, t *Trace) error {
	if t.old != nil {
		return fmt.Errorf("cannot write a trace of format %v as text: only those since 1.22", t.Version)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "Trace Go%v\n", t.Version)
	var e rawEvent
	var line, buf []byte
	for off := int64(headerSize); off < t.data.size; {
		// A batch and its header are the largest piece that may not be cut.
		b, err := t.data.read(off, maxBatchSize+batchHeader, buf)
		if err != nil {
			return err
		}
		if t.data.at != nil {
			buf = b
		}
		last := off+int64(len(b)) >= t.data.size
		i := 0
		for i < len(b) && (last || i < len(b)/2 || i == 0) {
			next, wrong := e.read(b, i, t.Version)
			if wrong == "" && next == bad {
				wrong = "the file ends inside of an event"
			}
			if wrong != "" {
				out.Flush()
				return &Problem{Offset: off + int64(i), Text: wrong}
			}
			i = next
			line = e.appendText(line[:0])
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		if i == 0 {
			break // the file has become shorter
		}
		off += int64(i)
	}
	return out.Flush()
}
