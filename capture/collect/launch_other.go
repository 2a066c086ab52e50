//go:build !linux

package collect

import (
	"os"
	"time"
)

// terminate is the second signal of Stop.
var terminate os.Signal = signalTerm

// stderrReader reads the program's standard error through a pipe: sockets
// that keep packets apart exist on Linux alone.
type stderrReader struct {
	child, ours *os.File
	packets     bool // never here
}

func newStderrReader(bool) (*stderrReader, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stderrReader{child: w, ours: r}, nil
}

func (r *stderrReader) close() {
	r.child.Close()
	r.ours.Close()
}

// drain makes readAll stop soon.
func (r *stderrReader) drain() {
	if r.ours.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		time.AfterFunc(drainTime, func() { r.ours.Close() })
	}
}

func (r *stderrReader) readAll(sink stderrSink) {
	defer r.ours.Close()
	readStream(r.ours, sink)
	if left := leftIn(r.ours); len(left) > 0 {
		sink.packet(left, time.Now(), 0)
	}
}
