// Package exectrace reads Go execution traces: the files that runtime/trace,
// net/http/pprof and go test -trace write.
//
// [Open] walks the headers of a trace's batches, which costs milliseconds for
// a hundred megabytes, and a [Reader] gives its events in the order in which
// they happened, one at a time, without ever holding more than it needs: the
// bytes themselves are the event store. The order, the times and the meaning
// of every event are those of the standard library's internal/trace, event for
// event; what differs is listed in docs/formats/exectrace.md.
//
// A damaged trace is read as far as it goes: what could not be read is told by
// [Reader.Problems], and [Options.Strict] turns the first problem into an
// error.
//
// The package takes bytes and gives events. It adds up nothing, see package
// sched for that.
package exectrace

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// GoID identifies a goroutine for the life of the program.
type GoID int64

// ProcID identifies a P, the right to run Go code.
type ProcID int32

// ThreadID identifies an M by its operating system thread. The system may use
// an id again after the thread has gone.
type ThreadID int64

// TaskID identifies a user task of runtime/trace.
type TaskID uint64

// The values for "none". Task 0 is the background task, which all regions
// outside of any other task belong to.
const (
	NoGoroutine    GoID     = -1
	NoProc         ProcID   = -1
	NoThread       ThreadID = -1
	NoTask         TaskID   = 1<<64 - 1
	BackgroundTask TaskID   = 0
)

// Version is the number in the first line of a trace, the minor version of the
// Go release that has introduced the format: 22 for the traces of Go 1.22.
type Version int

// String returns the version as the header spells it: "1.22".
func (v Version) String() string { return fmt.Sprintf("1.%d", int(v)) }

const headerSize = 16

// readVersion reads the header: "go 1.NN trace" and zeros up to 16 bytes.
func readVersion(header []byte) (Version, error) {
	if len(header) == 0 {
		return 0, fmt.Errorf("not a trace: the file is empty")
	}
	var v Version
	if len(header) < headerSize {
		return 0, fmt.Errorf("not a trace: %d bytes, and the header alone has %d", len(header), headerSize)
	}
	n, err := fmt.Sscanf(string(header[:headerSize]), "go 1.%d trace\x00", &v)
	if err != nil || n != 1 {
		return 0, fmt.Errorf("not a trace: it begins with %q instead of \"go 1.NN trace\"", header[:headerSize])
	}
	return v, nil
}

// Options say how to read a trace. The zero value reads whatever can be read.
type Options struct {
	// Strict makes the first problem an error, as the standard library's
	// reader does: what comes behind it is not read.
	Strict bool
	// Live says that the file is still being written. Then an incomplete
	// generation at its end is no problem: it is left for later, see
	// [Trace.Extend].
	Live bool
	// Symbolize returns the place in the program of an address. The traces of
	// Go 1.5 and 1.6 have addresses alone; without it they stand for names.
	Symbolize func(pc uint64) stack.Frame
}

// Trace is an opened trace: where its batches lie, and how to read them. Any
// number of readers may read it at the same time. It has more methods than most
// because it is both the file, which may grow, and what is known of it.
type Trace struct {
	// Version is the format.
	Version Version

	data  source
	opts  Options
	index indexer
	old   *oldTrace // formats before 1.22

	readers, read atomic.Int64
}

// Reads returns how many readers there have been, and how many generations they
// have read together: what everything that was asked of the trace has cost.
func (t *Trace) Reads() (readers, generations int64) { return t.readers.Load(), t.read.Load() }

// Open reads the header and the index of a trace that lies in memory, best as
// a mapped file. The bytes must stay as they are while the trace is in use. A
// trace that is damaged somewhere opens nevertheless; an error means that the
// bytes are no trace at all, or with [Options.Strict] the first problem.
//
// A trace of a format before 1.22 is read through once here, to find its
// batches and its order (docs/formats/exectrace-old.md).
func Open(data []byte, opts Options) (*Trace, error) {
	return open(source{mem: data, size: int64(len(data))}, opts)
}

// OpenReaderAt is [Open] for a file that should not be mapped, for example
// because somebody still writes to it. Readers hold one generation at a time.
func OpenReaderAt(r io.ReaderAt, size int64, opts Options) (*Trace, error) {
	return open(source{at: r, size: size}, opts)
}

func open(src source, opts Options) (*Trace, error) {
	head, err := src.read(0, min(headerSize, src.size), nil)
	if err != nil {
		return nil, err
	}
	t := &Trace{data: src, opts: opts}
	if t.Version, err = readVersion(head); err != nil {
		return nil, err
	}
	t.index = indexer{data: &t.data, version: t.Version, live: opts.Live, problems: problems{strict: opts.Strict}, off: headerSize}
	switch t.Version {
	case 22, 23, 25, 26:
		err = t.index.run()
	case 5, 7, 8, 9, 10, 11, 19, 21:
		err = t.openOld()
	default:
		return nil, fmt.Errorf("cannot read a trace of format %v: known are 1.5 to 1.26; is there a newer loupe?", t.Version)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Extend tells the trace that its file has grown to this size and indexes what
// is new. A reader of a live trace whose Next has returned false goes on from
// there. It must not run beside any other use of t.
func (t *Trace) Extend(size int64) error {
	if t.data.mem != nil {
		return fmt.Errorf("cannot extend a trace that was opened in memory")
	}
	t.data.size = size
	if t.old != nil {
		return t.openOld()
	}
	return t.index.run()
}

// Finish is the last [Trace.Extend]: the file has this size and will not grow
// any more. Now what is incomplete at its end is a problem, and readers go on
// to the end as if the trace had been opened then.
func (t *Trace) Finish(size int64) error {
	t.opts.Live, t.index.live = false, false
	return t.Extend(size)
}

// Size returns the length of the trace in bytes.
func (t *Trace) Size() int64 { return t.data.size }

// ReadAt reads bytes of the file, as [io.ReaderAt] says.
func (t *Trace) ReadAt(p []byte, off int64) (int, error) {
	data, err := t.data.read(off, int64(len(p)), p[:0:len(p)])
	n := copy(p, data)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Problems returns what the index found wrong with the trace. What only
// reading finds is told by [Reader.Problems], which includes these.
func (t *Trace) Problems() []*Problem { return t.index.problems.list }

// GenerationInfo describes one generation: the stretch of about a second that
// the runtime writes at a time, and that can be read without the others.
type GenerationInfo struct {
	Number uint64 // as in the file, from 1 in a fresh trace
	Bytes  int64
	// Batches counts the batches of events, Threads the Ms that wrote them,
	// in formats before 1.22 the Ps.
	Batches, Threads int
	// Complete says that the end of the generation was seen.
	Complete bool
}

// Generations returns the generations of the trace. Formats before 1.22 have
// one.
func (t *Trace) Generations() []GenerationInfo {
	out := make([]GenerationInfo, len(t.index.gens))
	for i, g := range t.index.gens {
		out[i] = GenerationInfo{Number: g.number, Bytes: g.bytes, Batches: g.batches, Threads: len(g.threads), Complete: g.complete}
	}
	return out
}

// ClockSnapshot ties the trace's clock to others at one instant, since Go 1.25.
type ClockSnapshot struct {
	Trace timeline.Time // the trace's own clock
	Mono  uint64        // the monotonic clock, ns
	Wall  time.Time
}

// source is where the bytes come from: memory, or a file read in pieces.
type source struct {
	mem  []byte
	at   io.ReaderAt
	size int64
}

// read returns n bytes from off on. Those of a file are put into buf when it
// is large enough. A request beyond the end gives what there is.
func (s *source) read(off, n int64, buf []byte) ([]byte, error) {
	n = max(0, min(n, s.size-off))
	if s.at == nil {
		return s.mem[off : off+n : off+n], nil
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	got, err := s.at.ReadAt(buf[:n], off)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("cannot read the trace at byte %d: %w", off, err)
	}
	return buf[:got], nil
}

// share returns how many percent of the bytes n are.
func (s *source) share(n int64) float64 { return 100 * float64(n) / float64(s.size) }

// load returns the bytes of a generation, from its first batch on. buf is used
// for the bytes of a file.
func (s *source) load(g *generation, buf []byte) ([]byte, error) {
	return s.read(g.start, g.bytes, buf)
}

// rest says how much of the file is not read because of a problem at off.
func (s *source) rest(off int64) string {
	n := s.size - off
	return fmt.Sprintf("; the last %d bytes (%.1f%% of the file) are not read", n, s.share(n))
}
