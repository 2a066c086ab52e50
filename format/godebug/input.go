package godebug

import "io"

// input is the part of a log that is in memory, and where the rest comes from.
type input struct {
	src  io.Reader // nil when buf is all there is
	err  error     // that ended the log, if any
	eof  bool
	buf  []byte
	pos  int   // of the next line in buf
	base int64 // offset in the log of buf[0]
}

// rest is what is in memory and has not been consumed.
func (in *input) rest() []byte { return in.buf[in.pos:] }

// fill reads more of the source behind what is left in buf.
func (in *input) fill() {
	if in.pos > 0 {
		in.base += int64(in.pos)
		n := copy(in.buf[:cap(in.buf)], in.buf[in.pos:])
		in.buf, in.pos = in.buf[:n], 0
	}
	for range 100 {
		n, err := in.src.Read(in.buf[len(in.buf):cap(in.buf)])
		in.buf = in.buf[:len(in.buf)+n]
		if err != nil {
			in.eof = true
			if err != io.EOF {
				in.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	in.eof, in.err = true, io.ErrNoProgress
}
